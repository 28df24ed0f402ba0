package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// decision is a BATCH or a GAP that is in the model log.
type decision struct {
	gap *modellog.Gap // nil for a BATCH

	*history.Decided
	record *modellog.Batch
	took   time.Duration // of the append
}

// decide forms BATCHes from the records that arrive and appends them to the model log. While one
// BATCH is learned, the next is decided and appended, but no further one.
func (l *Learner) decide(intake, work context.Context, src *input.Source, to chan<- *decision) error {
	pause := l.journal.Log.Fold.Paused() // left by the previous process
	if n := l.decider.Resume(l.journal.Log.Fold.AbsentColumns()); n > 0 {
		l.config.Report(event.Columns{Missing: n})
	}
	renamed, err := l.decider.Rename(l.config.Renames)
	if err != nil {
		return fmt.Errorf("%w: %w", model.ErrOptions, err)
	}
	if renamed != nil {
		l.config.Report(event.Renamed{Seq: l.journal.Log.Fold.Seq() + 1, Aliases: renamed})
	}
	for {
		if pause != nil {
			if err := l.wait(intake, pause); err != nil {
				return err
			}
			pause = nil
		}
		if err := l.catchUp(intake, work, src, to); err != nil {
			return err
		}
		spans, lost, err := src.Take(intake, l.config.BatchSize, l.config.Linger)
		if err != nil {
			return err
		}
		if err := l.grow(work, src); err != nil {
			return err
		}
		var next *decision
		if lost != nil {
			next, err = l.appendGap(work, lost)
		} else if err = l.enrich(work, src, to); err == nil {
			next, pause, err = l.appendBatch(intake, work, src, spans)
		}
		if err != nil {
			return err
		}
		if next == nil {
			continue
		}
		if err := send(work, to, next); err != nil {
			return err
		}
	}
}

// send hands a decision to the goroutine that learns.
func send(work context.Context, to chan<- *decision, next *decision) error {
	select {
	case to <- next:
		return nil
	case <-work.Done():
		return work.Err()
	}
}

// grow adds partitions that were added to the input topics.
func (l *Learner) grow(ctx context.Context, src *input.Source) error {
	grown := src.Grew()
	if len(grown) == 0 {
		return nil
	}
	l.added.Lock()
	l.inputs = src.Partitions()
	l.added.Unlock()
	for _, g := range grown {
		r := &modellog.Partitions{Owner: l.journal.Owner, Topic: g.Topic, TopicID: g.ID, Count: int32(g.Count)}
		if err := l.journal.Append(ctx, r); err != nil {
			return err
		}
		l.config.Report(event.PartitionsAdded{Topic: g.Topic, Partitions: g.Count})
	}
	return nil
}

// appendBatch decides on the records of spans. It looks up the schemas that they need until intake
// ends: without them nothing is decided, and the next start reads the records again.
func (l *Learner) appendBatch(intake, ctx context.Context, src *input.Source, spans []input.Span) (*decision, *modellog.Pause, error) {
	for i := range spans {
		sp := &spans[i]
		sp.From = sp.In.Next // a read_committed reader gets no records in between
	}
	if err := l.decider.Fetch(intake, spans, l.config.Schemas, func(err error) { l.config.Report(event.Retrying{Err: err}) }); err != nil {
		return nil, nil, cmp.Or(intake.Err(), err)
	}
	d := l.decider.Decide(spans)
	if len(d.Items) == 0 && len(d.Tables) == 0 { // the spans have no records, and no table has changed
		return nil, nil, nil
	}
	if d.Batch.Len() > 0 {
		if err := l.config.Learner.Check(d.Schema.Columns); err != nil {
			return nil, nil, err
		}
	}
	if d.Counts.Quarantined > 0 {
		l.config.Report(event.Quarantining{Bad: d.Bad()})
	}
	if d.Columns != nil {
		l.config.Report(*d.Columns)
	}
	if d.Misread != nil {
		l.config.Report(*d.Misread)
	}
	if d.NewClasses != nil {
		l.config.Report(*d.NewClasses)
	}
	var spent func(int64, modellog.Owner) *modellog.Pause
	if l.budget.spend(d.Items) {
		spent = l.budget.pause
	} else if l.config.OnChange == "stop" {
		spent = changed(d)
	}
	start := time.Now()
	b, pause, err := l.journal.AppendBatch(ctx, d, l.out.done(), spent)
	if err != nil {
		return nil, nil, err
	}
	for _, sp := range spans {
		sp.In.Next = sp.To
	}
	src.Lags()
	return &decision{Decided: d, record: b, took: time.Since(start)}, pause, nil
}

func (l *Learner) appendGap(ctx context.Context, lost *input.Gap) (*decision, error) {
	lost.From = lost.In.Next
	g, err := l.journal.AppendGap(ctx, lost)
	if err != nil {
		return nil, err
	}
	lost.In.Next = lost.To
	l.config.Report(event.Gap{Topic: g.Topic, Partition: g.Partition, From: g.From, To: g.To})
	return &decision{gap: g}, nil
}

// wait returns after a RESUME of p is in the model log. With Config.ToEnd it returns
// ErrPoisoned or ErrChanged at once.
func (l *Learner) wait(ctx context.Context, p *modellog.Pause) error {
	if l.config.ToEnd {
		if p.Columns != nil {
			return fmt.Errorf("%w: %v; run accrete resume to learn without them", ErrChanged, p)
		}
		return fmt.Errorf("%w: %v; inspect %s and fix the cause, then run accrete resume", ErrPoisoned, p, model.QuarantineTopic(l.config.Model))
	}
	l.config.Report(event.Paused{Why: p})
	if err := l.journal.WaitForResume(ctx); err != nil {
		return err
	}
	l.config.Report(event.Resumed{})
	return nil
}
