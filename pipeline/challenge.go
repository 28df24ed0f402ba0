package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// refitIfDue begins a refit of the current model if one is due and anything was learned
// since the last. One refit runs at a time, for a fifth of the time at most.
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
	s, err := l.history.FreezeServing(l.journal.owner.Epoch)
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
		r, err := refitTo(intake, l.config, ins, s, pending)
		if err == nil {
			var ev event.Refitted
			if ev, err = l.journal.challenge(work, r, l.config); err == nil {
				ev.Took = time.Since(start)
				l.config.Report(ev)
				return nil
			}
			if !errors.Is(err, errOvertaken) {
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

// challenge writes r to the log: its chunks, and then the CHALLENGER that completes it.
// It does not interfere with snapshots.
func (j *journal) challenge(ctx context.Context, r *refitting, c Config) (event.Refitted, error) {
	file, err := snapshot.Append(nil, r.snapshot)
	if err != nil {
		return event.Refitted{}, err
	}
	chunks, m, err := modellog.SplitChallenger(file, j.owner, c.ChunkBytes)
	if err != nil {
		return event.Refitted{}, err
	}
	m.Refit = r.refit
	for wait := new(ingest.Backoff); ; {
		for _, chunk := range chunks {
			if err := j.append(ctx, chunk); err != nil {
				return event.Refitted{}, err
			}
		}
		err := j.finishChallenger(ctx, m, c)
		if err == nil {
			return event.Refitted{ID: m.Snapshot.String(), Seq: m.Seq, Step: m.Step, Bytes: len(file), StateHash: m.StateHash, Refit: m.Refit, Read: r.read}, nil
		}
		if !errors.Is(err, errBroken) {
			return event.Refitted{}, err
		}
		j.report(event.Retrying{Err: err})
		if err := wait.Pause(ctx, err); err != nil {
			return event.Refitted{}, err
		}
	}
}

func (j *journal) finishChallenger(ctx context.Context, m *modellog.Challenger, c Config) error {
	if err := j.lock(ctx); err != nil {
		return err
	}
	defer j.unlock()
	if j.lost != nil {
		return j.lost
	}
	if at, ok := j.log.Fold.ChainAt(m.Seq); !ok || at != m.Chain {
		return fmt.Errorf("%w: newer snapshots have replaced seq %d in the meantime", errOvertaken, m.Seq)
	}
	if err := j.log.Fold.FinishChallenger(m); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	if c.SignKey != nil {
		if err := m.Sign(c.SignKey); err != nil {
			return err
		}
	}
	if err := j.appendLocked(ctx, m); err != nil {
		return err
	}
	if newest := j.log.Fold.Challengers(); len(newest) == 0 || newest[0].Challenger.Snapshot != m.Snapshot {
		return errBroken
	}
	return nil
}

// errOvertaken means that a refit took so long that the log no longer reaches back to
// the seq at which it began.
var errOvertaken = errors.New("the refit took too long")
