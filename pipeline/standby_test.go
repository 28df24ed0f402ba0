package pipeline

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// running is a learner that runs in a goroutine.
type running struct {
	events *learntest.Events
	client *ingest.Client
	stop   context.CancelFunc
	ended  chan error
}

// start runs a learner until stop is called.
func (r *running) start(t *testing.T, cfg model.Config) {
	ctx, stop := context.WithCancel(t.Context())
	r.stop, r.ended = stop, make(chan error, 1)
	go func() {
		l, err := Open(ctx, cfg)
		if err == nil {
			err = l.Run(ctx)
		}
		r.ended <- err
	}()
}

func (r *running) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("it did not end")
		return nil
	}
}

// sight waits for an event of a type.
func sight[E any](t *testing.T, ev *learntest.Events) E {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if got, ok := learntest.Last[E](ev); ok {
			return got
		}
	}
	var none E
	t.Fatalf("no %T came", none)
	return none
}

// TestStandbyLearnsAlong tests that a waiting standby learns bit for bit what a learner
// learns that restores a snapshot, and that it does not replay it when it takes over,
// whether the owner leaves or dies.
func TestStandbyLearnsAlong(t *testing.T) {
	for _, leaves := range []bool{true, false} {
		addr := kafkatest.Addr(t)
		c, in := kafkatest.ClientOf(t, addr, nil), kafkatest.Name("rings")
		values := learntest.Rings(4000)
		kafkatest.Fill(t, c, in, 2, values[:2500])
		start := func(standby bool) *running {
			r := &running{client: kafkatest.ClientOf(t, addr, nil)}
			var cfg model.Config
			cfg, r.events = learntest.Config(r.client, "m", in)
			cfg.ToEnd, cfg.Heartbeat, cfg.Standby = false, 100*time.Millisecond, standby
			cfg.SnapshotEvery = 50 * time.Millisecond
			r.start(t, cfg)
			return r
		}
		owner := start(false)
		sight[event.Saved](t, owner.events)
		next := start(true)
		sight[event.StandingBy](t, next.events)
		kafkatest.Fill(t, c, in, 2, values[2500:3500])
		for learnedRecords(owner.events) < 3500 || sight[event.StandingBy](t, next.events).Seq < sight[event.Learned](t, owner.events).Seq {
			time.Sleep(time.Millisecond)
		}
		along := sight[event.StandingBy](t, next.events)
		if along.Step == 0 {
			t.Errorf("leaves: %v: the standby reports no step", leaves)
		}
		for _, e := range owner.events.All() {
			if l, ok := e.(event.Learned); ok && l.Seq == along.Seq && l.Progress.Step != along.Step {
				t.Errorf("leaves: %v: the standby is at step %d of BATCH %d, the owner at %d", leaves, along.Step, along.Seq, l.Progress.Step)
			}
		}
		if leaves {
			owner.stop()
		} else {
			owner.client.Close() // the owner cannot write any more
		}
		if err := owner.wait(t); leaves != (err == nil) {
			t.Errorf("leaves: %v: the owner ended with %v", leaves, err)
		}
		replayed := sight[event.Replayed](t, next.events)
		if got := sight[event.TakingOver](t, next.events); got.Left != leaves {
			t.Errorf("leaves: %v: it took over as if the owner had: %v", leaves, got.Left)
		}
		limits := 0
		for _, e := range next.events.All() {
			if _, ok := e.(event.TakingOver); ok {
				break
			}
			if _, ok := e.(event.Memory); ok {
				limits++
			}
		}
		if limits < 3 { // before it reads, for the snapshot, and for the BATCHes
			t.Errorf("leaves: %v: the standby updated its memory limit %d times", leaves, limits)
		}
		if replayed.Batches > 1 {
			t.Errorf("leaves: %v: %d BATCHes were learned only when the standby took over", leaves, replayed.Batches)
		}
		kafkatest.Fill(t, c, in, 2, values[3500:])
		for learnedRecords(next.events) < 500 {
			time.Sleep(time.Millisecond)
		}
		next.stop()
		if err := next.wait(t); err != nil {
			t.Error(err)
		}
		if cold, ok := learntest.Last[event.StandbyFailed](next.events); ok {
			t.Errorf("leaves: %v: the standby did not learn along: %v", leaves, cold.Err)
		}
		cfg, _ := learntest.Config(c, "m", in)
		v, err := audit.Verify(t.Context(), cfg)
		if err != nil || v.Divergent > 0 || v.StateHash != learntest.FinalHash(t, next.events) || v.StateHash == (snapshot.Hash{}) {
			t.Errorf("leaves: %v: verify: %+v, %v", leaves, v, err)
		}
		answered := map[string]bool{}
		for _, r := range kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model)) {
			answered[kafkatest.Header(r, "ce_id")] = true
		}
		if len(answered) != len(values) {
			t.Errorf("leaves: %v: %d of %d records have a prediction", leaves, len(answered), len(values))
		}
	}
}

