package ingest

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Backoff determines the pauses between attempts at a request. While no broker
// responds, the pause doubles from 100 ms to 2 s, so that a caller continues
// within 3 s of the broker's return. A response that says "not yet", or a
// connection that broke, resets the pause to 100 ms, because the broker is there
// or was a moment before. Each pause is shortened by a random amount of up to
// half, so that many clients do not reconnect at the same instant. The zero value
// is ready for use.
type Backoff struct{ silent int }

const (
	firstPause = 100 * time.Millisecond
	lastPause  = 2 * time.Second
)

// Pause waits after an attempt that failed with err. If ctx ends first, it returns
// the error of ctx.
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

// Retry calls f until it succeeds, ctx ends, or the error is not Temporary. It
// calls report with each error after which it retries.
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
