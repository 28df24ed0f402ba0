package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/refit"
)

func TestPaperReportsAndDrawsContests(t *testing.T) {
	learn, _ := refit.RelatedTasks(1, 2, 20, 30, 4)
	problem, err := refit.MetricContest("tasks", learn, 4, refit.MetricConfig{}, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	curves, err := problem.Run(context.Background(), 100, 400, cpuSeconds, nil)
	if err != nil {
		t.Fatal(err)
	}
	var r paperReport
	r.Contests = append(r.Contests, newContestReport(problem, curves))
	for _, m := range r.Contests[0].Methods {
		last := 0.0
		for i, at := range m.Reach {
			if at == nil || at.Passes < last || at.Passes > m.Passes || at.Gap != reaches[i] {
				t.Errorf("%s: %+v behind %v passes", m.Method, at, last)
				continue
			}
			last = at.Passes
		}
		if m.Gap > 1e-6 {
			t.Errorf("%s ends at %v", m.Method, m.Gap)
		}
	}
	tasks := taskSet{name: "tasks", dim: 4, split: func(seed uint64) (learn, check []refit.Labelled) { return refit.RelatedTasks(seed, 2, 20, 30, 4) }}
	n, err := tasks.neighbors(context.Background(), 2, func(int) {})
	if err != nil || n.Many.Mean >= n.One.Mean || n.Many.Mean >= n.Euclidean.Mean || n.Gain.StandardError == 0 || len(n.Weights) != 2 {
		t.Errorf("errors %+v, %v", n, err)
	}
	r.Neighbors = append(r.Neighbors, n)
	dir := t.TempDir()
	if err := r.draw(dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "dspdc-figure-4.png")); err != nil || info.Size() < 10000 {
		t.Errorf("no picture: %v", err)
	}
	for _, want := range []string{"figure 4", "SDCA", "euclidean"} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("no %q in\n%v", want, &r)
		}
	}
	if code, _, stderr := call(t, nil, "bench"); code != misused || !strings.Contains(stderr, "--paper") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
