package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// replay learns the BATCHes after the snapshot again, and publishes again whatever is not known to
// be published.
func (l *Learner) replay(ctx context.Context, from modellog.Recovery) error {
	start := time.Now()
	ev := event.Replayed{}
	r := history.NewReplayer(l.config.Client, l.inputs, l.decider, l.reads, l.config.Report)
	defer r.Close()
	if n := len(from.Entries); n > 0 && planted.Fault("replay") {
		from.Entries = from.Entries[:n-1]
	}
	of := from.Versions
	for _, e := range from.Entries {
		var out *history.Publication
		abandoned := false
		switch rec := e.Record.(type) {
		case *modellog.Batch:
			if of != l.config.Versions() {
				return fmt.Errorf("%w: BATCH %d, after the newest usable snapshot, was decided with %v, but this program has %v: start a program of that version once more and stop it, so that it writes a snapshot", model.ErrVersion, rec.Seq, of, l.config.Versions())
			}
			d, err := r.Decide(ctx, rec)
			var gap *ingest.GapError
			if errors.As(err, &gap) && l.config.OnGap == "record" {
				abandoned = true
				if out, err = l.abandon(ctx, rec, gap); err != nil {
					return err
				}
				break
			}
			if err != nil {
				return err
			}
			l.memory.learns(d, l.reads)
			begin := time.Now()
			out = l.history.Learn(rec.Seq, rec.Chain, d)
			l.relearn += time.Since(begin)
			l.memory.learned(l.history, out)
			l.budget.spend(d.Items)
			if l.journal.Log.Fold.Resumed() == rec.Seq {
				l.budget = budget{}
			}
			ev.Batches++
			ev.Records += len(d.Items)
		case *modellog.Gap:
			if err := r.Skip(rec); err != nil {
				return err
			}
			out = l.history.Skip(rec)
		case *modellog.Upgrade:
			of, out = rec.Versions, l.history.Turned(rec)
		case *modellog.Rollback, *modellog.Adopt:
			out = l.history.Turned(rec)
		default:
			continue
		}
		if out.Seq > from.Released && !planted.Fault("rerelease") {
			if err := l.out.publish(ctx, out); err != nil {
				return err
			}
			ev.Released++
		}
		if abandoned {
			break
		}
	}
	if l.journal.Log.Fold.Paused() != nil {
		l.budget = budget{}
	}
	ev.Took, ev.Progress, ev.Timeline = time.Since(start), l.history.Progress(), l.history.Timeline.Clone()
	ev.Kept = l.kept(nil)
	for _, s := range slices.Backward(l.journal.Log.Fold.Snapshots()) {
		ev.Snapshots = append(ev.Snapshots, s.Manifest)
	}
	l.config.Report(ev)
	return nil
}

// abandon appends a ROLLBACK to the current seq, because records of the BATCH that follows are
// lost. The source then reports a gap and continues with the remaining records.
func (l *Learner) abandon(ctx context.Context, at *modellog.Batch, lost *ingest.GapError) (*history.Publication, error) {
	reason := fmt.Sprintf("BATCH %d cannot be replayed: records %d to %d of %s/%d no longer exist", at.Seq, lost.Want, lost.LogStart-1, lost.Topic, lost.Partition)
	r, err := l.journal.AppendRollback(ctx, l.history.Seq, l.history.Chain, reason)
	if err != nil {
		return nil, err
	}
	l.config.Report(event.RolledBack{Record: r})
	return l.history.Turned(r), nil
}
