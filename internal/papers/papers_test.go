package papers

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/refit/metriclearn"
)

// smallContests returns a small contest of each kind.
func smallContests(t *testing.T) []*contest {
	tasks, _ := relatedTasks(1, 3, 20, 0, 4)
	metric, err := metricContest("tasks", tasks, 4, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	documents := documentContest("documents", 1, documentSize{n: 200, p: 40, words: 10, m: 5, q: 8}, 3, 1e-3, 1e-1)
	return []*contest{factoredContest(1, 200, 12, 4, 3, 1e-3, 1e-1), documents, matrixContest(1, 20, 3, 3, 4, 1), metric}
}

func TestContestsHaveOneOptimum(t *testing.T) {
	for _, c := range smallContests(t) {
		names := []string{}
		curves, err := c.run(context.Background(), 0, 2000, nil, func(name string) { names = append(names, name) })
		if err != nil || len(curves) != len(c.entries) || len(names) != len(curves) {
			t.Fatalf("%s: %d curves, error %v", c.title, len(curves), err)
		}
		best := curves[0].points[len(curves[0].points)-1]
		for _, curve := range curves {
			last := curve.points[len(curve.points)-1]
			if last.Gap() > 1e-6 || math.Abs(last.Primal-best.Primal) > 1e-6 {
				t.Errorf("%s: %s ends at %v with a gap of %v, %s at %v", c.title, curve.name, last.Primal, last.Gap(), curves[0].name, best.Primal)
			}
		}
	}
}

func TestContestKeepsToItsSeconds(t *testing.T) {
	var now float64
	curves, err := matrixContest(1, 20, 3, 3, 4, 1).run(context.Background(), 20, 1e6, func() float64 { now++; return now }, nil)
	if err != nil || len(curves) != 4 {
		t.Fatalf("%d curves, error %v", len(curves), err)
	}
	for _, c := range curves {
		if last := c.points[len(c.points)-1]; last.Seconds < 20 || last.Seconds > 22 {
			t.Errorf("%s took %v s", c.name, last.Seconds)
		}
	}
}

// TestTrianglesAreTheirMatrices compares products with triangles with products
// with the full matrices.
func TestTrianglesAreTheirMatrices(t *testing.T) {
	const d = 7
	p := matrixRisk(5, 3, 2, d, 1)
	matrix := func(x []float64) []float64 {
		a := make([]float64, d*d)
		for i, k := 0, 0; i < d; i++ {
			for j := range i + 1 {
				v := x[k]
				if j < i {
					v /= math.Sqrt2
				}
				a[i*d+j], a[j*d+i] = v, v
				k++
			}
		}
		return a
	}
	x := make([]float64, p.A.Width(0))
	p.A.Add(x, 0, 1, 3)
	full := matrix(x)
	for i := range 3 {
		for j := range 2 {
			row := make([]float64, len(x))
			p.A.Add(row, i, j, 1)
			want := 0.0
			for k, v := range matrix(row) {
				want += v * full[k]
			}
			if got := p.A.Dot(i, j, x); math.Abs(got-want) > 1e-9 {
				t.Errorf("Dot(%d, %d) is %v, want %v", i, j, got, want)
			}
		}
	}
}

// TestSetIsSplitIntoTasks uses rows that contain their own number.
func TestSetIsSplitIntoTasks(t *testing.T) {
	const classes, each = 11, 50
	s := &Set{Name: "set", Dim: 2, Classes: make([]string, classes)}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range classes * each {
		s.Train.Points, s.Train.Classes = append(s.Train.Points, float64(i), -4*r.Float64()), append(s.Train.Classes, i%classes)
	}
	s.Train.Points[1] = -4
	s.Test = metriclearn.Task{Points: []float64{3, 2, 9, 2, 10, 2}, Classes: []int{3, 9, 10}}
	learn, check := s.tasks(1)
	if len(learn) != 2 || len(check) != 2 || len(check[0].Classes) != 1 || check[1].Points[1] != 0.5 {
		t.Fatalf("%d tasks, %+v", len(learn), check)
	}
	for task, l := range learn {
		if len(l.Classes) != 5*40 {
			t.Errorf("task %d has %d rows", task, len(l.Classes))
		}
		for i, class := range l.Classes {
			if row := int(math.Round(l.Points[2*i] * float64(classes*each-1))); class/5 != task || row%classes != class {
				t.Errorf("row %d of task %d has the class %d", row, task, class)
			}
		}
	}
	other, _ := s.tasks(2)
	if learn[0].Points[0] == other[0].Points[0] && learn[0].Points[2] == other[0].Points[2] {
		t.Error("another seed has the same order")
	}
}

func TestReportOfAContest(t *testing.T) {
	learn, _ := relatedTasks(1, 2, 20, 30, 4)
	c, err := metricContest("tasks", learn, 4, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	now := 0.0
	clock := func() float64 { now += 1e-6; return now }
	curves, err := c.run(context.Background(), 100, 400, clock, nil)
	if err != nil {
		t.Fatal(err)
	}
	var r Report
	r.Contests = append(r.Contests, newContestReport(c, curves))
	for _, m := range r.Contests[0].Methods {
		last := 0.0
		for i, at := range m.Reach {
			if at == nil || at.Passes < last || at.Passes > m.Passes || at.Gap != goals[i] {
				t.Errorf("%s: %+v after %v passes", m.Method, at, last)
				continue
			}
			last = at.Passes
		}
		if m.Gap > 1e-6 {
			t.Errorf("%s ends at %v", m.Method, m.Gap)
		}
	}
	tasks := taskSet{name: "tasks", dim: 4, split: func(seed uint64) (learn, check []metriclearn.Task) { return relatedTasks(seed, 2, 20, 30, 4) }}
	n, err := tasks.neighbors(context.Background(), 2, clock, func(int) {})
	if err != nil || n.Many.Mean >= n.One.Mean || n.Many.Mean >= n.Euclidean.Mean || n.Gain.StandardError == 0 || len(n.Penalties) != 2 {
		t.Errorf("errors %+v, %v", n, err)
	}
	r.Neighbors = append(r.Neighbors, n)
	dir := t.TempDir()
	if err := r.Draw(dir); err != nil {
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
}
