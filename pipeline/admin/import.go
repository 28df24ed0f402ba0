package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/internal/transfer"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/backup"
)

// Import writes an exported history to the model log, which must be empty. It opens and reads the
// file twice: first to verify all of it, and then to write it. The GENESIS states the seq at which
// the history ends, and no learner accepts the log until it has the IMPORTED that completes the
// import.
func Import(ctx context.Context, c model.Config, open func() (io.ReadCloser, error)) (Copy, error) {
	c = c.Quiet()
	want, err := transfer.Write(open, c.Model, new(transfer.Rehearsal), c.Report)
	if err != nil {
		return Copy{}, err
	}
	c.Keep = math.MaxInt
	if err := journal.CreateLog(ctx, c); err != nil {
		return Copy{}, err
	}
	j, err := journal.Tolerant(ctx, c)
	if err != nil {
		return Copy{}, err
	}
	if err := empty(ctx, j, c); err != nil {
		return Copy{}, err
	}
	got, err := transfer.Write(open, c.Model, &imports{ctx, j, want.Header, c.Writer}, c.Report)
	if err == nil && got.SHA256 != want.SHA256 {
		err = fmt.Errorf("%w: the export changed while it was read", snapshot.ErrMismatch)
	}
	if err == nil {
		err = j.Append(ctx, &modellog.Imported{Owner: j.Owner, Seq: want.Header.Seq, Chain: want.Header.Chain})
	}
	if err == nil && j.Log.Fold.Genesis().Import != 0 {
		err = fmt.Errorf("%w: the IMPORTED record is void", snapshot.ErrMismatch)
	}
	if err != nil {
		return Copy{}, fmt.Errorf("the import of %q is incomplete, and no learner accepts it: delete the topic and repeat the import: %w", j.Topic, err)
	}
	return got, nil
}

// empty returns an error unless the log is, and has always been, empty.
func empty(ctx context.Context, j *journal.Journal, c model.Config) error {
	if c.VerifyKey != nil && c.SignKey == nil {
		return fmt.Errorf("%w: unsigned records would be void: set snapshot.sign_key_file to the private key of snapshot.verify_key_file", modellog.ErrSignature)
	}
	first, end, err := j.Log.Bounds(ctx)
	if err != nil || end == 0 {
		return err
	}
	j.Log.Rewind(first)
	if err := j.ReadOn(ctx, nil); err != nil {
		return err
	}
	if to := j.Log.Fold.Genesis().Import; to > 0 {
		return fmt.Errorf("%w: an earlier import to %q, up to seq %d, was interrupted at seq %d, or is still running; delete the topic and repeat the import", ErrCopy, j.Topic, to, j.Log.Fold.Seq())
	}
	return fmt.Errorf("%w: %q has records, up to seq %d, but an import needs an empty log: delete the topic to replace its history", ErrCopy, j.Topic, j.Log.Fold.Seq())
}

// imports is the model log as the Destination of an import.
type imports struct {
	ctx     context.Context
	journal *journal.Journal
	header  backup.Header
	writer  string
}

func (d *imports) Fold() *modellog.Fold  { return d.journal.Log.Fold }
func (d *imports) Owner() modellog.Owner { return d.journal.Owner }

func (d *imports) Claim(v modellog.Versions, first func(modellog.Owner) []modellog.Record) error {
	j := d.journal
	if first == nil {
		return j.Claim(d.ctx, v, nil)
	}
	var genesis *modellog.Genesis
	err := j.Claim(d.ctx, v, func(o modellog.Owner) []modellog.Record {
		rs := first(o)
		genesis = rs[0].(*modellog.Genesis)
		genesis.TopicID, genesis.Writer = j.Log.ID(), d.writer
		return rs
	})
	f := j.Log.Fold
	if err == nil && (f.Genesis().Import != d.header.Seq || f.Seq() != d.header.Begin.Seq || f.Claim().Epoch != 1) {
		err = errors.Join(ErrCopy, fmt.Errorf("another process has written to the log %q meanwhile", j.Topic))
	}
	return err
}

func (d *imports) Append(times []int64, rs []modellog.Record) error {
	return d.journal.AppendAt(d.ctx, times, rs...)
}
