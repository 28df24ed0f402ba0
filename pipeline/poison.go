package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// ErrPoisoned means that too much of the input is bad while Config.ToEnd is set, so
// that Run does not wait for a RESUME.
var ErrPoisoned = errors.New("too much of the input is invalid")

// budget is how much bad input is accepted before the learner pauses: budgetWindow/2
// of the last budgetWindow records. It protects the model when a producer changes its
// schema.
//
// The budget affects when records are learned, but not what is learned. It is
// therefore not restored exactly: after a restart it begins with the records after the
// snapshot. Its decisions are in the model log as PAUSEs.
type budget struct {
	bad  [budgetWindow]bool
	n    int // records seen, at most budgetWindow
	at   int // index of the oldest of them
	sum  int // number of bad ones
	last error
}

const budgetWindow = 1000 // records

// spend adds the records of a BATCH and reports whether the budget is exceeded.
func (b *budget) spend(items []history.Item) (over bool) {
	for _, it := range items {
		if b.bad[b.at] {
			b.sum--
		}
		b.bad[b.at] = it.Err != nil
		if it.Err != nil {
			b.sum++
			b.last = it.Err
		}
		b.at = (b.at + 1) % budgetWindow
		b.n = min(b.n+1, budgetWindow)
		over = over || b.sum > budgetWindow/2
	}
	return over
}

// pause returns the PAUSE for the model log when the budget is spent, and resets the
// budget.
func (b *budget) pause(seq int64, o modellog.Owner) *modellog.Pause {
	p := &modellog.Pause{Owner: o, Seq: seq, Bad: int64(b.sum), Of: int64(b.n), Reason: record.Reason(b.last)}
	*b = budget{}
	return p
}

// waitForResume returns once the model log has no PAUSE in effect.
func (j *journal) waitForResume(ctx context.Context) error {
	t := time.NewTicker(resumeEvery)
	defer t.Stop()
	for {
		if paused, err := j.stillPaused(ctx); err != nil || !paused {
			return err
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

const resumeEvery = 200 * time.Millisecond

func (j *journal) stillPaused(ctx context.Context) (bool, error) {
	if err := j.confirm(ctx); err != nil {
		return false, err
	}
	if err := j.lock(ctx); err != nil {
		return false, err
	}
	defer j.unlock()
	return j.log.Fold.Paused() != nil, nil
}

// Resume writes a RESUME to the model log if a PAUSE is in effect, so that a paused
// learner continues, or does not pause when it starts. It returns the pause that was
// in effect; nil if there was none.
func Resume(ctx context.Context, c Config) (*modellog.Pause, error) {
	j, err := openJournal(ctx, c, 1)
	if errors.Is(err, ingest.ErrUnknownTopic) {
		return nil, noLog(c.Model)
	}
	if err != nil {
		return nil, err
	}
	was := j.log.Fold.Paused()
	for {
		p := j.log.Fold.Paused()
		if p == nil {
			return was, nil
		}
		// A claim in between makes the RESUME void. It is then repeated under that claim.
		if err := j.write(ctx, &modellog.Resume{Owner: j.log.Fold.Claim().Owner, Seq: p.Seq, By: host()}); err != nil {
			return nil, err
		}
	}
}
