package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/challenger"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
)

// refitIfDue begins a refit of the current model if one is due and anything was learned since the
// last one. Only one refit runs at a time, and refits take at most a fifth of the time.
func (l *Learner) refitIfDue(intake, work context.Context, run func(func() error)) {
	if l.config.Refit.Every <= 0 || time.Since(l.refitAt) < l.config.Refit.Every || l.history.Seq == l.refitted {
		return
	}
	select {
	case l.refitting <- struct{}{}:
	default:
		return
	}
	l.refitAt, l.refitted = time.Now(), l.history.Seq
	s, err := l.history.FreezeServing(l.journal.Owner.Epoch)
	pending := l.history.Learner.Pending()
	if err != nil {
		l.config.Report(event.Unfit{Seq: l.history.Seq, Err: err})
		<-l.refitting
		return
	}
	run(func() error {
		start := time.Now()
		defer func() {
			select {
			case <-time.After(pauses * time.Since(start)):
			case <-intake.Done():
			}
			<-l.refitting
		}()
		l.added.Lock()
		ins := l.inputs
		l.added.Unlock()
		r, err := challenger.Solve(intake, l.config, ins, s, pending)
		if err == nil {
			var ev event.Refitted
			if ev, err = l.journal.Challenge(work, r.Snapshot, r.Refit, l.config); err == nil {
				ev.Took, ev.Read = time.Since(start), r.Read
				l.config.Report(ev)
				return nil
			}
			if !errors.Is(err, journal.ErrOvertaken) {
				return err
			}
		}
		if intake.Err() == nil {
			l.config.Report(event.Unfit{Seq: s.Seq, Err: err})
		}
		return nil
	})
}

// pauses is the length of the pause after a refit, as a multiple of its duration.
// Although a refit runs at low priority, learning may have to wait for its thread on a
// busy processor, for example when the garbage collector stops the world.
const pauses = 4
