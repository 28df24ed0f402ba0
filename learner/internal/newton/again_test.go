package newton

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// TestRowsLearnedAgainHaveTheirStepsAtTheEnd, if the engine is lean: one for four rows, on a
// window with all of them, or for eight if it is frugal, plain or not. Gram matrices are then those of two
// thirds of the rows at least.
func TestRowsLearnedAgainHaveTheirStepsAtTheEnd(t *testing.T) {
	const blocks = 8 * 32 / rowsAgain
	const minibatch, again, all = 32, 8, 40
	for _, test := range []struct {
		lean, frugal, plain bool
		steps               int
	}{{}, {true, false, false, blocks}, {true, true, false, 8 * 32 / lastRowsAgain}, {true, true, true, 8 * 32 / lastRowsAgain}} {
		lean := test.lean
		w := newEngine(engine.Problem{
			Options: engine.Options{BlockSize: 2, MaxFeatures: 2 * blocks, Minibatch: minibatch, Seed: 1, Effort: rowVisitsPerExample, Lean: lean, Frugal: test.frugal, Plain: test.plain},
			Head:    target.Head{Task: target.Regression, Loss: loss.Square{}, Scales: []target.Scale{{Deviation: 1}}}, Dim: 1, Prior: []float64{0},
			Fit: &warmup.Fit{Kernel: kernel.Gaussian{Scale: 2}, Lambda: 1e-3, TopEigenvalue: 1},
		})
		rng := rand.New(rand.NewPCG(1, 2))
		var x []float32
		shared := false // a Gram matrix, by steps on different rows
		for i := range all {
			p := engine.Minibatch{Again: i < again, More: i < again-1}
			for range minibatch {
				p.X, p.Weights = append(p.X, float32(rng.NormFloat64())), append(p.Weights, 1)
				p.Labels = append(p.Labels, target.Label{Task: target.Regression, Value: float64(p.X[len(p.X)-1])})
			}
			x = append(x, p.X...)
			p.Scores = w.Score(nil, p.X, minibatch)
			w.Learn(&p)
			has := w.bank.Blocks()
			switch {
			case lean && i < again-1 && has != 0, lean && i == again-1 && has != test.steps, !lean && i > 1 && i < again-1 && has == 0:
				t.Fatalf("lean: %v: after mini-batch %d there are %d blocks", lean, i, has)
			}
			if n := float64(w.window.rows); has > 0 {
				g := w.grams[(w.next+has-1)%has] // of the last step
				if !lean && g.rows != n || g.rows*gramGrowth < n {
					t.Fatalf("lean: %v: a step on %v rows has a Gram matrix of %v", lean, n, g.rows)
				}
				shared = shared || g.rows < n
			}
		}
		if !slices.Equal(w.window.x, x) {
			t.Errorf("lean: %v: the window does not have all rows", lean)
		}
		if shared != lean {
			t.Errorf("lean: %v: a Gram matrix is that of fewer rows: %v", lean, shared)
		}
		f := w.Score(nil, x[:1], 1)[0]
		if d := f - float64(x[0]); d*d > 0.01 {
			t.Errorf("lean: %v: %v is predicted for %v", lean, f, x[0])
		}
	}
}
