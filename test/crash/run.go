package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

const learned = 1250 // labelled rows after which the warm-up is complete

func run(ctx context.Context, o options) (s Summary, err error) {
	w, end, err := begin(ctx, o)
	if err != nil {
		return s, err
	}
	defer end()
	w.log, w.answer = newModelLog(w.client, w.model("crash")), newPredictions(w.client, w.model("crash"))
	watching, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan footprint, 1)
	if w.listen("crash") != "off" {
		go func() { seen <- w.watchMemory(watching) }()
	}
	for _, phase := range []struct {
		name string
		run  func(context.Context, *Summary) error
	}{{"kills", w.killBoth}, {"zombies", w.zombies}, {"outages", w.outages}, {"resets", w.resets}, {"failpoints", w.failpoints}} {
		start := time.Now()
		if err := phase.run(ctx, &s); err != nil {
			return s, err
		}
		o.log("%s: %.0f s", phase.name, time.Since(start).Seconds())
	}
	o.log("learning to the end")
	if err := w.feed(ctx, o.examples); err != nil {
		return s, err
	}
	line, err := w.accrete(ctx, "learn", "-c", w.config("crash"), "--to-end", "--json")
	if err == nil {
		err = w.thinned(line)
	}
	if err != nil {
		return s, err
	}
	if stop(); w.listen("crash") != "off" {
		s.Memory = <-seen
		err = s.Memory.check()
	}
	return s, errors.Join(err, w.checkScores(ctx, &s), w.check(ctx, &s), w.agree(ctx, &s))
}

// alone runs f in a new world.
func alone[S any](ctx context.Context, o options, f func(*world, context.Context) (S, error)) (s S, err error) {
	if !o.late {
		o.partitions = 1
	}
	w, end, err := begin(ctx, o)
	if err != nil {
		return s, err
	}
	defer end()
	return f(w, ctx)
}

// killBoth kills learners and, concurrently, scorers.
func (w *world) killBoth(ctx context.Context, s *Summary) error {
	g, ctx := errgroup.WithContext(ctx)
	learned := make(chan struct{})
	g.Go(func() error {
		defer close(learned)
		if err := w.kill(ctx, s); err != nil {
			return err
		}
		return w.leaveSnapshot(ctx)
	})
	g.Go(func() error { return w.killScorers(ctx, s, learned) })
	return g.Wait()
}

// leaveSnapshot completes the warm-up if the scorers would otherwise wait in vain
// for a snapshot: a few kills may end before there is one.
func (w *world) leaveSnapshot(ctx context.Context) error {
	if w.options.scorers == 0 || len(w.log.hashes) > 0 && w.log.learned >= learned {
		return nil
	}
	if err := w.feed(ctx, min(w.examples, max(w.fed, 2*learned))); err != nil {
		return err
	}
	if _, err := w.accrete(ctx, "learn", "-c", w.config("crash"), "--to-end", "--json"); err != nil {
		return err
	}
	return w.catchUp(ctx)
}

// kill starts and kills the learner repeatedly while the topic grows.
func (w *world) kill(ctx context.Context, s *Summary) error {
	path := w.config("crash")
	others := 2*w.options.zombies + 2*w.options.outages + w.options.resets
	most := w.examples // examples for the kills; the rest is for the other faults
	if others > 0 {
		w.share = max(1, w.examples*3/10/others)
		most -= w.share * others
	}
	early := max(6, w.kills/10) // kills during the warm-up
	for turn := 0; s.Kills < w.kills; turn++ {
		i := s.Kills
		to := learned * (i + 1) / (early + 1)
		if i >= early {
			to = learned + (most-learned)*(i-early+1)/(w.kills-early+1)
		}
		if err := w.feed(ctx, to); err != nil {
			return err
		}
		twice, err := w.killOnce(ctx, path, turn)
		if err != nil {
			return fmt.Errorf("kill %d: %w", i+1, err)
		}
		s.Kills++
		if err := w.classify(ctx, s); err != nil {
			return err
		}
		if twice && s.Kills < w.kills { // again at once, during recovery
			if err := w.killAtClaim(ctx, path); err != nil {
				return fmt.Errorf("kill %d: %w", i+2, err)
			}
			s.Kills++
			s.Recovering++
			if err := w.classify(ctx, s); err != nil {
				return err
			}
		}
		if s.Kills/100 > i/100 {
			w.options.log("%d kills", s.Kills)
		}
	}
	return nil
}

// killOnce starts a learner and kills it, by turns after a random time, at a
// CHUNK (every other time a challenger's, if the model has refits), at a BATCH,
// right after its CLAIM, or right after a MANIFEST. Without the last case the
// history to be learned again would grow with every kill.
func (w *world) killOnce(ctx context.Context, path string, turn int) (twice bool, err error) {
	if turn%5 == 3 {
		return true, w.killAtClaim(ctx, path)
	}
	p, err := w.begin(nil, "learn", "-c", path)
	if err != nil {
		return false, err
	}
	watch, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	switch turn % 5 {
	case 0:
		pause(watch, time.Duration(w.rng.IntN(400))*time.Millisecond)
	case 1:
		what := isChunk
		if w.refit > 0 && turn%10 == 1 {
			what = isRival
		}
		w.log.await(watch, what)
		u := w.rng.Float64() // mostly soon, because a small snapshot is soon complete
		pause(watch, time.Duration(20*u*u*u*float64(time.Millisecond)))
	case 2:
		for range 1 + w.rng.IntN(2) {
			w.log.await(watch, isBatch)
		}
	case 4:
		w.log.await(watch, isManifest)
		pause(watch, time.Duration(w.rng.IntN(8))*time.Millisecond)
	}
	p.signal(syscall.SIGKILL)
	return turn%5 == 1, errors.Join(p.killed(), ctx.Err())
}

// killAtClaim kills a learner that has claimed the log and is about to restore
// a snapshot and to learn the records after it again.
func (w *world) killAtClaim(ctx context.Context, path string) error {
	p, err := w.begin(nil, "learn", "-c", path)
	if err != nil {
		return err
	}
	w.await(ctx, 5*time.Second, isClaim)
	pause(ctx, time.Duration(w.rng.IntN(20))*time.Millisecond)
	p.signal(syscall.SIGKILL)
	return errors.Join(p.killed(), ctx.Err())
}
