package metriclearn

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/papers/tasks"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim"
)

// long is whether to test more seeds, which takes about a minute.
var long = os.Getenv("ACCRETE_TEST_LONG") == "1"

// related returns tasks to learn from and to test with.
func related(seed uint64, n, train, test, dim int) (learn, check []Task) {
	a, b := tasks.Related(seed, n, train, test, dim)
	for j := range a {
		learn, check = append(learn, Task(a[j])), append(check, Task(b[j]))
	}
	return learn, check
}

func TestTripletsAreTheNearest(t *testing.T) {
	l := Task{Points: []float64{0, 1, 3, 10, 11, 2.5}, Classes: []int{0, 0, 0, 1, 1, 1}}
	pairs, triplets := neighborhoods(l, 1, 2, 1)
	want := []triplet{
		{0, 1, 5}, {0, 2, 5}, {1, 0, 5}, {1, 2, 5}, {2, 1, 5}, {2, 0, 5},
		{3, 4, 2}, {3, 5, 2}, {4, 3, 2}, {4, 5, 2}, {5, 3, 2}, {5, 4, 2},
	}
	if len(pairs) != len(want) || len(triplets) != len(want) {
		t.Fatalf("%d pairs, %d triplets", len(pairs), len(triplets))
	}
	for i, w := range want {
		if triplets[i] != w || pairs[i] != [2]int{w.point, w.friend} {
			t.Errorf("triplet %d is %v, want %v", i, triplets[i], w)
		}
	}
	if _, triplets = neighborhoods(l, 1, 2, 2); len(triplets) != 2*len(want) {
		t.Errorf("%d triplets with two impostors", len(triplets))
	}
}

// TestMarginsAreTheirDefinition compares the matrix with differences of squared
// distances, and the objective with (5.3)'s.
func TestMarginsAreTheirDefinition(t *testing.T) {
	tasks, _ := related(1, 2, 12, 0, 5)
	const d = 5
	c := Config{Neighbors: 2, Impostors: 2}
	p, err := Problem(tasks, d, c)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 0))
	x := make([]float64, 3*d*d)
	for j := range 3 {
		for range 3 {
			v := make([]float64, d)
			for k := range v {
				v[k] = r.NormFloat64()
			}
			for k := range d {
				for l := range d {
					x[j*d*d+k*d+l] += 0.1 * v[k] * v[l]
				}
			}
		}
	}
	m := Metrics{Dim: d, Shared: x[:d*d], Own: [][]float64{x[d*d : 2*d*d], x[2*d*d:]}}
	square := func(task, u, v int) float64 {
		s, metric := 0.0, m.Task(task)
		for k := range d {
			for l := range d {
				s += (tasks[task].Points[u*d+k] - tasks[task].Points[v*d+k]) * metric[k*d+l] * (tasks[task].Points[u*d+l] - tasks[task].Points[v*d+l])
			}
		}
		return s
	}
	z := make([]float64, len(p.Losses))
	for i := range z {
		for _, j := range p.A.Blocks(i) {
			z[i] += p.A.Dot(i, j, x[j*d*d:(j+1)*d*d])
		}
	}
	i, want := 0, 0.0
	for j, l := range tasks {
		pairs, triplets := neighborhoods(l, d, 2, 2)
		for _, p := range pairs {
			want += square(j, p[0], p[1])
		}
		for _, tr := range triplets {
			margin := square(j, tr.point, tr.impostor) - square(j, tr.point, tr.friend)
			if math.Abs(z[i]-margin) > 1e-10*(1+math.Abs(margin)) {
				t.Fatalf("row %d is %v, want %v", i, z[i], margin)
			}
			want += loss.SmoothedHinge{}.Value([]float64{margin}, 1)
			i++
		}
	}
	want /= float64(i)
	for k, v := range x {
		switch {
		case k >= d*d:
			want += 0.1 / 2 * v * v
		case k%(d+1) == 0:
			want += 0.01 / 2 * (v - 1) * (v - 1)
		default:
			want += 0.01 / 2 * v * v
		}
	}
	got := 0.0
	for i, l := range p.Losses {
		got += l.Value(z[i:i+1]) / float64(len(z))
	}
	for j, r := range p.Regularizers {
		got += r.Value(x[j*d*d : (j+1)*d*d])
	}
	if math.Abs(got-want) > 1e-10*want {
		t.Errorf("the objective is %v, want %v", got, want)
	}
	u, y := make([]float64, len(x)), make([]float64, len(z))
	for i := range y {
		y[i] = r.NormFloat64()
	}
	for i, v := range y {
		for _, j := range p.A.Blocks(i) {
			p.A.Add(u[j*d*d:(j+1)*d*d], i, j, v)
		}
	}
	var left, right float64
	for i, v := range y {
		left += v * z[i]
	}
	for k, v := range u {
		right += v * x[k]
	}
	if math.Abs(left-right) > 1e-9*math.Abs(left) {
		t.Errorf("⟨y, Ax⟩ is %v, and ⟨Aᵀy, x⟩ %v", left, right)
	}
}

