package kernel

import (
	"math"
	"testing"
)

// The mixture of Gaussian kernels is the closed form where there is one, and Bessel's
// function where it is known.
func TestMaternIsAMixtureOfGaussianKernels(t *testing.T) {
	for nu := 0.5; nu <= maxNu; nu++ {
		k := Matern{nu, 1}
		for _, r := range []float64{1e-6, 0.01, 0.3, 1, 3, 10} {
			if got, want := k.mixture(nu*r*r/2), k.Eval([]float64{r}, []float64{0}); math.Abs(got-want) > 1e-10 {
				t.Errorf("NU %v at %v: %v, want %v", nu, r, got, want)
			}
		}
	}
	// a K₁(a), with K₁(1) and K₁(2) from Abramowitz and Stegun, table 9.8.
	for a, want := range map[float64]float64{1: 0.6019072301972346, 2: 2 * 0.1398658818165224} {
		if got := (Matern{1, math.Sqrt2}).Eval([]float64{a}, []float64{0}); math.Abs(got-want) > 1e-10 {
			t.Errorf("NU 1 at %v: %v, want %v", a, got, want)
		}
	}
	for _, nu := range []float64{minNu, 0.3, 1, 7.7, maxNu} {
		k, last := Matern{nu, 1}, 1.0
		for r := 0.0; r < 100; r += 0.37 {
			v := k.Eval([]float64{r}, []float64{0})
			if !(v >= 0 && v <= last) {
				t.Fatalf("NU %v at %v: %v after %v", nu, r, v, last)
			}
			last = v
		}
	}
}
