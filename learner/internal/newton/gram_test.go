package newton

import (
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

// A Gram matrix lasts for a number of steps in its block, which is larger with Options.Fitting.
// There it ends sooner, and again and again, while the rows move away from those it is of.
func TestGramMatricesLastAsLongAsTheyFit(t *testing.T) {
	for _, fitting := range []bool{false, true} {
		w := newPlanned(engine.Problem{
			Options: engine.Options{BlockSize: 8, MaxFeatures: 8, Minibatch: 32, Seed: 1, Fitting: fitting},
			Dim:     1, Prior: []float64{0},
			Head: target.Head{Task: target.Regression, Loss: loss.Square{}, Scales: []target.Scale{{Deviation: 1}}},
			Fit:  &warmup.Fit{Kernel: kernel.Gaussian{Scale: 2}, Lambda: 1e-4, TopEigenvalue: 1},
		}, plan{length: gramRows, visits: gramRows / 32, members: []member{{1, gramRows, 1}}})
		rng := rand.New(rand.NewPCG(1, 2))
		// lasted returns how many steps each Gram matrix of the only block lasted in that many
		// mini-batches around these places, one step in each.
		lasted := func(batches int, places func(batch int) float64) (steps []float64) {
			for i := range batches {
				var p engine.Minibatch
				for range 32 {
					x := float32(places(i) + rng.NormFloat64())
					p.X, p.Weights = append(p.X, x), append(p.Weights, 1)
					p.Labels = append(p.Labels, target.Label{Task: target.Regression, Value: float64(x * x)})
				}
				p.Scores = w.Score(nil, p.X, 32)
				before := slices.Clone(w.grams)
				w.Learn(&p)
				if len(before) > 0 && w.grams[0].visits == 1 {
					steps = append(steps, before[0].visits)
				}
			}
			return steps
		}
		still := func(int) float64 { return 0 }
		lasted(gramRows/32+fittingVisits, still)
		want := w.gramVisits()
		if steps := lasted(100, still); len(steps) != 100/int(want) || slices.Min(steps) != want {
			t.Errorf("fitting %v: Gram matrices of rows that do not move lasted for %v steps, want %v", fitting, steps, want)
		}
		steps := lasted(64, func(batch int) float64 { return float64(batch) / 8 })
		if most := 64 / maxGramVisits; fitting != (len(steps) > most) {
			t.Errorf("fitting %v: there were %d Gram matrices of rows that move, in 64 steps", fitting, len(steps))
		}
	}
}

// The rows of a Gram matrix are spread over the window: there are as many in each part of it.
func TestGramMatricesAreOfTheWholeWindow(t *testing.T) {
	for _, rows := range []int{gramRows, gramRows + 31, 3 * gramRows, 8 * gramRows} {
		const few = gramRows / vec.Run
		runs := appendSpread(nil, rows)
		for i, r := range runs {
			part := float64(rows) / few
			if at := float64(i) * part; r.rows != vec.Run || float64(r.from) > at || float64(r.from) <= at-2*vec.Run || r.from+r.rows > rows {
				t.Errorf("%d rows: run %d is %v, want it at about %v", rows, i, r, at)
			}
			if i > 0 && r.from < runs[i-1].from+vec.Run {
				t.Errorf("%d rows: run %d begins within the one before", rows, i)
			}
		}
		if len(runs) != few {
			t.Errorf("%d rows: %d runs, want %d", rows, len(runs), few)
		}
	}
}