// errorsOf returns the part of the test points, over all tasks, that 3 nearest
// neighbours get wrong.
func errorsOf(train, test []Task, dim int, metric func(task int) []float64) float64 {
	wrong, all := 0, 0
	for j := range train {
		for i, class := range Classify(train[j], dim, 3, metric(j), test[j].Points) {
			if class != test[j].Classes[i] {
				wrong++
			}
			all++
		}
	}
	return float64(wrong) / float64(all)
}

func TestManyMetricsBeatOneAndNone(t *testing.T) {
	seeds := uint64(1)
	if long {
		seeds = 5
	}
	for seed := range seeds {
		const dim = 8
		train, test := related(seed, 4, 50, 150, dim)
		learn := func(c Config) *Metrics {
			solver := optim.Config{Dual: math.MaxInt, Relative: 1e-3, Passes: 300}
			c, err := choosePenalties(context.Background(), train, dim, c, solver)
			if err != nil {
				t.Fatal(err)
			}
			m, s, err := Learn(context.Background(), train, dim, c, solver)
			if err != nil || !s.Reached {
				t.Fatalf("%+v: gap %v, %v", c, s.Relative, err)
			}
			return m
		}
		none := errorsOf(train, test, dim, func(int) []float64 { return nil })
		single := 1.0 // with the penalty that is the best for the test points
		for _, penalty := range []float64{0.01, 0.1, 1} {
			single = min(single, errorsOf(train, test, dim, learn(Config{Single: true, Shared: penalty}).Task))
		}
		multi := errorsOf(train, test, dim, learn(Config{}).Task)
		t.Logf("wrong: Euclidean %.3f, one metric %.3f, many metrics %.3f", none, single, multi)
		if !(multi < 0.5*min(single, none)) {
			t.Errorf("seed %d: wrong are %v with Euclidean, %v with one and %v with many metrics", seed, none, single, multi)
		}
	}
}

