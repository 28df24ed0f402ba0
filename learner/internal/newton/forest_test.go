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

// planted returns an engine whose trees have grown and have been learned for a while.
func planted(h target.Head) *newton { return plantedTrees(h, 5) }

func plantedTrees(h target.Head, trees int) *newton {
	const dim, minibatch = 3, 32
	w := newEngine(engine.Problem{
		Options: engine.Options{BlockSize: 4, MaxFeatures: 8, Minibatch: minibatch, Seed: 1, Forest: trees, Effort: rowVisitsPerExample},
		Head:    h, Dim: dim, Prior: make([]float64, h.Scores()),
		Fit: &warmup.Fit{Kernel: kernel.Gaussian{Scale: 2}, Lambda: 1e-3, TopEigenvalue: 1},
	})
	rng := rand.New(rand.NewPCG(1, 2))
	for range growRows/minibatch + 8 {
		var p engine.Minibatch
		for range minibatch {
			x := []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
			y := target.Label{Task: h.Task, Value: math.Floor(float64(2*x[0])) + float64(x[1])}
			for range h.Targets() - 1 {
				y.More = append(y.More, float64(x[2]))
			}
			if h.Task == target.Classification {
				y.Class = min(h.Classes-1, int(math.Abs(float64(2*x[0])+rng.NormFloat64())))
			}
			p.X, p.Labels, p.Weights = append(p.X, x...), append(p.Labels, y), append(p.Weights, 0.5+rng.Float64())
		}
		p.Scores = w.Score(nil, p.X, minibatch)
		w.Learn(&p)
	}
	return w
}

// objective is the penalised loss of a member on its rows, with its leaves alone penalised.
func (w *newton) objective(c int) float64 {
	m, k, e, v := w.forest.members[c], w.Head.Scores(), len(w.members), &w.window
	sum, total, f := 0.0, 0.0, v.scores(e*k)
	for i := range v.rows {
		if v.age(i) < w.members[m].rows {
			sum += v.weights[i] * w.Head.Loss.Value(f[(i*e+m)*k:(i*e+m+1)*k], v.targets[i])
			total += v.weights[i]
		}
	}
	squares := 0.0
	own := len(w.forest.members) * k
	for i := c * k; i < len(w.forest.coef); i += own {
		for _, u := range w.forest.coef[i : i+k] {
			squares += u * u
		}
	}
	return sum/total + w.leafPenalties(c).trees*squares/2
}

// The last tree that changed is at the minimum of the penalised square loss: the
// derivative in each of its coefficients is 0.
func TestTreeIsAtItsMinimum(t *testing.T) {
	w := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1))
	if !w.gradient() {
		t.Fatal("no rows")
	}
	w.stepForest()
	last, e, v := (w.forest.next+w.forest.trees.Trees()-1)%w.forest.trees.Trees(), len(w.members), &w.window
	from, to := w.forest.trees.Tree(last)
	for c, m := range w.forest.members {
		slope := make([]float64, to-from)
		for l := range slope {
			slope[l] = w.leafPenalties(c).trees * w.forest.coef[(from+l)*len(w.forest.members)+c]
		}
		for i := range v.rows {
			if v.age(i) < w.members[m].rows {
				slope[w.forest.of[last*windowRows+i]] += v.weights[i] / w.scratch.total[m] * (v.f[place(i, m, e)] - v.targets[i])
			}
		}
		for l, s := range slope {
			if math.Abs(s) > 1e-12 {
				t.Errorf("member %d: the derivative in leaf %d is %v", m, l, s)
			}
		}
	}
}

// Steps in trees do not increase the penalised loss, and the stored scores remain those
// of the members.
func TestTreesDecreaseTheLoss(t *testing.T) {
	for _, h := range []target.Head{
		target.NewHead(loss.Square{}, target.Regression, 0, 1),
		target.NewHead(loss.Logistic{}, target.Classification, 2, 1),
		target.NewHead(loss.Softmax{}, target.Classification, 4, 1),
	} {
		w := planted(h)
		k, e := h.Scores(), len(w.members)
		for c := range w.forest.members {
			for i := range w.forest.coef {
				w.forest.coef[i] = 0
			}
			w.serve()
			scores := w.Score(nil, w.window.x, w.window.rows)
			f := w.window.scores(e * k)
			for i := range f {
				f[i] = scores[i/(e*k)*w.Columns()+k+i%(e*k)]
			}
			w.window.setScores(f, e*k)
			before := w.objective(c)
			for step := range 20 {
				w.stepForest()
				after := w.objective(c)
				if after > before+1e-9 {
					t.Errorf("%v: step %d takes member %d from %v to %v", h.Loss, step, c, before, after)
				}
				before = after
			}
		}
	}
	w := planted(target.NewHead(loss.Softmax{}, target.Classification, 4, 1))
	k, e := w.Head.Scores(), len(w.members)
	scores := w.Score(nil, w.window.x, w.window.rows)
	for i, f := range w.window.scores(e * k) {
		if got := scores[i/(e*k)*w.Columns()+k+i%(e*k)]; math.Abs(got-f) > 1e-4 {
			t.Fatalf("row %d: a member has the score %v, stored is %v", i/(e*k), got, f)
		}
	}
}
