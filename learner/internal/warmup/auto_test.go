package warmup

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// TestAutoChoosesAKernelThatSuits: a rough kernel for steps, the Gaussian one for a smooth
// function and for few rows, one of histograms only where no row is negative.
func TestAutoChoosesAKernelThatSuits(t *testing.T) {
	smooth := func(x []float64) float64 { return math.Sin(3*x[0]) * math.Cos(2*x[1]) }
	steps := func(x []float64) float64 { return math.Floor(2*x[0]) + math.Floor(3*x[1]) }
	shares := func(x []float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return math.Sqrt(x[0]/sum) - math.Sqrt(x[1]/sum)
	}
	for _, test := range []struct {
		name   string
		rows   int
		dim    int
		least  float64 // of the inputs
		label  func(x []float64) float64
		want   []kernel.Kernel
		scaled bool
	}{
		{"smooth", 400, 2, -1, smooth, []kernel.Kernel{kernel.Gaussian{}, kernel.Cauchy{}}, false},
		{"few rows", 200, 2, -1, steps, []kernel.Kernel{kernel.Gaussian{}}, false},
		{"steps", 400, 2, -1, steps, []kernel.Kernel{kernel.Laplacian{}}, false},
		{"shares", 400, 6, 0, shares, []kernel.Kernel{kernel.Chi2{}, kernel.Intersection{}}, false},
		{"metric", 400, 6, 0, shares, nil, true},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		var x []float64
		var labels []target.Label
		for range test.rows {
			row := make([]float64, test.dim)
			for j := range row {
				row[j] = test.least + (2-test.least)*math.Pow(rng.Float64(), 2)
			}
			x = append(x, row...)
			labels = append(labels, target.Label{Task: target.Regression, Value: test.label(row)})
		}
		f := NewFit(x, labels, test.dim, Request{Task: target.Regression, Kernel: kernel.Auto{}, Scaled: test.scaled})
		got := f.Kernel.(kernel.Scaled).WithLengthScale(0)
		found := len(test.want) == 0
		for _, k := range test.want {
			found = found || got == k
		}
		_, bounded := got.(kernel.Bounded)
		if !found || bounded && test.scaled || !SameFamily(kernel.Auto{}, f.Kernel) || !HasScale(f.Kernel) {
			t.Errorf("%s: %v, want one of %v", test.name, f.Kernel, test.want)
		}
		t.Logf("%s: %v", test.name, f.Kernel)
	}
	if SameFamily(kernel.Auto{}, kernel.Hellinger{Scale: 1}) {
		t.Error("hellinger is no candidate")
	}
}