// TestStandbyLearnsAlongAfterARollback has a ROLLBACK that no snapshot covers in the log
// that the standby reads.
func TestStandbyLearnsAlongAfterARollback(t *testing.T) {
	addr := kafkatest.Addr(t)
	c, in := kafkatest.ClientOf(t, addr, nil), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(800))
	cfg, ev := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	first, _ := learntest.Last[event.Saved](ev)
	kafkatest.Fill(t, c, in, 1, learntest.Rings(800))
	learnAll(t, cfg)
	if _, err := admin.Rollback(t.Context(), cfg, admin.RollbackTo{Step: &first.Step}); err != nil {
		t.Fatal(err)
	}
	options, err := cfg.Options()
	if err != nil {
		t.Fatal(err)
	}
	limit, err := newBound(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &standby{config: cfg, options: options, memory: limit}
	if s.journal, err = journal.Open(t.Context(), cfg, 1); err != nil {
		t.Fatal(err)
	}
	for range 2 { // first with the ROLLBACK as the last decision
		if _, err := s.follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if failed, ok := learntest.Last[event.StandbyFailed](ev); ok || s.warm == nil || s.warm.history.Chain != s.journal.Log.Fold.Chain() {
			t.Fatalf("the standby does not learn along: %v", failed.Err)
		}
		learnAll(t, cfg)
	}
	if got := s.warm.history.Learner.Progress(); got.Step <= first.Step {
		t.Errorf("the standby stands at %+v", got)
	}
}

// learnedRecords returns the number of records in BATCHes learned since the start.
func learnedRecords(ev *learntest.Events) (n int64) {
	for _, e := range ev.All() {
		if l, ok := e.(event.Learned); ok {
			n += l.Counts.Learned + l.Counts.Predicted
		}
	}
	return n
}

// TestLearnersThatFenceEachOtherStop tests that after two fencings the next learner
// waits for the owner.
func TestLearnersThatFenceEachOtherStop(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(200))
	start := func() *running {
		r := &running{client: c}
		var cfg model.Config
		cfg, r.events = learntest.Config(c, "m", in)
		cfg.ToEnd, cfg.Heartbeat, cfg.SnapshotEvery = false, 100*time.Millisecond, 20*time.Millisecond
		r.start(t, cfg)
		return r
	}
	owner := start()
	sight[event.Claimed](t, owner.events)
	for range fencingsAllowed {
		next := start()
		sight[event.Claimed](t, next.events)
		kafkatest.Fill(t, c, in, 1, learntest.Rings(200)) // the next append shows the owner that it is fenced
		if err := owner.wait(t); !errors.Is(err, ErrFenced) {
			t.Fatalf("the owner ended with %v", err)
		}
		owner = next
	}
	last := start()
	sight[event.FencingLoop](t, last.events)
	sight[event.StandingBy](t, last.events)
	owner.stop()
	if err := owner.wait(t); err != nil {
		t.Errorf("the owner ended with %v", err)
	}
	sight[event.Claimed](t, last.events)
	last.stop()
	last.wait(t)
}
