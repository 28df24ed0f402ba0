// Package watchdog detects that a learner no longer finishes mini-batches.
package watchdog

import (
	"context"
	"sync/atomic"
	"time"
)

// Pulse tracks whether the learner is learning and when it last finished a mini-batch.
// Waiting for a broker does not count, because it has no time limit.
type Pulse struct{ at atomic.Int64 } // time of the last beat, as monotonic returns it; 0 at rest

var began = time.Now()

// monotonic returns a monotonic time in nanoseconds.
func monotonic() int64 { return int64(time.Since(began)) + 1 }

// Beat notes that there was progress.
func (p *Pulse) Beat() { p.at.Store(monotonic()) }

// Rest notes that there is nothing to do, so that no progress is expected.
func (p *Pulse) Rest() { p.at.Store(0) }

// Stopped returns a channel that is closed when there has been no beat for longer than limit while
// the learner was learning, unless ctx ends first. Without a limit it is never closed.
func (p *Pulse) Stopped(ctx context.Context, limit time.Duration) <-chan struct{} {
	if limit <= 0 {
		return nil
	}
	stopped := make(chan struct{})
	go func() {
		t := time.NewTicker(max(limit/4, time.Millisecond))
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				if at := p.at.Load(); at != 0 && monotonic()-at > int64(limit) {
					close(stopped)
					return
				}
			}
		}
	}()
	return stopped
}
