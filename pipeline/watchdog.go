package pipeline

import (
	"context"
	"sync/atomic"
	"time"
)

// pulse tells whether the learner is at work, and when it last came to the end
// of a mini-batch. Waiting for a broker is no work: that takes as long as it
// takes.
type pulse struct{ at atomic.Int64 } // when, by monotonic; 0 at rest

var began = time.Now()

// monotonic is a time that no clock is set by, in nanoseconds.
func monotonic() int64 { return int64(time.Since(began)) + 1 }

func (p *pulse) beat() { p.at.Store(monotonic()) }
func (p *pulse) rest() { p.at.Store(0) }

// stopped is closed once there was no beat for longer than limit in the midst
// of work, unless ctx ends before. Without a limit it never is.
func (p *pulse) stopped(ctx context.Context, limit time.Duration) <-chan struct{} {
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
