package newton

import (
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// TestThinEnginesTakeFewerStepsOnceTheWindowIsFull, and all of them again when they may not.
func TestThinEnginesTakeFewerStepsOnceTheWindowIsFull(t *testing.T) {
	const minibatch = 32
	w := NewShort(engine.Problem{
		Options: engine.Options{BlockSize: 2, MaxFeatures: 1 << 12, Minibatch: minibatch, Seed: 1, Effort: rowVisitsPerExample},
		Head:    target.Head{Task: target.Regression, Loss: loss.Square{}, Scales: []target.Scale{{Deviation: 1}}}, Dim: 1, Prior: []float64{0},
		Fit: &warmup.Fit{Kernel: kernel.Gaussian{Scale: 2}, Lambda: 1e-3, TopEigenvalue: 1},
	}).(*newton)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 64 {
		var p engine.Minibatch
		for range minibatch {
			p.X, p.Weights = append(p.X, float32(rng.NormFloat64())), append(p.Weights, 1)
			p.Labels = append(p.Labels, target.Label{Task: target.Regression, Value: rng.NormFloat64()})
		}
		const thinning = 4
		if w.Thin(1); i < 32 && i%8 != 7 {
			w.Thin(thinning)
		}
		before, full := w.bank.Blocks(), w.window.rows == w.length
		p.Scores = w.Score(nil, p.X, minibatch)
		w.Learn(&p)
		steps := w.bank.Blocks() - before // each in a new block
		const all = minibatch * shortVisits / shortRows
		switch thin := i < 32 && i%8 != 7; {
		case thin && full && steps != all/thinning, !thin && full && steps != all, i > 2 && !full && steps < all:
			t.Fatalf("mini-batch %d takes %d steps, thin: %v, window full: %v", i, steps, thin, full)
		}
	}
}
