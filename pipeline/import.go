package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/accrete-ml/accrete/pipeline/internal/transfer"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/backup"
)

// Import writes an exported history to the model log, which must be empty. It reads the
// file twice, through open: the first time to verify all of it, and only then to write.
// GENESIS states up to where the history goes, and until the IMPORTED at the end counts,
// no learner accepts the log.
func Import(ctx context.Context, c Config, open func() (io.ReadCloser, error)) (Copy, error) {
	want, err := transfer.Write(open, c.Model, new(transfer.Rehearsal), c.Report)
	if err != nil {
		return Copy{}, err
	}
	c.Keep = math.MaxInt
	if err := c.Client.CreateDurable(ctx, LogTopic(c.Model), 1, logConfig); err != nil {
		return Copy{}, fmt.Errorf("create topic %q: %w", LogTopic(c.Model), err)
	}
	c.tolerant = true
	j, err := newJournal(ctx, c)
	if err != nil {
		return Copy{}, err
	}
	if err := j.empty(ctx, c); err != nil {
		return Copy{}, err
	}
	got, err := transfer.Write(open, c.Model, &imports{ctx, j, want.Header}, c.Report)
	if err == nil && got.SHA256 != want.SHA256 {
		err = fmt.Errorf("%w: the export changed while it was read", snapshot.ErrMismatch)
	}
	if err == nil {
		err = j.append(ctx, &modellog.Imported{Owner: j.owner, Seq: want.Header.Seq, Chain: want.Header.Chain})
	}
	if err == nil && j.log.Fold.Genesis().Import != 0 {
		err = fmt.Errorf("%w: the IMPORTED record is void", snapshot.ErrMismatch)
	}
	if err != nil {
		return Copy{}, fmt.Errorf("the import of %q is incomplete, and no learner accepts it: delete the topic and repeat the import: %w", j.topic, err)
	}
	return Copy(got), nil
}

// empty returns an error unless the log is, and has always been, empty.
func (j *journal) empty(ctx context.Context, c Config) error {
	if c.VerifyKey != nil && c.SignKey == nil {
		return fmt.Errorf("%w: unsigned records would be void: set snapshot.sign_key_file to the private key of snapshot.verify_key_file", modellog.ErrSignature)
	}
	first, end, err := j.log.Bounds(ctx)
	if err != nil || end == 0 {
		return err
	}
	j.log.Rewind(first)
	if err := j.readOn(ctx, nil); err != nil {
		return err
	}
	if to := j.log.Fold.Genesis().Import; to > 0 {
		return fmt.Errorf("%w: an earlier import to %q, up to seq %d, was interrupted at seq %d, or is still running; delete the topic and repeat the import", ErrCopy, j.topic, to, j.log.Fold.Seq())
	}
	return fmt.Errorf("%w: %q has records, up to seq %d, but an import needs an empty log: delete the topic to replace its history", ErrCopy, j.topic, j.log.Fold.Seq())
}

// imports is the model log as a destination.
type imports struct {
	ctx     context.Context
	journal *journal
	header  backup.Header
}

func (d *imports) Fold() *modellog.Fold  { return d.journal.log.Fold }
func (d *imports) Owner() modellog.Owner { return d.journal.owner }

func (d *imports) Claim(v modellog.Versions, first func(modellog.Owner) []modellog.Record) error {
	j := d.journal
	if first == nil {
		return j.claim(d.ctx, v, nil)
	}
	var genesis *modellog.Genesis
	err := j.claim(d.ctx, v, func(o modellog.Owner) []modellog.Record {
		rs := first(o)
		genesis = rs[0].(*modellog.Genesis)
		genesis.TopicID, genesis.Writer = j.log.ID(), j.writer
		return rs
	})
	f := j.log.Fold
	if err == nil && (f.Genesis().Import != d.header.Seq || f.Seq() != d.header.Begin.Seq || f.Claim().Epoch != 1) {
		err = errors.Join(ErrCopy, fmt.Errorf("another process has written to the log %q meanwhile", j.topic))
	}
	return err
}

func (d *imports) Append(times []int64, rs []modellog.Record) error {
	j := d.journal
	if err := j.lock(d.ctx); err != nil {
		return err
	}
	defer j.unlock()
	if j.lost == nil {
		j.lost = j.writeAt(d.ctx, times, rs...)
	}
	if j.lost == nil {
		j.lost = j.fenced()
	}
	return j.lost
}
