package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
)

// Run learns until ctx is done or, with Config.ToEnd, until the end of the inputs. It
// then writes a snapshot of everything learned. It must not be called again.
func (l *Learner) Run(ctx context.Context) (err error) {
	defer func() { l.heart.End(errors.Is(err, journal.ErrFenced)) }()
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	drain := l.config.Drain
	if drain == 0 {
		drain = drainLimit
	}
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(drain, func() { cancel(fmt.Errorf("%w: it had %v", ErrUndrained, drain)) })
	})()

	g, gctx := errgroup.WithContext(work)
	intake, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(gctx, stop)()

	src := input.NewSource(l.config.Client, l.inputs, l.ends, l.config.OnGap == "record", l.reads, l.config.Report)
	if l.config.Decode.ByTime {
		src.Align(func(_ string, r *ingest.Record) int64 { return r.Time })
	} else if late := l.config.Decode.Late; late != nil {
		src.Align(func(_ string, r *ingest.Record) int64 { return record.TimeOf(late, r) })
	}
	g.Go(func() error {
		src.Run(intake)
		return nil
	})
	decided := make(chan *decision)
	g.Go(func() error {
		defer close(decided)
		err := l.decide(intake, gctx, src, decided)
		if errors.Is(err, io.EOF) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil
		}
		return err
	})
	watched, unwatch := context.WithCancel(gctx)
	defer unwatch()
	g.Go(func() error { return l.journal.Watch(watched, l.serves) })
	if l.tables != nil {
		g.Go(func() error { return l.tables.Run(watched) })
	}
	g.Go(func() error {
		defer unwatch()
		return l.out.run(gctx)
	})
	if c := l.lag; c != nil {
		g.Go(func() error {
			c.Run(watched, commitInterval, l.out.await)
			return nil
		})
	}
	g.Go(func() error {
		defer close(l.out.queue)
		return l.follow(gctx, intake, g, decided)
	})
	done := make(chan error, 1)
	go func() { done <- g.Wait() }()
	select {
	case err := <-done:
		if cause := context.Cause(work); errors.Is(cause, ErrUndrained) {
			return cause
		}
		return err
	case <-l.pulse.Stopped(work, l.config.Watchdog): // in which case g.Wait might never return
		err := fmt.Errorf("%w: no mini-batch completed for %v", ErrHung, l.config.Watchdog)
		cancel(err)
		return err
	}
}

// follow learns one BATCH after the other. It begins snapshots when they are due, even while no
// further BATCH arrives.
func (l *Learner) follow(ctx, intake context.Context, g *errgroup.Group, decided <-chan *decision) error {
	due := time.NewTimer(l.untilDue())
	defer due.Stop()
	intake, stop := context.WithCancel(intake) // ends a running refit
	defer stop()
	for {
		select {
		case b, more := <-decided:
			if !more {
				if ctx.Err() != nil { // after an error, which g.Wait returns
					return nil
				}
				return l.finish(ctx, g)
			}
			if err := l.learn(ctx, b); err != nil {
				return err
			}
		case <-due.C:
		}
		if err := l.gate.follow(ctx, l.journal); err != nil {
			return nil // g.Wait returns why
		}
		if err := l.saveIfDue(ctx, g); err != nil {
			return err
		}
		due.Reset(l.untilDue())
		l.refitIfDue(intake, ctx, g.Go)
	}
}

