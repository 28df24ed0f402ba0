package kernel

import (
	"math"
	"testing"
)

// The skewed kernels are those of their paper in the inputs themselves, and finite
// where they are not defined.
func TestSkewedKernelsAreThoseOfTheHistograms(t *testing.T) {
	x, y := []float64{0, 3, 1e-3, 7}, []float64{2, 0.5, 4e-3, 7}
	for _, c := range []float64{1, 0.03} {
		chi, intersection := SkewedChi2{skew{c}, 1}, SkewedIntersection{skew{c}, 1}
		wantChi, wantIntersection := 1.0, 1.0
		u, v := make([]float64, len(x)), make([]float64, len(x))
		for i := range x {
			a, b := x[i]+c, y[i]+c
			wantChi *= 2 * math.Sqrt(a) * math.Sqrt(b) / (a + b)
			wantIntersection *= min(math.Sqrt(a/b), math.Sqrt(b/a))
			u[i], v[i] = chi.Input(x[i]), intersection.Input(y[i])
		}
		if got := chi.Eval(u, v); math.Abs(got-wantChi) > 1e-14 {
			t.Errorf("C %v: χ² is %v, want %v", c, got, wantChi)
		}
		if got := intersection.Eval(u, v); math.Abs(got-wantIntersection) > 1e-14 {
			t.Errorf("C %v: intersection is %v, want %v", c, got, wantIntersection)
		}
		for _, wrong := range []float64{-c, -1e300, math.MaxFloat64} {
			if got := chi.Input(wrong); math.IsNaN(got) || math.IsInf(got, 0) {
				t.Errorf("C %v: Input(%v) = %v", c, wrong, got)
			}
		}
	}
}
