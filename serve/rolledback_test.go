package serve_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// counts returns how many scorers' events of each kind there were.
func (w *world) counts() (broken, whole, switches int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken, w.whole, w.switches
}

// rollback rolls the model back to what its log still holds.
func (w *world) rollback(t *testing.T, topics ...string) admin.RollbackReport {
	t.Helper()
	r, err := admin.Rollback(t.Context(), w.learner(topics...), admin.RollbackTo{})
	if err != nil || r.Record == nil {
		t.Fatalf("rolled back: %+v, %v", r, err)
	}
	return r
}

// verified fails the test unless the model can be reproduced, with that many
// ranges abandoned.
func (w *world) verified(t *testing.T, abandoned int, topics ...string) {
	t.Helper()
	v, err := audit.Verify(t.Context(), w.learner(topics...))
	if err != nil || v.Divergent > 0 || v.Compared == 0 || len(v.Abandoned) != abandoned || v.Unreached != "" {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// A scorer of which the log has lost its tail serves the model that it has, and
// follows the log again after a rollback, to a model that does not contain what was
// lost.
func TestScorerFollowsALogThatWasRolledBack(t *testing.T) {
	kafkatest.OnFragile(t, func(t *testing.T, addr string, b kafkatest.Fragile) {
		w := newWorldAt(addr, kafkatest.ClientOf(t, addr, nil))
		kafkatest.Fill(t, w.client, w.in, 1, rings(1, 1500, class))
		kafkatest.Fill(t, w.client, w.asked, 1, rings(2, 20, none))
		w.learn(t, w.in)
		kafkatest.Fill(t, w.client, w.in, 1, rings(3, 1500, class))
		w.learn(t, w.in)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error)
		go func() { done <- w.scorer(false).Run(ctx) }()
		until(t, done, "it scores", func() bool { return w.scores(t) == 20 })

		b.Down(func() {
			b.Change(model.LogTopic(w.model), 0, func(bs [][]byte) [][]byte { // up to the last BATCH
				n := len(bs)
				for n > 0 && !strings.Contains(string(bs[n-1]), `{"type":"batch"`) {
					n--
				}
				return bs[:n-1]
			})
		})
		until(t, done, "it says that the log is broken", func() bool { n, _, _ := w.counts(); return n > 0 })
		w.client = kafkatest.ClientOf(t, addr, nil)
		kafkatest.Fill(t, w.client, w.asked, 1, rings(4, 20, none))
		until(t, done, "it continues to score", func() bool { return w.scores(t) == 40 })
		if _, whole, _ := w.counts(); whole > 0 {
			t.Error("it takes the log for whole before the rollback")
		}

		w.rollback(t, w.in)
		until(t, done, "it says that the log is whole", func() bool { _, n, _ := w.counts(); return n > 0 })
		_, _, before := w.counts()
		w.learn(t, w.in)
		until(t, done, "it follows the log again", func() bool { _, _, n := w.counts(); return n > before })
		w.verified(t, 1, w.in)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A follower that becomes the leader by an unclean election has not replicated the
// last decisions. The learner ends, the scorer reports the log as broken and keeps
// its model, and a rollback leads out. It takes 30 s.
func TestUncleanElectionLosesTheTailOfTheLog(t *testing.T) {
	k := kafkatest.NewReplicated(t)
	w := newWorldAt(k.Addr, kafkatest.ClientOf(t, k.Addr, nil))
	log := model.LogTopic(w.model)
	k.Create(log, map[string]string{
		"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1",
		"min.insync.replicas": "1", "unclean.leader.election.enable": "true",
	}, 2, 3)
	for _, topic := range []string{w.in, w.asked, model.PredictionsTopic(w.model), model.QuarantineTopic(w.model), model.ScoresTopic(w.model), w.model + ".heartbeats"} {
		k.Create(topic, nil, 1)
	}
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 1500, class))
	kafkatest.Fill(t, w.client, w.asked, 1, rings(2, 20, none))
	w.learn(t, w.in)
	k.Await(log, 2, 2, 3)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	scorer := make(chan error, 1)
	go func() { scorer <- w.scorer(false).Run(ctx) }()
	until(t, scorer, "it scores", func() bool { return w.scores(t) == 20 })
	c := w.learner(w.in)
	learned := make(chan int64, 100)
	c.ToEnd, c.SnapshotEvery, c.Report = false, 100*time.Millisecond, func(ev event.Event) {
		if s, ok := ev.(event.Saved); ok {
			learned <- s.Step
		}
	}
	l, err := pipeline.Open(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	learner := make(chan error, 1)
	go func() { learner <- l.Run(ctx) }()

	k.Stop(3)
	k.Await(log, 2, 2)
	_, _, before := w.counts()
	kafkatest.Fill(t, w.client, w.in, 1, rings(3, 1500, class))
	<-learned
	until(t, scorer, "it serves what was learned since", func() bool { _, _, n := w.counts(); return n > before })
	k.Kill(2)
	k.Start(3)
	k.Await(log, 3, 3)
	watch := kafkatest.NewStopwatch()
	if err := <-learner; !errors.Is(err, pipeline.ErrLog) {
		t.Errorf("the learner ended with %v", err)
	}
	if took := watch.Elapsed(); took > 4*time.Second {
		t.Errorf("the learner ended %v after the election", took)
	}
	until(t, scorer, "it says that the log is broken", func() bool { n, _, _ := w.counts(); return n > 0 })
	kafkatest.Fill(t, w.client, w.asked, 1, rings(4, 20, none))
	until(t, scorer, "it continues to score", func() bool { return w.scores(t) == 40 })
	k.Start(2)
	k.Await(log, 3, 2, 3)

	if _, err := pipeline.Open(ctx, w.learner(w.in)); !errors.Is(err, pipeline.ErrLog) {
		t.Errorf("the next start: %v", err)
	}
	r := w.rollback(t, w.in)
	t.Logf("abandoned: %+v", r.Abandoned)
	until(t, scorer, "it says that the log is whole", func() bool { _, n, _ := w.counts(); return n > 0 })
	w.learn(t, w.in)
	w.verified(t, 1, w.in)
	cancel()
	if err := <-scorer; err != nil {
		t.Error(err)
	}
}

// A follower that knows the log from its newest snapshot on alone returns to an earlier one when the
// model is rolled back to it, although no learner runs that would write another.
func TestAFollowerReturnsToASnapshotBeforeItsFirst(t *testing.T) {
	w := newWorld(t)
	for i := range uint64(4) {
		kafkatest.Fill(t, w.client, w.in, 1, rings(1+i, 700, class))
		w.learn(t, w.in)
	}
	all, _ := w.manifests(t)
	for _, to := range []int{len(all) - 2, 0} {
		f := serve.NewFollower(w.client, model.LogTopic(w.model), nil, func(string, error) {})
		if m, err := f.Next(t.Context()); err != nil || m.ID.Step <= all[to].Step {
			t.Fatalf("it begins with step %d, %v", m.ID.Step, err)
		}
		step := all[to].Step
		if _, err := admin.Rollback(t.Context(), w.learner(w.in), admin.RollbackTo{Step: &step}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		m, err := f.Next(ctx)
		if err != nil || m.StateHash != all[to].StateHash {
			t.Fatalf("after a rollback to step %d: %v", step, err)
		}
	}
}
