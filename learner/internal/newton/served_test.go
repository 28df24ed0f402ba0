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

// Averages and shares change every second or fourth mini-batch of 32 rows, and what has not changed
// is not computed again: after every mini-batch, predictions are those of all coefficients as they
// are, also of new blocks and of trees.
func TestPredictionsAreOfTheCoefficientsAsTheyAre(t *testing.T) {
	for _, h := range heads {
		w := planted(h)
		w.Options.Lean, w.Options.Minibatch, w.Options.MaxFeatures = true, 32, 4*w.Options.MaxFeatures
		rng := rand.New(rand.NewPCG(5, 6))
		x := slices.Clone(w.window.x[:w.Dim*100])
		for _, rows := range []int{w.window.rows, 2048, windowRows} {
			leanRows(w, rng, max(0, rows-32-w.window.rows)/32)
			every := int64(4)
			if rows < 2048 {
				every = 2
			}
			for i := range 12 {
				if i == 7 {
					w.Options.MaxFeatures *= 2 // room for new blocks
					w.next = w.bank.Blocks()
				}
				averages, leaves, mix := slices.Clone(w.averageCoef), slices.Clone(w.forest.averageCoef), slices.Clone(w.mix)
				leanRows(w, rng, 1)
				if i == 0 {
					continue // these rows may be the first ones of another schedule
				}
				if changes := w.batches%every == 0; changes == slices.Equal(averages, w.averageCoef[:len(averages)]) || changes == slices.Equal(leaves, w.forest.averageCoef) || changes == slices.Equal(mix, w.mix) {
					t.Fatalf("%v, %d rows, mini-batch %d: averages and shares change at the wrong time", h.Loss, rows, w.batches)
				}
				got := w.Score(nil, x, 100)
				w.serveAll(func(from, to int) {})
				w.packed.Set(w.candidateCoef, 0, len(w.candidateCoef)/w.Columns(), w.Columns())
				if want := w.Score(nil, x, 100); !slices.Equal(got, want) {
					t.Fatalf("%v, %d rows, mini-batch %d: the predictions are not those of the coefficients", h.Loss, rows, w.batches)
				}
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

// The averages and shares of a model with a mixture, and of its machines, change after a sixteenth
// of the window's rows while it grows, at most 128, and then after 128. Without a mixture they
// change with every mini-batch.
func TestAveragesChangeMoreOftenWhileTheWindowGrows(t *testing.T) {
	w := planted(heads[0])
	machine := NewShort(w.Problem).(*newton)
	for _, test := range []struct {
		rows, minibatch int
		want            int64
	}{
		{64, 32, 1}, {1023, 32, 1}, {1024, 32, 2}, {2047, 32, 2}, {2048, 32, 4}, {windowRows, 32, 4},
		{1600, 1, 64}, {2048, 1, 128}, {2048, 10, 8}, {windowRows, 10, 12}, {windowRows, 1024, 1},
	} {
		for _, e := range []*newton{w, machine} {
			e.window.rows, e.Options.Minibatch = test.rows, test.minibatch
			for _, e.Options.Lean = range []bool{true, false} {
				want := test.want
				switch {
				case !e.Options.Lean:
					want = 1
				case e == machine && test.rows >= shortRows:
					want = int64(max(1, 128/test.minibatch))
				}
				if got := e.servedEvery(); got != want {
					t.Errorf("%d rows of %d, mini-batches of %d, mixture %v: they change every %d mini-batches, want %d", test.rows, e.length, test.minibatch, e.Options.Lean, got, want)
				}
			}
		}
	}
}
