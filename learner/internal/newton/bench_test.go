package newton

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// BenchmarkStep is a step on a full window, which takes the same time for any number
// of features. With -cpu 1,2 it shows what a second core is good for, on an idle machine.
func BenchmarkStep(b *testing.B) {
	for _, size := range []int{256, 1024, 4096} {
		b.Run(fmt.Sprintf("features=%d", size), func(b *testing.B) {
			benchmarkStep(b, size, 20, target.NewHead(loss.Logistic{}, target.Classification, 2, 1))
		})
	}
	for _, test := range []struct{ dim, classes int }{{54, 7}, {784, 10}, {16, 26}} {
		b.Run(fmt.Sprintf("inputs=%d/classes=%d", test.dim, test.classes), func(b *testing.B) {
			benchmarkStep(b, 256, test.dim, target.NewHead(loss.Softmax{}, target.Classification, test.classes, 1))
		})
	}
}

func benchmarkStep(b *testing.B, size, dim int, h target.Head) {
	w := withRows(h, dim, size, windowRows, ensemble)
	b.ResetTimer()
	for range b.N {
		w.step()
		w.scratch.team.Rest() // as between two mini-batches
	}
}

// withRows returns an engine with that many features at most, whose window has some rows.
func withRows(h target.Head, dim, size, rows int, members []member) *newton {
	const minibatch = 32
	w := newPlanned(engine.Problem{
		Options: engine.Options{BlockSize: blockSize, MaxFeatures: size, Minibatch: minibatch, Seed: 1, Effort: rowVisitsPerExample},
		Head:    h,
		Dim:     dim, Prior: make([]float64, h.Scores()),
		Fit: &warmup.Fit{Kernel: kernel.Gaussian{Scale: 4}, Lambda: 1e-3, TopEigenvalue: 1},
	}, plan{length: windowRows, visits: rowVisitsPerExample, members: members})
	rng := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < rows; from += minibatch {
		var p engine.Minibatch
		for range min(minibatch, rows-from) {
			x := make([]float32, dim)
			for j := range x {
				x[j] = float32(rng.NormFloat64())
			}
			y := target.Label{Task: target.Classification}
			if x[0]*x[1] > 0 {
				y.Class = 1 + rng.IntN(h.Classes-1)
			}
			p.X, p.Labels, p.Weights = append(p.X, x...), append(p.Labels, y), append(p.Weights, 1)
		}
		p.Scores = w.Score(nil, p.X, len(p.Labels))
		w.push(&p)
	}
	return w
}
