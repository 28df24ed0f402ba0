package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// replay learns again the BATCHes after the snapshot, and publishes again what is not
// known to be published.
func (l *Learner) replay(ctx context.Context, from modellog.Recovery) error {
	start := time.Now()
	ev := event.Replayed{}
	r := newReplayer(l.config.Client, l.inputs, l.decider, l.reads, l.config.Report)
	defer r.close()
	if n := len(from.Entries); n > 0 && planted.Fault("replay") {
		from.Entries = from.Entries[:n-1]
	}
	of := from.Versions
	for _, e := range from.Entries {
		var out *release
		abandoned := false
		switch rec := e.Record.(type) {
		case *modellog.Batch:
			if of != versions {
				return fmt.Errorf("%w: BATCH %d, behind the newest snapshot that can be used, was decided by %v, and this program is of %v: start a program of that version once more and stop it, so that it leaves a snapshot", ErrVersion, rec.Seq, of, versions)
			}
			d, err := r.decide(ctx, rec)
			var lost *ingest.LostRange
			if errors.As(err, &lost) && l.config.OnGap == "record" {
				abandoned = true
				if out, err = l.abandon(ctx, rec, lost); err != nil {
					return err
				}
				break
			}
			if err != nil {
				return err
			}
			begin := time.Now()
			out = l.history.learn(rec.Seq, rec.Chain, d)
			l.relearn += time.Since(begin)
			l.budget.spend(d.items)
			if l.journal.log.Fold.Resumed() == rec.Seq {
				l.budget = budget{}
			}
			ev.Batches++
			ev.Records += len(d.items)
		case *modellog.Gap:
			if err := r.skip(rec); err != nil {
				return err
			}
			out = l.history.skip(rec)
		case *modellog.Upgrade:
			of, out = rec.Versions, l.history.turned(rec)
		case *modellog.Rollback, *modellog.Adopt:
			out = l.history.turned(rec)
		default:
			continue
		}
		if out.seq > from.Released && !planted.Fault("rerelease") {
			if err := l.out.publish(ctx, out); err != nil {
				return err
			}
			ev.Released++
		}
		if abandoned {
			break
		}
	}
	if l.journal.log.Fold.Paused() != nil {
		l.budget = budget{}
	}
	ev.Took, ev.Progress = time.Since(start), l.history.learner.Progress()
	l.config.Report(ev)
	return nil
}

// abandon appends a ROLLBACK to the current seq, before a BATCH of which records are
// lost. The source then reports a gap and continues with the remaining records.
func (l *Learner) abandon(ctx context.Context, at *modellog.Batch, lost *ingest.LostRange) (*release, error) {
	reason := fmt.Sprintf("BATCH %d cannot be learned again: records %d to %d of %s/%d are lost", at.Seq, lost.Want, lost.LogStart-1, lost.Topic, lost.Partition)
	r, err := l.journal.appendRollback(ctx, l.history.seq, l.history.chain, reason)
	if err != nil {
		return nil, err
	}
	l.config.Report(event.RolledBack{Record: r})
	return l.history.turned(r), nil
}

// replayer decides again the BATCHes of the model log.
type replayer struct {
	inputs  input.Partitions
	cursors *input.Cursors
	decider *decider
	report  func(event.Event)
	former  map[string]bool // topics that were replaced later in the history
}

// newReplayer returns a replayer that reads ahead within the budget b.
func newReplayer(c *ingest.Client, ins input.Partitions, d *decider, b *ingest.Budget, report func(event.Event)) *replayer {
	return &replayer{inputs: ins, cursors: input.NewCursors(c, b), decider: d, report: report}
}

func (r *replayer) close() { r.cursors.Close() }

// decide reads the records of b again and decides them as at the first time. It
// returns ErrHistory if the input topics now have other records.
func (r *replayer) decide(ctx context.Context, b *modellog.Batch) (*decided, error) {
	spans := make([]input.Span, 0, len(b.Ranges))
	for _, rg := range b.Ranges {
		in := r.inputs.Find(rg.Topic, rg.Partition)
		if in == nil && r.former[rg.Topic] {
			return nil, fmt.Errorf("%w: BATCH %d has records of %s/%d, which was %w", input.ErrHistory, b.Seq, rg.Topic, rg.Partition, input.ErrReplaced)
		}
		if in == nil {
			return nil, fmt.Errorf("%w: BATCH %d has records of %s/%d, which is not among the inputs: put the topic back into input.topics", input.ErrHistory, b.Seq, rg.Topic, rg.Partition)
		}
		if !ingest.SameTopic(in.ID, rg.TopicID) {
			return nil, input.Recreated(rg.Topic)
		}
		records, err := r.cursors.Take(ctx, in, rg.From, rg.To, r.report)
		var lost *ingest.LostRange
		var past *ingest.PastEnd
		if errors.As(err, &lost) || errors.As(err, &past) {
			return nil, fmt.Errorf("%w: BATCH %d needs offsets %d to %d of %v: %w", input.ErrHistory, b.Seq, rg.From, rg.To, in, err)
		}
		if err != nil {
			return nil, err
		}
		spans = append(spans, input.Span{In: in, From: rg.From, To: rg.To, Records: records})
	}
	d := r.decider.decide(spans)
	for i := range d.ranges {
		d.ranges[i].TopicID = b.Ranges[i].TopicID // an upgrade of the broker may have assigned it since
		rg := d.ranges[i]
		if want := b.Ranges[i]; rg != want && !planted.Fault("digest") {
			return nil, fmt.Errorf("%w: BATCH %d was decided on %d records of %s/%d with digest %016x, and the topic has %d records with digest %016x there now", input.ErrHistory, b.Seq, want.Records, want.Topic, want.Partition, want.Digest, rg.Records, rg.Digest)
		}
	}
	if d.counts != b.Counts {
		return nil, fmt.Errorf("%w: BATCH %d was decided as %+v, and now as %+v: this version reads the records differently", input.ErrHistory, b.Seq, b.Counts, d.counts)
	}
	return d, nil
}

// skip returns ErrHistory if the topic of a GAP was deleted and created again.
func (r *replayer) skip(g *modellog.Gap) error {
	if in := r.inputs.Find(g.Topic, g.Partition); in != nil && !ingest.SameTopic(in.ID, g.TopicID) {
		return input.Recreated(g.Topic)
	}
	return nil
}