func (l *Learner) learn(ctx context.Context, b *decision) error {
	if b.gap != nil {
		return l.publish(ctx, l.history.Skip(b.gap))
	}
	l.memory.learns(b.Decided, l.reads)
	start := time.Now()
	l.pulse.Beat()
	before, was := l.history.Learner.Inputs(), l.history.Learner
	out := l.history.Learn(b.record.Seq, b.record.Chain, b.Decided)
	l.pulse.Rest()
	took := time.Since(start)
	l.relearn += took
	l.memory.learned(l.history, out)
	counts, kept := b.Counts, l.kept(b.WithoutRow)
	if kept.Late != nil {
		counts.Learned += l.history.Joined()
		counts.Quarantined += l.history.Refused()
		counts.Labels -= l.history.Refused()
	}
	if err := l.publish(ctx, out); err != nil {
		return err
	}
	if l.lag != nil {
		l.lag.Reached(l.history.Seq, l.history.Reached)
	}
	var traces []record.Trace
	if l.config.Traced {
		traces = b.Traces()
	}
	progress := l.history.Progress()
	l.config.Report(event.Learned{
		Traces: traces, Missing: b.Missing, Estimated: l.history.Expected.Error(progress.Task, progress.Recent.Model.Error),
		Seq: b.record.Seq, Counts: counts, Kept: kept, Append: b.took, Learn: took,
		Progress: progress, Figures: l.figures(), Classes: b.Schema.Classes, Deviation: l.history.Numbers.Figures(),
	})
	if renamed := l.history.Renamed(); renamed != nil {
		l.config.Report(event.Renamed{Seq: b.record.Seq, Aliases: renamed})
	}
	if ev := l.history.Succeeded(); ev != nil {
		ev.Seq = b.record.Seq
		l.config.Report(*ev)
	}
	if in := l.history.Learner.Inputs(); in != nil && l.history.Learner == was && in.Alarms > before.Alarms {
		s := event.Shifted{Inputs: *in}
		for _, j := range in.Moved {
			s.Columns = append(s.Columns, b.Schema.Columns[j])
		}
		l.config.Report(s)
	}
	return nil
}

// kept returns what the model keeps as of the last BATCH. withoutRow has, for each table, the number
// of records of this BATCH that had no row in it.
func (l *Learner) kept(withoutRow []int64) event.Kept {
	k := event.Kept{Windows: l.history.Learner.Windows(), Tables: l.tableStatus(withoutRow)}
	if s, ok := l.history.Late(); ok {
		k.Late = &s
	}
	return k
}

// figures returns how well classes were told apart recently, or nil if too little time has passed
// since it last did: it takes at most 0.5 % of the time.
func (l *Learner) figures() *ranking.Figures {
	start := time.Now()
	if start.Sub(l.measured) < 200*l.measure {
		return nil
	}
	f := l.history.Meter.Figures(event.Precision)
	l.measured = time.Now()
	l.measure = l.measured.Sub(start)
	return f
}

func (l *Learner) publish(ctx context.Context, out *history.Publication) error {
	select {
	case l.out.queue <- out:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// saveIfDue begins a snapshot if one is due, anything was learned since the last one, and no other
// snapshot is being written.
func (l *Learner) saveIfDue(ctx context.Context, g *errgroup.Group) error {
	// after the last fit of the warm-up, which scorers wait for
	first := l.saved == 0 && l.history.Progress().Warmup == 1000
	if l.history.Seq == l.saved || !first && time.Since(l.savedAt) < l.config.SnapshotEvery && l.relearn < l.config.ReplayLimit {
		return nil
	}
	select {
	case l.saving <- struct{}{}:
		return l.save(ctx, g)
	default: // the previous one is still being written
		return nil
	}
}

// untilDue returns the time after which follow has to look again whether a snapshot is due. If one
// is overdue already, or nothing was learned, that is SnapshotEvery, or a moment if that is 0.
func (l *Learner) untilDue() time.Duration {
	if left := l.config.SnapshotEvery - time.Since(l.savedAt); left > 0 {
		return left
	}
	return max(l.config.SnapshotEvery, 10*time.Millisecond)
}

// save begins a snapshot of the current history. The caller has put a token into
// l.saving, which save releases when the snapshot is written.
func (l *Learner) save(ctx context.Context, g *errgroup.Group) error {
	start := time.Now()
	s, err := l.history.Freeze(l.journal.Owner.Epoch)
	if err != nil {
		return err
	}
	line := l.history.Timeline.Clone()
	froze := time.Since(start)
	l.memory.saves(s.Size())
	verdict := l.gate.verdict()
	l.saved, l.savedAt, l.relearn = l.history.Seq, time.Now(), 0
	g.Go(func() error {
		defer func() { <-l.saving }()
		ev, err := l.journal.Save(ctx, s, line, verdict, l.out.await, l.config)
		if err != nil {
			return err
		}
		ev.Froze, ev.Took = froze, time.Since(start)
		l.config.Report(ev)
		return nil
	})
	return nil
}

// finish waits for the snapshot that is being written and begins a last one if
// anything was learned since.
func (l *Learner) finish(ctx context.Context, g *errgroup.Group) error {
	select {
	case l.saving <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	if l.history.Seq == l.saved {
		return nil
	}
	return l.save(ctx, g)
}
