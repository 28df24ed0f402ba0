package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/crash/network"
)

// zombies stops learners with SIGSTOP while they learn, lets successors take
// over, and resumes the stopped ones. Each of these must detect that it has
// been fenced and exit with 76.
func (w *world) zombies(ctx context.Context, s *Summary) error {
	path := w.config("crash")
	for i := range w.options.zombies {
		if err := w.catchUp(ctx); err != nil {
			return err
		}
		old, err := w.begin(nil, "learn", "-c", path)
		if err != nil {
			return err
		}
		if err := w.feed(ctx, w.fed+w.share); err != nil {
			return err
		}
		w.await(ctx, 10*time.Second, isClaim)
		pause(ctx, time.Duration(w.rng.IntN(60))*time.Millisecond)
		old.signal(syscall.SIGSTOP)
		next, err := w.begin(nil, "learn", "-c", path)
		if err != nil {
			return err
		}
		w.await(ctx, 10*time.Second, isClaim)
		old.signal(syscall.SIGCONT)
		if err := w.feed(ctx, w.fed+w.share); err != nil {
			return err
		}
		code, err := old.ended(time.Minute)
		if err == nil && code != 76 {
			err = fmt.Errorf("it ended with %d:\n%s", code, old.stderr.String())
		}
		next.signal(syscall.SIGKILL)
		if err := errors.Join(err, next.killed()); err != nil {
			return fmt.Errorf("zombie %d: %w", i+1, err)
		}
		s.Zombies++
	}
	return nil
}

// outages kills and restarts the broker under a running learner, which must
// continue without intervention.
func (w *world) outages(ctx context.Context, s *Summary) error {
	if w.options.outages == 0 {
		return nil
	}
	if err := w.catchUp(ctx); err != nil {
		return err
	}
	p, err := w.begin(nil, "learn", "-c", w.config("crash"))
	if err != nil {
		return err
	}
	defer p.end()
	w.await(ctx, 10*time.Second, isClaim)
	for i := range w.options.outages {
		if err := w.feed(ctx, w.fed+w.share); err != nil {
			return err
		}
		w.await(ctx, 10*time.Second, isBatch)
		pause(ctx, time.Duration(w.rng.IntN(50))*time.Millisecond)
		w.server.stop(syscall.SIGKILL)
		pause(ctx, time.Duration(200+w.rng.IntN(800))*time.Millisecond)
		if err := w.server.start(); err != nil {
			return fmt.Errorf("outage %d: %w", i+1, err)
		}
		back := time.Now()
		if err := w.catchUp(ctx); err != nil {
			return err
		}
		if err := w.feed(ctx, w.fed+w.share); err != nil {
			return err
		}
		if !w.await(ctx, time.Minute, isBatch) {
			p.end()
			return fmt.Errorf("outage %d: nothing is learned 60 s after the broker is back:\n%s", i+1, p.stderr.String())
		}
		s.Outages++
		took := time.Since(back)
		s.Recovery.add(took)
		w.options.log("outage %d: learning again after %.2f s", i+1, took.Seconds())
	}
	p.signal(syscall.SIGTERM)
	if code, err := p.ended(25 * time.Second); err != nil || code != 0 {
		return fmt.Errorf("after the outages the learner ended with %d, %w:\n%s", code, err, p.stderr.String())
	}
	return nil
}

