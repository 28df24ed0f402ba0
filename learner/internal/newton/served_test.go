package newton

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// leanRows has w learn some mini-batches of rows like those of planted.
func leanRows(w *newton, rng *rand.Rand, batches int) {
	for range batches {
		var p engine.Minibatch
		for range w.Options.Minibatch {
			sum := 0.0
			for range w.Dim {
				v := rng.NormFloat64()
				p.X, sum = append(p.X, float32(v)), sum+v
			}
			y := target.Label{Task: w.Head.Task, Value: math.Sin(sum)}
			if w.Head.Task == target.Classification {
				y.Class = int(math.Abs(sum)) % w.Head.Classes
			}
			p.Labels, p.Weights = append(p.Labels, y), append(p.Weights, 1)
		}
		p.Scores = w.Score(nil, p.X, w.Options.Minibatch)
		w.Learn(&p)
	}
}

// Once the window is full, averages and shares change every fourth mini-batch of 32 rows, and
// what has not changed is not computed again: after every mini-batch, predictions are those of
// all coefficients as they are, also of new blocks and of trees.
func TestPredictionsAreOfTheCoefficientsAsTheyAre(t *testing.T) {
	for _, h := range heads {
		w := planted(h)
		w.Options.Lean, w.Options.Minibatch, w.Options.MaxFeatures = true, 32, 4*w.Options.MaxFeatures
		rng := rand.New(rand.NewPCG(5, 6))
		leanRows(w, rng, (windowRows-w.window.rows)/32-1)
		if w.servedEvery() != 1 {
			t.Fatalf("%v: averages change every %d mini-batches before the window is full", h.Loss, w.servedEvery())
		}
		x := w.window.x[:w.Dim*100]
		for i := range 12 {
			if i == 7 {
				w.Options.MaxFeatures *= 2 // room for new blocks
				w.next = w.bank.Blocks()
			}
			averages, leaves, mix := slices.Clone(w.averageCoef), slices.Clone(w.forest.averageCoef), slices.Clone(w.mix)
			leanRows(w, rng, 1)
			if i == 0 {
				continue // the window has become full
			}
			if changes := w.batches%4 == 0; changes == slices.Equal(averages, w.averageCoef[:len(averages)]) || changes == slices.Equal(leaves, w.forest.averageCoef) || changes == slices.Equal(mix, w.mix) {
				t.Fatalf("%v, mini-batch %d: averages and shares change at the wrong time", h.Loss, w.batches)
			}
			got := w.Score(nil, x, 100)
			w.serveAll(func(from, to int) {})
			w.packed.Set(w.candidateCoef, 0, len(w.candidateCoef)/w.Columns(), w.Columns())
			if want := w.Score(nil, x, 100); !slices.Equal(got, want) {
				t.Fatalf("%v, mini-batch %d: the predictions are not those of the coefficients", h.Loss, w.batches)
			}
		}
		if w.resetDiverged(nil); w.changed.all {
			t.Fatalf("%v: a member has diverged", h.Loss)
		}
		for w.batches%4 != 0 {
			leanRows(w, rng, 1)
		}
		w.intercept[0] = math.NaN()
		leanRows(w, rng, 1)
		got := w.Score(nil, x, 100)
		w.serveAll(func(from, to int) {})
		if want := w.Score(nil, x, 100); !slices.Equal(got, want) || slices.ContainsFunc(got, math.IsNaN) {
			t.Fatalf("%v: the predictions after a reset are not those of the coefficients", h.Loss)
		}
	}
}

// A new block is served, too, if a step ends early because no row has a weight.
func TestBlocksOfRowsWithoutWeightAreServed(t *testing.T) {
	w := planted(heads[0])
	w.Options.Lean, w.Options.Minibatch = true, 32
	rng := rand.New(rand.NewPCG(5, 6))
	leanRows(w, rng, (windowRows-w.window.rows)/32)
	for w.batches%4 != 0 {
		leanRows(w, rng, 1)
	}
	for i := range w.window.weights {
		w.window.setWeight(i, 0)
	}
	w.Options.MaxFeatures *= 2
	w.next = w.bank.Blocks()
	w.changed = changes{}
	for i := range w.candidateCoef[:cap(w.candidateCoef)] {
		w.candidateCoef[:cap(w.candidateCoef)][i] = float32(math.NaN())
	}
	w.serve()
	blocks := w.bank.Blocks()
	w.changed = changes{}
	w.step()
	w.serveChanged()
	if w.bank.Blocks() != blocks+1 {
		t.Fatalf("%d blocks, want %d", w.bank.Blocks(), blocks+1)
	}
	if slices.ContainsFunc(w.Score(nil, w.window.x[:w.Dim*10], 10), math.IsNaN) {
		t.Error("the new block has no coefficients")
	}
}
