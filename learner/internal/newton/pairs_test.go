package newton

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// paired returns an engine that has learned a table of pairs of two categories.
func paired(h target.Head) *newton {
	const size, minibatch = 4, 32
	w := newEngine(engine.Problem{
		Options: engine.Options{BlockSize: 4, MaxFeatures: 8, Minibatch: minibatch, Seed: 1, Forest: 5, ForestTrial: true, ForestPairs: true, Effort: rowVisitsPerExample},
		Head:    h, Dim: 2 * size, Prior: make([]float64, h.Scores()),
		Fit: &warmup.Fit{Kernel: kernel.Gaussian{Scale: 2}, Lambda: 1e-3, TopEigenvalue: 1},
	})
	rng := rand.New(rand.NewPCG(1, 2))
	for range growRows/minibatch + 8 {
		var p engine.Minibatch
		for range minibatch {
			x, a, b := make([]float32, 2*size), rng.IntN(size), rng.IntN(size)
			x[a], x[size+b] = 1, 1
			y := target.Label{Task: h.Task, Value: float64((a+b)%3) + rng.NormFloat64()/4}
			for range h.Targets() - 1 {
				y.More = append(y.More, float64(a))
			}
			if h.Task == target.Classification {
				y.Class = (a + b) % h.Classes
			}
			p.X, p.Labels, p.Weights = append(p.X, x...), append(p.Labels, y), append(p.Weights, 1)
		}
		p.Scores = w.Score(nil, p.X, minibatch)
		w.Learn(&p)
	}
	return w
}

// The tree of a pair is at the minimum of the penalised square loss after each step, in both
// members that have it, and the scores that are stored are those of the members.
func TestTreeOfAPairIsAtItsMinimum(t *testing.T) {
	w := paired(target.NewHead(loss.Square{}, target.Regression, 0, 1))
	if w.forest.pairs != 1 || w.forest.trees.Trees() != 6 || w.members[w.forest.members[1]] != pairMembers[1] {
		t.Fatalf("%d pairs among %d trees, members %v", w.forest.pairs, w.forest.trees.Trees(), w.members)
	}
	e := len(w.members)
	scores := w.Score(nil, w.window.x[:w.window.rows*w.Dim], w.window.rows)
	for i, f := range w.window.scores(e) {
		if got := scores[i/e*w.Columns()+1+i%e]; math.Abs(got-f) > 1e-4 {
			t.Fatalf("row %d: member %d has the score %v, stored is %v", i/e, i%e, got, f)
		}
	}
	if !w.gradient() {
		t.Fatal("no rows")
	}
	w.stepForest()
	const pair = 5
	v, own := &w.window, len(w.forest.members)
	from, to := w.forest.trees.Tree(pair)
	for c, m := range w.forest.members {
		penalty := w.penalty(m, float64(v.rows)) * w.members[m].rho / (1 - w.members[m].rho) / pairShares[c] / float64(w.Options.MaxBlocks()*w.Options.BlockSize)
		slope := make([]float64, to-from)
		for l := range slope {
			slope[l] = penalty * w.forest.coef[(from+l)*own+c]
		}
		for i := range v.rows {
			slope[w.forest.of[pair*windowRows+i]] += v.weights[i] / w.scratch.total[m] * (v.f[place(i, m, e)] - v.targets[i])
		}
		for l, s := range slope {
			if math.Abs(s) > 1e-12 {
				t.Errorf("member %d: the derivative in leaf %d is %v", m, l, s)
			}
		}
		other, _ := w.forest.trees.Tree(pair - 1)
		if learned := w.forest.coef[other*own+c] != 0; learned != (pairShares[c] < 1) {
			t.Errorf("member %d: its trees that are of no pair were learned: %v", m, learned)
		}
	}
}

// If a forest with pairs is discarded, the members are those of a model without.
func TestDiscardedPairsLeaveTheUsualMembers(t *testing.T) {
	w := paired(target.NewHead(loss.Logistic{}, target.Classification, 2, 1))
	if w.forest.pairs == 0 {
		t.Fatal("there are no pairs")
	}
	w.discardForest()
	w.serve()
	if len(w.members) != len(ensemble) || w.forest.pairs != 0 || w.factors != 3 {
		t.Errorf("%d pairs, %d factors, members %v", w.forest.pairs, w.factors, w.members)
	}
	for m, who := range w.members {
		if who != ensemble[m] {
			t.Errorf("member %d is %v, want %v", m, who, ensemble[m])
		}
	}
}