// TestPenaltiesAreChosenByRowsHeldOut compares the counts that the choice rests on
// with plain loops, and the choice with the default.
func TestPenaltiesAreChosenByRowsHeldOut(t *testing.T) {
	const dim = 5
	tasks, _ := related(2, 3, 25, 0, dim)
	ctx, solver := context.Background(), optim.Config{Relative: 1e-2, Primal: 2, Dual: 5, Passes: 40}
	h := newHeldOut(tasks, dim, solver)
	times := map[float64]int{} // that a row, by its first coordinate, is to be checked
	for part := range folds {
		for j, l := range tasks {
			if learn, check := h.learn[part][j], h.check[part][j]; len(learn.Classes)+len(check.Classes) != len(l.Classes) || len(check.Classes) < 7 || len(check.Classes) > 9 {
				t.Errorf("part %d of task %d has %d rows to learn from and %d to check", part, j, len(learn.Classes), len(check.Classes))
			}
			for i := 0; i < len(h.check[part][j].Points); i += dim {
				times[h.check[part][j].Points[i]]++
			}
		}
	}
	if len(times) != 75 {
		t.Errorf("%d rows are checked", len(times))
	}
	wrong := func(c Config) (n int) {
		for part := range folds {
			m, _, err := Learn(ctx, h.learn[part], dim, c, solver)
			if err != nil {
				t.Fatal(err)
			}
			for j, check := range h.check[part] {
				learn, metric := h.learn[part][j], m.Task(j)
				distance := func(i, k int) (s float64) {
					for a := range dim {
						for b := range dim {
							s += (check.Points[i*dim+a] - learn.Points[k*dim+a]) * metric[a*dim+b] * (check.Points[i*dim+b] - learn.Points[k*dim+b])
						}
					}
					return s
				}
				for i, class := range check.Classes {
					order := make([]int, len(learn.Classes))
					for k := range order {
						order[k] = k
					}
					slices.SortFunc(order, func(k, l int) int { return cmp.Compare(distance(i, k), distance(i, l)) })
					for _, k := range order[:3] {
						if learn.Classes[k] != class {
							n++
						}
					}
				}
			}
		}
		return n
	}
	first := Config{Neighbors: 3, Impostors: 1, Shared: 0.01, Own: 0.1}
	got, err := h.errors(ctx, first)
	if err != nil || got != wrong(first) {
		t.Errorf("%d neighbours are wrong, want %d, %v", got, wrong(first), err)
	}
	chosen, err := choosePenalties(ctx, tasks, dim, Config{}, solver)
	if err != nil || wrong(chosen) > got || chosen == first {
		t.Errorf("%+v has %d wrong neighbours and the default %d, %v", chosen, wrong(chosen), got, err)
	}
	given := Config{Shared: 0.5, Own: 7}
	if c, err := choosePenalties(ctx, tasks, dim, given, solver); err != nil || c.Shared != 0.5 || c.Own != 7 {
		t.Errorf("%+v in place of what was given, %v", c, err)
	}
	given.Own = 0
	if c, err := choosePenalties(ctx, tasks, dim, given, solver); err != nil || c.Shared != 0.5 || !slices.Contains(candidates[:], c.Own) {
		t.Errorf("%+v in place of what was given, %v", c, err)
	}
	few := []Task{{Points: []float64{0, 1, 3}, Classes: []int{0, 0, 1}}}
	if c, err := choosePenalties(ctx, few, 1, Config{}, solver); err != nil || c.Shared != 0.01 || c.Own != 0.1 {
		t.Errorf("%+v of three rows, %v", c, err)
	}
}

func TestClassifyByTheEuclideanMetric(t *testing.T) {
	train, test := related(3, 1, 40, 40, 4)
	identity := []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
	plain := Classify(train[0], 4, 3, nil, test[0].Points)
	for i, class := range Classify(train[0], 4, 3, identity, test[0].Points) {
		if class != plain[i] {
			t.Errorf("query %d is of class %d by the identity, and %d by none", i, class, plain[i])
		}
	}
	l := Task{Points: []float64{0, 1, 2, 5}, Classes: []int{7, 8, 8, 7}}
	if got := Classify(l, 1, 3, nil, []float64{0.1, 4}); got[0] != 8 || got[1] != 8 {
		t.Errorf("classes %v", got)
	}
	if got := Classify(l, 1, 2, nil, []float64{0.1}); got[0] != 7 {
		t.Errorf("of equally many, the class is %v and not that of the nearest", got)
	}
}

func TestBadTasksAreErrors(t *testing.T) {
	for what, tasks := range map[string][]Task{
		"no tasks":  nil,
		"one class": {{Points: []float64{1, 2}, Classes: []int{0, 0}}},
		"ragged":    {{Points: []float64{1, 2, 3}, Classes: []int{0, 1}}},
		"NaN":       {{Points: []float64{1, math.NaN(), 2, 3}, Classes: []int{0, 0, 1, 1}}},
	} {
		if _, _, err := Learn(context.Background(), tasks, 1, Config{}, optim.Config{}); err == nil {
			t.Errorf("%s: no error", what)
		}
		if _, err := choosePenalties(context.Background(), tasks, 1, Config{}, optim.Config{}); err == nil && (what == "ragged" || what == "NaN") {
			t.Errorf("%s: no error of the choice of penalties", what)
		}
	}
}
