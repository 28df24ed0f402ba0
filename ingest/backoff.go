package ingest

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Backoff spaces out the attempts at something that a broker has to answer.
// While nobody answers the pause doubles, from 100 ms to 2 s, so that whoever
// waits goes on within 3 s of the broker's return; an answer that says "not
// yet", or a connection that broke, begins again at 100 ms, as the broker is
// there or has been a moment ago. Up to half of each pause is left out by
// chance, so that many clients do not come back at one instant. The zero value
// is ready.
type Backoff struct{ silent int }

const (
	firstPause = 100 * time.Millisecond
	lastPause  = 2 * time.Second
)

// Pause waits after an attempt that ended in err, or for ctx to end, and then
// gives its error.
func (b *Backoff) Pause(ctx context.Context, err error) error {
	t := time.NewTimer(b.next(err))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Retry calls f until it succeeds, ctx ends, or trying again cannot help. Each
// error behind which it tries again goes to report.
func Retry(ctx context.Context, report func(error), f func() error) error {
	for wait := new(Backoff); ; {
		err := f()
		if err == nil || ctx.Err() != nil || !Temporary(err) {
			return err
		}
		report(err)
		if err := wait.Pause(ctx, err); err != nil {
			return err
		}
	}
}

func (b *Backoff) next(err error) time.Duration {
	if !errors.Is(err, ErrUnreachable) {
		b.silent = 0
	}
	d := min(firstPause<<min(b.silent, 10), lastPause)
	b.silent++
	return d - rand.N(d/2)
}
