package learner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/descent"
)

// TestEveryKernelKeepsThePromises with every algorithm: the first kernel of a family,
// a sum and a product, with a scale and with the one that the warm-up chooses.
func TestEveryKernelKeepsThePromises(t *testing.T) {
	for _, a := range algorithms {
		names := []string{"gaussian:2.5+laplacian:4", "gaussian:1*laplacian:5"}
		for _, f := range features.Kernels {
			names = append(names, f.Examples[0])
		}
		for i, name := range names {
			k, err := features.ParseKernel(name)
			if err != nil {
				t.Fatal(err)
			}
			c := Config{Algorithm: a.Name, Direction: descent.Directions[i%len(descent.Directions)], BlockSize: 8, MaxFeatures: 24, Minibatch: 29, Kernel: k.String()}
			configs := []Config{c}
			if s, ok := k.(features.Scaled); ok {
				c.Kernel = s.WithLengthScale(0).String()
				configs = append(configs, c)
			}
			for _, c := range configs {
				t.Run(a.Name+"/"+c.Kernel, func(t *testing.T) {
					t.Parallel()
					keepsThePromises(t, stream{c.Kernel, c, 3, numeric})
				})
			}
		}
	}
}

// TestTwoKernelsAreServedAndRestored: a learner with a second kernel goes on from
// its state with the same bits, and a model predicts what it does.
func TestTwoKernelsAreServedAndRestored(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows, x := new(Batch), make([]float64, 12)
	rows.Reset(len(x))
	for range 900 { // of which two columns matter, beside much noise
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		rows.Append(x, Label{Task: Regression, Value: math.Sin(2*x[0])*x[1] + rng.NormFloat64()}, 1)
	}
	config := Config{BlockSize: 8, MaxFeatures: 64}
	l := newLearner(t, config)
	learn(l, rows.Slice(0, 800), 100)
	if l.fit.Second == nil {
		t.Fatal("no second kernel")
	}
	next := rows.Slice(800, 900)
	m, err := NewModel(l.State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Predict(next).Values, l.Predict(next).Values; !slices.Equal(got[:len(want)], want) {
		t.Error("the served model predicts something else")
	}
	r := restored(t, config, l.State())
	learn(l, next, 100)
	learn(r, next, 100)
	if hash(l.State()) != hash(r.State()) {
		t.Error("the restored learner went on to another state")
	}
}
