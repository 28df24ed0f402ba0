package journal

import (
	"context"
	"time"
)

// WaitForResume returns once the model log has no PAUSE in effect.
func (j *Journal) WaitForResume(ctx context.Context) error {
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

func (j *Journal) stillPaused(ctx context.Context) (bool, error) {
	if err := j.Confirm(ctx); err != nil {
		return false, err
	}
	if err := j.lock(ctx); err != nil {
		return false, err
	}
	defer j.unlock()
	return j.Log.Fold.Paused() != nil, nil
}
