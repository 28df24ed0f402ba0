package serve_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// wrong labels rows as class does, with the classes exchanged.
func wrong(r float64) string { return class(2.4 - math.Min(r, 2.4)) }

// A snapshot that learned wrong labels is written and not served; hold, pin and promote decide
// otherwise. All of it is read from the log alone, as by processes that have just started, and
// by one that runs all the time.
func TestGateHoldPinAndPromote(t *testing.T) {
	w := newWorld(t)
	c := w.learner(w.in)
	c.Gate = model.GateConfig{Metric: model.GateError, WorseThan: 0.1, Over: 100}
	learn := func(records ...[]string) {
		t.Helper()
		for _, rs := range records {
			kafkatest.Fill(t, w.client, w.in, 1, rs)
		}
		l, err := pipeline.Open(t.Context(), c)
		if err == nil {
			err = l.Run(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	newest := func() *modellog.Manifest {
		all, _ := w.manifests(t)
		return all[len(all)-1]
	}
	var running *serve.Follower
	served := func(what string, mode modellog.Mode, want *modellog.Manifest, switches bool) {
		t.Helper()
		f := serve.NewFollower(w.client, model.LogTopic(w.model), nil, func(string, error) {})
		m, err := f.Next(t.Context())
		if err != nil || m.StateHash != want.StateHash || f.Choice().Mode != mode {
			t.Fatalf("%s: step %d, %v, %v, want step %d, %v", what, m.ID.Step, f.Choice(), err, want.Step, mode)
		}
		if running == nil {
			running = f
		} else if switches {
			if m, err := running.Next(t.Context()); err != nil || m.StateHash != want.StateHash || running.Choice().Mode != mode {
				t.Fatalf("%s, running: step %d, %v, %v", what, m.ID.Step, running.Choice(), err)
			}
		}
	}
	choose := func(mode modellog.Mode, m *modellog.Manifest) {
		t.Helper()
		_, _, err := admin.Serve(t.Context(), w.learner(w.in), func(now modellog.Choice, newest modellog.Ref, _ bool) (modellog.Choice, error) {
			ref := newest
			if mode == modellog.Hold {
				ref = now.Snapshot
			}
			if m != nil {
				all, err := serve.NewArchive(w.client, model.LogTopic(w.model), nil, func() int64 { return newest.Offset }).Ref(t.Context(), formatStep(m))
				if err != nil {
					return now, err
				}
				ref = all
			}
			return modellog.Choice{Mode: mode, Snapshot: ref}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	learn(rings(1, 1500, class))
	good := newest()
	served("the first", modellog.Follow, good, true)

	learn(rings(2, 600, wrong), rings(3, 100, class))
	bad := newest()
	if g := bad.Gate; g == nil || g.Passed || g.Rows != 100 || g.Champion.Snapshot != good.Snapshot || g.Loss <= g.Served {
		t.Fatalf("the snapshot of wrong labels: %v", g)
	}
	served("a worse one", modellog.Follow, good, false)

	choose(modellog.Follow, nil)
	served("a worse one that is promoted", modellog.Follow, bad, true)
	choose(modellog.Pin, good)
	served("one that is pinned", modellog.Pin, good, true)
	learn(rings(4, 1500, class))
	better := newest()
	if g := better.Gate; g == nil || !g.Passed && g.Champion.Snapshot != bad.Snapshot {
		t.Errorf("compared with the one pinned: %v", g)
	}
	served("one that is pinned, later", modellog.Pin, good, false)
	choose(modellog.Follow, nil)
	served("the newest", modellog.Follow, better, true)
	choose(modellog.Hold, nil)
	learn(rings(5, 500, class))
	served("one that is held", modellog.Hold, better, false)
	w.verified(t, 0, w.in)

	to := bad.Step
	if _, err := admin.Rollback(t.Context(), w.learner(w.in), admin.RollbackTo{Step: &to}); err != nil {
		t.Fatal(err)
	}
	served("after a rollback that ends the hold and the promotion", modellog.Follow, good, true)
}

func formatStep(m *modellog.Manifest) string { return strconv.FormatInt(m.Step, 10) }
