package pipeline

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
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// append writes records that are valid only under the claim of this process, and
// returns once the log shows that they are.
func (j *journal) append(ctx context.Context, rs ...modellog.Record) error {
	if err := j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	return j.appendLocked(ctx, rs...)
}

func (j *journal) appendLocked(ctx context.Context, rs ...modellog.Record) error {
	if j.lost != nil {
		return j.lost
	}
	err := j.write(ctx, rs...)
	if err == nil {
		err = j.fenced()
	}
	if err != nil {
		j.lost = err
	}
	return err
}

// write appends rs as one batch and folds the log up to and including it. If the
// acknowledgement is lost or unexpected, it reads the log to see whether the batch is
// there, and writes it again if not. A delayed copy of the batch is void, because its
// decisions are in the log already.
func (j *journal) write(ctx context.Context, rs ...modellog.Record) error {
	return j.writeAt(ctx, nil, rs...)
}

// writeAt is write with the times of the records in Unix milliseconds; nil: now.
func (j *journal) writeAt(ctx context.Context, times []int64, rs ...modellog.Record) error {
	batch := make([]ingest.Record, len(rs))
	now := time.Now().UnixMilli()
	for i, r := range rs {
		if times != nil {
			now = times[i]
		}
		if j.key != nil {
			if err := modellog.Sign(r, j.key); err != nil {
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
		base, err := j.producer.Append(ctx, j.topic, 0, batch)
		if planted.Fault("ack") && errors.Is(err, ingest.ErrAmbiguous) || planted.Fault("offset") && err == nil {
			base, err = j.log.Next(), nil
		}
		if err == nil && base == j.log.Next() {
			j.log.Own(rs, batch)
			return nil
		}
		if err == nil && base < j.log.Next() {
			return j.log.LostTail(base)
		}
		j.log.Recheck()
		if err != nil {
			if ctx.Err() != nil || !ingest.Temporary(err) && !errors.Is(err, ingest.ErrAmbiguous) {
				return err
			}
			j.report(event.Retrying{Err: err})
		}
		found := 0
		if err := j.readOn(ctx, func(r *ingest.Record, _ modellog.Verdict) {
			if found < len(batch) && (bytes.Equal(r.Value, batch[found].Value) || planted.Fault("found")) {
				found++
			}
		}); err != nil {
			return err
		}
		if found == len(batch) {
			return nil
		}
		if j.owner != (modellog.Owner{}) && j.log.Fold.Claim().Owner != j.owner {
			return nil // appendLocked detects it
		}
		if err := wait.Pause(ctx, err); err != nil {
			return err
		}
	}
}

// appendBatch appends d to the model log, with a RELEASED if one is due. If the budget
// is spent, it also appends a PAUSE and returns it.
func (j *journal) appendBatch(ctx context.Context, d *history.Decided, released int64, spent *budget) (*modellog.Batch, *modellog.Pause, error) {
	if err := j.lock(ctx); err != nil {
		return nil, nil, err
	}
	defer j.unlock()
	b := &modellog.Batch{Owner: j.owner, Seq: j.log.Fold.Seq() + 1, Ranges: d.Ranges, Counts: d.Counts, Columns: d.Journaled(), Schemas: d.Schemas}
	b.Chain = modellog.NextChain(j.log.Fold.Chain(), b)
	if planted.Fault("released") {
		released = j.log.Fold.Seq()
	}
	rs := append(j.releasedUpTo(released), b)
	var pause *modellog.Pause
	if spent != nil {
		pause = spent.pause(b.Seq, j.owner)
		rs = append(rs, pause)
	}
	return b, pause, j.appendLocked(ctx, rs...)
}

// appendGap appends a GAP for lost input to the model log.
func (j *journal) appendGap(ctx context.Context, lost *input.Gap) (*modellog.Gap, error) {
	if err := j.lock(ctx); err != nil {
		return nil, err
	}
	defer j.unlock()
	g := &modellog.Gap{
		Owner: j.owner, Seq: j.log.Fold.Seq() + 1,
		Topic: lost.In.Topic, TopicID: lost.In.ID, Partition: lost.In.Partition, From: lost.From, To: lost.To,
	}
	g.Chain = modellog.NextChain(j.log.Fold.Chain(), g)
	return g, j.appendLocked(ctx, g)
}

// appendRollback appends a ROLLBACK of the history to a seq.
func (j *journal) appendRollback(ctx context.Context, to int64, chain snapshot.Hash, reason string) (*modellog.Rollback, error) {
	if err := j.lock(ctx); err != nil {
		return nil, err
	}
	defer j.unlock()
	f := j.log.Fold
	r := &modellog.Rollback{Owner: j.owner, Seq: max(f.Seq(), f.Highest()) + 1, ToSeq: to, ToChain: chain, Reason: reason, By: host()}
	r.Chain = modellog.NextChain(f.Chain(), r)
	return r, j.appendLocked(ctx, r)
}

// releasedUpTo returns a RELEASED if one is due.
func (j *journal) releasedUpTo(seq int64) []modellog.Record {
	const releasedInterval = 8 // BATCHes between two RELEASED
	if seq < j.log.Fold.Released()+releasedInterval {
		return nil
	}
	return []modellog.Record{&modellog.Released{Owner: j.owner, Seq: seq}}
}

// useOptions writes the options to the log if it has none. Otherwise it returns an
// error if they differ from those in the log.
func (j *journal) useOptions(ctx context.Context, options []byte) error {
	have := j.log.Fold.Config()
	if len(have.Config) == 0 {
		return j.append(ctx, &modellog.Config{Owner: j.owner, Hash: sha256.Sum256(options), Config: options})
	}
	return sameOptions(have.Config, options)
}

// sameOptions returns an error that names the differences, if there are any.
func sameOptions(have, want []byte) error {
	if bytes.Equal(have, want) {
		return nil
	}
	return fmt.Errorf("%w: %s: these options are fixed for the life of a model: restore them, or start a new model under another name", ErrOptions, differences(have, want))
}
