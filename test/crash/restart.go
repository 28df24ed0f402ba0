package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Restarts measures how soon a killed learner of a large model learns again.
type Restarts struct {
	Kills    int   `json:"kills"`
	Again    times `json:"seconds_to_first_batch"` // from kill -9 to the first new BATCH in the log
	Snapshot int64 `json:"snapshot_bytes"`
	Examples int64 `json:"examples"`
	Rate     int   `json:"examples_per_second"` // fed
}

// restart kills a learner repeatedly while the topic grows at a steady rate,
// restarts it at once, and measures the time to the first new BATCH.
func (w *world) restart(ctx context.Context) (s Restarts, err error) {
	path := filepath.Join(w.dir, "restart.yaml")
	text := fmt.Sprintf(`model: %s
kafka: {bootstrap.servers: "%s"}
input: {topics: [%s], label: label}
learner: {algorithm: newton, max_features: 8192, mixture: off}
snapshot: {every: 2s}
http: {listen: "off"}
`, w.model("crash"), w.brokers, w.topic)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return s, err
	}
	s.Rate = w.rate
	w.log = newModelLog(w.client, w.model("crash"))
	feeding, stop := context.WithCancel(ctx)
	fed := make(chan error, 1)
	go func() { fed <- w.stream(feeding, &s.Examples) }()
	defer func() {
		stop()
		if bad := <-fed; !errors.Is(bad, context.Canceled) {
			err = errors.Join(err, bad)
		}
	}()

	var p *process
	defer func() { p.end() }()
	if p, err = w.begin(nil, "learn", "-c", path); err != nil {
		return s, err
	}
	epoch := int64(0)
	for s.Kills < w.restarts {
		if !w.await(ctx, time.Minute, func(r modellog.Record) bool {
			m, ok := r.(*modellog.Manifest)
			if ok = ok && m.Step > 100; ok { // the learner's window is full
				epoch, s.Snapshot = m.Owner.Epoch, m.Size
			}
			return ok
		}) {
			p.end()
			return s, fmt.Errorf("no snapshot came within a minute:\n%s", tail(p.stderr.String()))
		}
		pause(ctx, time.Duration(w.rng.IntN(2000))*time.Millisecond)
		killed := time.Now()
		p.signal(syscall.SIGKILL)
		if err := p.killed(); err != nil {
			return s, err
		}
		if p, err = w.begin(nil, "learn", "-c", path); err != nil {
			return s, err
		}
		if !w.await(ctx, time.Minute, func(r modellog.Record) bool {
			b, ok := r.(*modellog.Batch)
			return ok && b.Owner.Epoch > epoch
		}) {
			p.end()
			return s, fmt.Errorf("nothing was learned within a minute:\n%s", tail(p.stderr.String()))
		}
		s.Again.add(time.Since(killed))
		s.Kills++
		w.options.log("kill %d: learning again after %.2f s", s.Kills, time.Since(killed).Seconds())
	}
	return s, ctx.Err()
}

// stream feeds the topic at the configured rate until ctx is done.
func (w *world) stream(ctx context.Context, fed *int64) error {
	out := w.client.Producer()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); ; {
		due := int64(time.Since(start).Seconds() * float64(w.rate))
		if err := w.pour(ctx, out, *fed, due); err != nil {
			return err
		}
		*fed = due
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
