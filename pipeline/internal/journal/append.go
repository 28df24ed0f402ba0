package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Append writes records that are valid only under the claim of this process, and
// returns once the log shows that they are.
func (j *Journal) Append(ctx context.Context, rs ...modellog.Record) error {
	if err := j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	return j.appendLocked(ctx, nil, rs...)
}

// AppendAt is Append with the times of the records in Unix milliseconds.
func (j *Journal) AppendAt(ctx context.Context, times []int64, rs ...modellog.Record) error {
	if err := j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	return j.appendLocked(ctx, times, rs...)
}

// appendLocked is AppendAt while the journal is locked. If times is nil, they are the current time.
func (j *Journal) appendLocked(ctx context.Context, times []int64, rs ...modellog.Record) error {
	if j.lost == nil {
		j.lost = j.writeAt(ctx, times, rs...)
	}
	if j.lost == nil {
		j.lost = j.fenced()
	}
	return j.lost
}

// Write appends rs as one batch and folds the log up to and including it. If the
// acknowledgement is lost or unexpected, it reads the log to see whether the batch is
// there, and writes it again if not. A delayed copy of the batch is void, because its
// decisions are in the log already.
func (j *Journal) Write(ctx context.Context, rs ...modellog.Record) error {
	return j.writeAt(ctx, nil, rs...)
}

// writeAt is Write with the times of the records in Unix milliseconds. If times is nil, it is the
// current time.
func (j *Journal) writeAt(ctx context.Context, times []int64, rs ...modellog.Record) error {
	batch := make([]ingest.Record, len(rs))
	now := time.Now().UnixMilli()
	for i, r := range rs {
		if times != nil {
			now = times[i]
		}
		if j.sign != nil {
			if err := modellog.Sign(r, j.sign); err != nil {
				return err
			}
		}
		key, value, err := modellog.Encode(r)
		if err != nil {
			return err
		}
		batch[i] = ingest.Record{Time: now, Key: key, Value: value}
	}
	for wait := new(ingest.Backoff); ; {
		base, err := j.producer.Append(ctx, j.Topic, 0, batch)
		if planted.Fault("ack") && errors.Is(err, ingest.ErrAmbiguous) || planted.Fault("offset") && err == nil {
			base, err = j.Log.Next(), nil
		}
		if err == nil && base == j.Log.Next() {
			j.Log.Own(rs, batch)
			return nil
		}
		if err == nil && base < j.Log.Next() {
			return j.Log.LostTail(base)
		}
		j.Log.Recheck()
		if err != nil {
			if errors.Is(err, ingest.ErrTooLarge) {
				return fmt.Errorf("%w: set it to at least %d with kafka-configs, or reduce snapshot.chunk", err, ingest.DefaultMaxMessageBytes)
			}
			if ctx.Err() != nil || !ingest.Temporary(err) && !errors.Is(err, ingest.ErrAmbiguous) {
				return err
			}
			j.report(event.Retrying{Err: err})
		}
		found := 0
		if err := j.ReadOn(ctx, func(r *ingest.Record, _ modellog.Verdict) {
			if found < len(batch) && (bytes.Equal(r.Value, batch[found].Value) || planted.Fault("found")) {
				found++
			}
		}); err != nil {
			return err
		}
		if found == len(batch) {
			return nil
		}
		if j.Owner != (modellog.Owner{}) && j.Log.Fold.Claim().Owner != j.Owner {
			return nil // appendLocked detects it
		}
		if err := wait.Pause(ctx, err); err != nil {
			return err
		}
	}
}

// AppendBatch appends d to the model log, together with a RELEASED if one is due. If pause is not
// nil, it also appends the PAUSE that pause makes, and returns it.
func (j *Journal) AppendBatch(ctx context.Context, d *history.Decided, released int64, pause func(seq int64, o modellog.Owner) *modellog.Pause) (*modellog.Batch, *modellog.Pause, error) {
	if err := j.lock(ctx); err != nil {
		return nil, nil, err
	}
	defer j.unlock()
	b := &modellog.Batch{Owner: j.Owner, Seq: j.Log.Fold.Seq() + 1, Ranges: d.Ranges, Counts: d.Counts, Columns: d.Journaled(), Schemas: d.Schemas, Tables: d.JournaledTables(), Renames: d.Renames, Output: d.Output()}
	b.Chain = modellog.NextChain(j.Log.Fold.Chain(), b)
	if planted.Fault("released") {
		released = j.Log.Fold.Seq()
	}
	rs := append(j.releasedUpTo(released), b)
	var p *modellog.Pause
	if pause != nil {
		p = pause(b.Seq, j.Owner)
		rs = append(rs, p)
	}
	err := j.appendLocked(ctx, nil, rs...)
	if errors.Is(err, snapshot.ErrLimit) { // it has very many ranges, each with a record at least
		err = fmt.Errorf("%w: decrease input.batch.size, so that a BATCH reads fewer partitions", err)
	}
	return b, p, err
}

// AppendGap appends a GAP for lost input to the model log.
func (j *Journal) AppendGap(ctx context.Context, lost *input.Gap) (*modellog.Gap, error) {
	if err := j.lock(ctx); err != nil {
		return nil, err
	}
	defer j.unlock()
	g := &modellog.Gap{
		Owner: j.Owner, Seq: j.Log.Fold.Seq() + 1,
		Topic: lost.In.Topic, TopicID: lost.In.ID, Partition: lost.In.Partition, From: lost.From, To: lost.To,
	}
	g.Chain = modellog.NextChain(j.Log.Fold.Chain(), g)
	return g, j.appendLocked(ctx, nil, g)
}

// AppendRollback appends a ROLLBACK of the history to a seq.
func (j *Journal) AppendRollback(ctx context.Context, to int64, chain snapshot.Hash, reason string) (*modellog.Rollback, error) {
	if err := j.lock(ctx); err != nil {
		return nil, err
	}
	defer j.unlock()
	f := j.Log.Fold
	r := &modellog.Rollback{Owner: j.Owner, Seq: max(f.Seq(), f.Highest()) + 1, ToSeq: to, ToChain: chain, Reason: reason, By: Host()}
	r.Chain = modellog.NextChain(f.Chain(), r)
	return r, j.appendLocked(ctx, nil, r)
}

// releasedUpTo returns a RELEASED if one is due.
func (j *Journal) releasedUpTo(seq int64) []modellog.Record {
	const releasedInterval = 8 // BATCHes between two RELEASED
	if seq < j.Log.Fold.Released()+releasedInterval {
		return nil
	}
	return []modellog.Record{&modellog.Released{Owner: j.Owner, Seq: seq}}
}

// UseOptions writes the options to the log if it has none. Otherwise it returns an
// error if they differ from those in the log.
func (j *Journal) UseOptions(ctx context.Context, options []byte) error {
	have := j.Log.Fold.Config()
	if len(have.Config) == 0 {
		return j.Append(ctx, &modellog.Config{Owner: j.Owner, Hash: sha256.Sum256(options), Config: options})
	}
	return model.SameOptions(have.Config, options)
}