// resets runs a learner behind a faulty network: some connections are reset
// after a number of bytes, some are slow, and some stay open without an answer.
func (w *world) resets(ctx context.Context, s *Summary) error {
	if w.options.resets == 0 {
		return nil
	}
	bad, err := network.NewProxy(w.brokers, w.seed)
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	defer bad.Close()
	bad.Suffer(network.Reset)
	p, err := w.begin([]string{"ACCRETE_KAFKA_BOOTSTRAP_SERVERS=" + bad.Address()}, "learn", "-c", w.config("crash"))
	if err != nil {
		return err
	}
	defer func() { p.end() }() // ends the last process
	for i := 0; bad.Count() < w.options.resets; i++ {
		select {
		case <-p.gone: // it may exit with 75 before it has begun to learn
			if code := p.cmd.ProcessState.ExitCode(); code != 75 {
				return fmt.Errorf("behind a bad network the learner ended with %d:\n%s", code, p.stderr.String())
			}
			if p, err = w.begin([]string{"ACCRETE_KAFKA_BOOTSTRAP_SERVERS=" + bad.Address()}, "learn", "-c", w.config("crash")); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		if i%50 == 25 { // only the learner's own timeout ends this connection
			bad.Suffer(network.HalfOpen)
			bad.Cut()
			pause(ctx, 300*time.Millisecond)
			bad.Suffer(network.Healthy)
			if err := w.feed(ctx, w.fed+w.share/4); err != nil {
				return err
			}
			if !w.await(ctx, time.Minute, isBatch) {
				p.end()
				return fmt.Errorf("nothing is learned a minute after connections went half open:\n%s", p.stderr.String())
			}
			continue
		}
		bad.Suffer([]int{network.Reset, network.Reset, network.Reset, network.Slow, network.Healthy}[i%5])
		if err := w.feed(ctx, w.fed+w.share/4); err != nil {
			return err
		}
		pause(ctx, time.Duration(20+w.rng.IntN(100))*time.Millisecond)
		bad.Cut()
	}
	bad.Suffer(network.Healthy)
	bad.Cut()
	if err := w.catchUp(ctx); err != nil {
		return err
	}
	if err := w.feed(ctx, w.fed+w.share); err != nil {
		return err
	}
	learns := w.await(ctx, time.Minute, isBatch)
	p.signal(syscall.SIGTERM)
	code, err := p.ended(time.Minute)
	if err != nil || code != 0 || !learns {
		return fmt.Errorf("behind a network that is good again the learner ended with %d (learned: %v), %w:\n%s", code, learns, err, p.stderr.String())
	}
	s.Resets = bad.Count()
	return nil
}

// await waits for a new record of a kind and reports whether it came.
func (w *world) await(ctx context.Context, limit time.Duration, kind func(modellog.Record) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	w.log.await(ctx, kind)
	return ctx.Err() == nil
}

// catchUp reads the log to its current end.
func (w *world) catchUp(ctx context.Context) error {
	return w.log.catchUp(ctx, w.client, w.model("crash")+".log")
}

// failpoints learns a short stream repeatedly, each time as a new model, and
// kills the learner at each I/O step in turn: just before a request is sent,
// and just after its response.
func (w *world) failpoints(ctx context.Context, s *Summary) error {
	if !w.options.failpoints {
		return nil
	}
	const short = 260 // number of examples: three BATCHes
	whole, chunk := w.topic, w.chunk
	w.topic, w.chunk = w.topic+"-short", "64KiB" // each chunk is a step
	defer func() { w.topic, w.chunk = whole, chunk }()
	if err := w.client.Create(ctx, w.topic, w.partitions, nil); err != nil {
		return err
	}
	fed := w.fed
	w.fed = 0
	if err := w.feed(ctx, short); err != nil {
		return err
	}
	w.fed = fed
	want := ""
	for n := 1; ; n++ {
		name := fmt.Sprintf("step%d", n)
		path := w.config(name)
		p, err := w.begin([]string{fmt.Sprintf("ACCRETE_FAILPOINT=%d", n)}, "learn", "-c", path, "--to-end")
		if err != nil {
			return err
		}
		<-p.gone
		done := p.cmd.ProcessState.Success() // no steps remain
		if err := p.killed(); !done && err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
		if !done {
			if _, err := w.accrete(ctx, "learn", "-c", path, "--to-end"); err != nil {
				return fmt.Errorf("after a kill at step %d: %w", n, err)
			}
			s.Steps++
		}
		r, err := w.ask(ctx, name)
		if err != nil {
			return err
		}
		if want == "" {
			want = r.StateHash.String()
		}
		if w.partitions == 1 && r.StateHash.String() != want {
			s.Divergences++
			w.options.log("step %d: state %v, want %v", n, r.StateHash, want)
		}
		w.judge(fmt.Sprintf("step %d", n), r, s)
		if done {
			return nil
		}
	}
}
