package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// ErrPoisoned: too much of the input is bad, and nobody is asked to wait.
var ErrPoisoned = errors.New("too much of the input is bad")

// budget is how much bad input is taken without a word: half of the last
// budgetWindow records. When a sender changes its schema that is soon spent, and
// stopping then is what saves the model.
//
// It decides when something is learned and never what, so that it need not come
// back to the bit after a restart: then it begins with the records behind the
// snapshot. What it has decided is in the model log as a PAUSE.
type budget struct {
	bad  [budgetWindow]bool
	n    int // records seen, at most budgetWindow
	at   int // the oldest of them
	sum  int // of bad
	last error
}

const budgetWindow = 1000 // records

// spend takes in what became of the records of a BATCH and says whether that
// was too much.
func (b *budget) spend(items []item) (over bool) {
	for _, it := range items {
		if b.bad[b.at] {
			b.sum--
		}
		b.bad[b.at] = it.err != nil
		if it.err != nil {
			b.sum++
			b.last = it.err
		}
		b.at = (b.at + 1) % budgetWindow
		b.n = min(b.n+1, budgetWindow)
		over = over || b.sum > budgetWindow/2
	}
	return over
}

// pause is what the model log says when the budget is spent. The budget is then
// as new.
func (b *budget) pause(seq int64, o modellog.Owner) *modellog.Pause {
	p := &modellog.Pause{Owner: o, Seq: seq, Bad: int64(b.sum), Of: int64(b.n), Reason: serve.Reason(b.last)}
	*b = budget{}
	return p
}

// waitForResume returns once the model log has no PAUSE in force.
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

// Resume lets a learner go on that has paused because its input was bad, or will
// find that it is when it is started. It returns the pause that it has ended;
// nil if there was none.
func Resume(ctx context.Context, c Config) (*modellog.Pause, error) {
	j, err := openJournal(ctx, c, 1)
	if errors.Is(err, ingest.ErrUnknownTopic) {
		return nil, fmt.Errorf("%w: there is no model log %q, so no learner of this model has run", ErrTopic, LogTopic(c.Model))
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
		// Another claim in between makes it void; then once more under that.
		if err := j.write(ctx, &modellog.Resume{Owner: j.log.Fold.Claim().Owner, Seq: p.Seq, By: host()}); err != nil {
			return nil, err
		}
	}
}
