package serve_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// manifests returns the MANIFESTs in the log of a model, oldest first, and when they were
// written.
func (w *world) manifests(t *testing.T) (all []*modellog.Manifest, at []time.Time) {
	t.Helper()
	for _, r := range kafkatest.Read(t, w.client, model.LogTopic(w.model)) {
		v, err := modellog.Parse(r.Key, r.Value)
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := v.(*modellog.Manifest); ok {
			all, at = append(all, m), append(at, time.UnixMilli(r.Time))
		}
	}
	return all, at
}

// Every snapshot that the log holds answers by its step, and by any time until the next.
func TestArchiveHasEveryModelOfTheLog(t *testing.T) {
	w := newWorld(t)
	for i := range 7 {
		kafkatest.Fill(t, w.client, w.in, 1, rings(uint64(i), 300, class))
		w.learn(t, w.in)
	}
	all, at := w.manifests(t)
	f := serve.NewFollower(w.client, model.LogTopic(w.model), nil, func(string, error) {})
	a := f.Archive()
	none := func(version string) {
		t.Helper()
		if m, err := a.Version(t.Context(), version); !errors.Is(err, serve.ErrNoVersion) {
			t.Errorf("version %s: %v, %v", version, m, err)
		}
	}
	none("1") // nothing was followed yet
	if _, err := f.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	has := func(version string, want *modellog.Manifest) {
		t.Helper()
		m, err := a.Version(t.Context(), version)
		if err != nil || m.StateHash != want.StateHash || m.ID.Step != want.Step {
			t.Fatalf("version %s: %v, want step %d", version, err, want.Step)
		}
	}
	steps, err := a.Steps(t.Context(), 3)
	if n := len(all); err != nil || fmt.Sprint(steps) != fmt.Sprint([]int64{all[n-1].Step, all[n-2].Step, all[n-3].Step}) {
		t.Errorf("steps %v, %v", steps, err)
	}
	for range 2 {
		for i, m := range all {
			has(fmt.Sprint(m.Step), m)
			if i+1 == len(all) || at[i+1].Truncate(time.Second).After(at[i]) {
				has(at[i].Add(time.Millisecond).UTC().Format(time.RFC3339Nano), m)
			}
		}
	}
	has(time.Now().Add(time.Hour).Format(time.RFC3339), all[len(all)-1])
	for _, version := range []string{"0", "-1", fmt.Sprint(all[2].Step + 1), "1000000", "x", "", at[0].Add(-time.Second).Format(time.RFC3339)} {
		none(version)
	}

	step := all[2].Step
	if _, err := admin.Rollback(t.Context(), w.learner(w.in), admin.RollbackTo{Step: &step}); err != nil {
		t.Fatal(err)
	}
	w.learn(t, w.in)
	if m, err := f.Next(t.Context()); err != nil || m.StateHash != all[len(all)-1].StateHash {
		t.Errorf("after the rollback: %v", err) // the same records were learned again
	}
	none(fmt.Sprint(all[4].Step))
	has(fmt.Sprint(step), all[2])
	has(fmt.Sprint(all[0].Step), all[0])
}

// Records that do not complete a mini-batch change the state and not the step: the step then names
// the newest of its snapshots, also while an older one is in memory, as a pinned one is.
func TestStepNamesItsNewestSnapshot(t *testing.T) {
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 300, class))
	w.learn(t, w.in)
	_, at := w.manifests(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(2, 1, class))
	w.learn(t, w.in)
	all, _ := w.manifests(t)
	if len(all) != 2 || all[0].Step != all[1].Step || all[0].StateHash == all[1].StateHash {
		t.Fatalf("want two snapshots of one step: %+v", all)
	}
	f := serve.NewFollower(w.client, model.LogTopic(w.model), nil, func(string, error) {})
	if _, err := f.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := f.Archive()
	for _, want := range []struct {
		version string
		of      *modellog.Manifest
	}{{at[0].Add(time.Millisecond).UTC().Format(time.RFC3339Nano), all[0]}, {fmt.Sprint(all[0].Step), all[1]}} {
		if m, err := a.Version(t.Context(), want.version); err != nil || m.StateHash != want.of.StateHash {
			t.Errorf("version %s: %v, want state %v", want.version, err, want.of.StateHash)
		}
	}
}
