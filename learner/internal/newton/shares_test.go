package newton

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

func TestSharesAreOfTheLastRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rows = 100
	w := newPlanned(engine.Problem{
		Options: engine.Options{BlockSize: 2, MaxFeatures: 2, Seed: 1},
		Head:    target.NewHead(loss.Logistic{}, target.Classification, 2, 1), Dim: 1, Prior: []float64{0},
		Fit: &warmup.Fit{Kernel: kernel.Gaussian{Scale: 2}, Lambda: 1e-3, TopEigenvalue: 1},
	}, plan{length: rows, visits: 1, members: []member{{1, rows, 1}, {1, 41, 1}}})
	for _, test := range []struct {
		name     string
		rows, at int
		weight   func() float64
	}{
		{"some rows of weight 1", 70, 0, func() float64 { return 1 }},
		{"a full ring of weight 1", rows, 37, func() float64 { return 1 }},
		{"some rows with weights", 70, 0, func() float64 { return float64(r.IntN(3)) }},
		{"a full ring with weights", rows, 37, func() float64 { return float64(r.IntN(3)) }},
		{"a full ring of weight 1 after one with weights", rows, 50, func() float64 { return 1 }},
		{"a ring that goes on", rows, 82, func() float64 { return 1 }},
		{"fewer members", rows, 82, func() float64 { return 1 }},
		{"a new window", 70, 0, func() float64 { return 1 }},
	} {
		v := &w.window
		v.rows, v.at, v.weights, v.weighted = test.rows, test.at, nil, 0
		if test.name == "fewer members" {
			w.members = w.members[1:]
		}
		for i := range v.rows {
			v.weights = append(v.weights, 1)
			v.setWeight(i, test.weight())
		}
		if !w.shares() {
			t.Fatalf("%s: there are no shares", test.name)
		}
		g, panels := &w.scratch.gradient, vec.Panels(v.rows, vec.Lanes)
		for m, who := range w.members {
			total := 0.0
			for i, weight := range v.weights {
				if v.age(i) < who.rows {
					total += weight
				}
			}
			active := make([]bool, panels)
			for i := range panels * vec.Lanes {
				share, divisor := 0.0, 1.0
				if i < v.rows && v.age(i) < who.rows && v.weights[i] > 0 {
					share = v.weights[i] / total
					divisor, active[i/vec.Lanes] = share, true
				}
				if at := m*panels*vec.Lanes + i; g.share[at] != share || g.divisor[at] != divisor {
					t.Fatalf("%s: row %d has the share %v of member %d, divided by %v, want %v and %v", test.name, i, g.share[at], m, g.divisor[at], share, divisor)
				}
			}
			for p, want := range active {
				if g.active[m*panels+p] != want {
					t.Errorf("%s: panel %d of member %d is active: %v, want %v", test.name, p, m, !want, want)
				}
			}
		}
	}
}

// The scores of a member in rows that it no longer learns from are of no use: with others there,
// what is learned next is the same.
func TestScoresOfRowsThatAMemberHasLeft(t *testing.T) {
	for _, h := range heads {
		w, other := planted(h), planted(h)
		columns := h.Scores() * len(w.members)
		for _, w := range []*newton{w, other} {
			w.Options.Lean, w.Options.Minibatch = true, 32
			leanRows(w, rand.New(rand.NewPCG(7, 8)), 80)
		}
		left := 0
		for i := range w.window.rows / vec.Run * vec.Run {
			n := other.scratch.gradient.inUse[i/vec.Run]
			for c := n; c < columns; c++ {
				left++
				other.window.f[place(i, c, columns)] = math.NaN()
			}
		}
		if left == 0 {
			t.Fatalf("%v: every member learns from every row", h.Loss)
		}
		for _, w := range []*newton{w, other} {
			leanRows(w, rand.New(rand.NewPCG(9, 10)), 20)
		}
		x := w.window.x[:w.Dim*100]
		if got, want := other.Score(nil, x, 100), w.Score(nil, x, 100); !slices.Equal(got, want) {
			t.Fatalf("%v: the predictions depend on scores of rows that a member has left", h.Loss)
		}
	}
}
