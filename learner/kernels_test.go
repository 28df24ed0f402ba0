package learner

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
)

// TestEveryKernelKeepsThePromises with every algorithm: the first kernel of a family,
// a sum and a product, with a scale and with the one that the warm-up chooses. Without
// -exhaustive, a kernel with features of its own takes one algorithm, and the warm-up
// chooses for two.
func TestEveryKernelKeepsThePromises(t *testing.T) {
	for at, a := range algorithms {
		names := []string{"gaussian:2.5+laplacian:4", "gaussian:1*laplacian:5"}
		for _, f := range kernel.All {
			name := f.Examples[0]
			if above := (Config{Kernel: name}).Above(); above != 0 && above != kernel.NonNegative {
				name = f.Name + ":60,0.1" // so that the inputs are in its domain
			}
			names = append(names, name)
		}
		for i, name := range names {
			k, err := kernel.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			_, own := k.(kernel.Featured)
			if own && !*exhaustive && i%len(algorithms) != at {
				continue
			}
			c := Config{Algorithm: a.Name, BlockSize: 8, MaxFeatures: 24, Kernel: k.String()}
			if a.Descent == nil || !a.Descent.Penalised { // the others are for large mini-batches
				c.Direction, c.Minibatch = directionOf(a, i), 29
			}
			configs := []Config{c}
			if s, ok := k.(kernel.Scaled); ok && (*exhaustive || !own && (at == 0 || a.Name == "ridge")) { // the warm-up is the same for the others
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

// TestTheWarmUpChoosesTheKernel: with kernel auto, a learner keeps the promises, and names
// the kernel that it has chosen.
func TestTheWarmUpChoosesTheKernel(t *testing.T) {
	steps := func(_ int, x []float64) Label {
		return Label{Task: Regression, Value: math.Floor(3*x[0]) - math.Floor(2*x[1])}
	}
	s := stream{"auto", Config{Algorithm: "newton", BlockSize: 8, MaxFeatures: 24, Minibatch: 29, Kernel: "auto"}, 2, steps}
	keepsThePromises(t, s)
	l := newLearner(t, s.config)
	learn(l, s.rows(450), 450)
	if got := l.Progress().Kernel; !strings.Contains(got, "laplacian:") {
		t.Errorf("kernel %q, want one with laplacian for steps", got)
	}
	if _, err := New(Config{Kernel: "auto", Sampling: "sorf"}); err == nil || !strings.Contains(err.Error(), "sampling sorf needs a kernel with normal frequencies, which auto does not have") {
		t.Errorf("kernel auto with sorf: %v", err)
	}
}

// TestKernelsOfPositiveInputsRefuseOthersAndStayFinite: lags and metrics, which make inputs of any sign, are
// refused, and rows outside the domain make no number infinite.
func TestKernelsOfPositiveInputsRefuseOthersAndStayFinite(t *testing.T) {
	for _, c := range []Config{{Kernel: "skewed-chi2:2", Lags: 1}, {Kernel: "skewed-chi2:2", Metric: skewed}} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "kernel skewed-chi2:2 requires inputs above -2: it excludes metric and lags") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []Config{{Kernel: "chi2", Lags: 1}, {Kernel: "chi2", Metric: skewed}} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "kernel chi2 requires inputs of 0 or more: it excludes metric and lags") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if a, b := (Config{}).Above(), (Config{Kernel: "skewed-intersection:0.5"}).Above(); a != 0 || b != -0.5 {
		t.Errorf("inputs above %v and %v, want 0 and -0.5", a, b)
	}
	for _, kernel := range []string{"skewed-chi2:2", "jensen-shannon", "reciprocal-semigroup"} {
		l := newLearner(t, Config{Kernel: kernel, BlockSize: 8, MaxFeatures: 16})
		rows := stream{dim: 3, label: numeric}.rows(200) // of which many are below -2
		learn(l, rows, 50)
		for _, v := range l.Predict(rows).Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%s predicts %v", kernel, v)
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
	l := newWhole(t, config)
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
