package target

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestOutliersAreFewAndFar: numbers of distributions with heavy tails, and rare ones that return,
// are no outliers. What only an error explains is one.
func TestOutliersAreFewAndFar(t *testing.T) {
	for name, draw := range map[string]func(r *rand.Rand) float64{
		"normal":          func(r *rand.Rand) float64 { return 1e9 + r.NormFloat64() },
		"exponential":     func(r *rand.Rand) float64 { return r.ExpFloat64() },
		"lognormal":       func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) },
		"two values":      func(r *rand.Rand) float64 { return float64(r.IntN(2)) },
		"mostly zero":     func(r *rand.Rand) float64 { return max(0, r.NormFloat64()-1.5) * 1e6 },
		"rare but normal": func(r *rand.Rand) float64 { return float64(max(0, r.IntN(20)-18))*5 + 0.1*r.NormFloat64() },
	} {
		for _, n := range []int{64, 256, 1000} {
			rng := rand.New(rand.NewPCG(uint64(n), 2))
			y := make([]float64, n)
			for i := range y {
				y[i] = draw(rng)
			}
			if got := len(Inliers(y)); got != n {
				t.Errorf("%s: %d of %d numbers are no outliers", name, got, n)
			}
			lo, hi := InlierRange(y)
			y[n/2] = 1e15
			if got := len(Inliers(y)); got != n-1 && !math.IsInf(hi, 1) {
				t.Errorf("%s: beside 1e15, %d of %d numbers are no outliers", name, got, n-1)
			}
			if a, b := InlierRange(y); name != "mostly zero" && (math.Abs(a-lo) > 0.5*(hi-lo) || math.Abs(b-hi) > 0.5*(hi-lo)) {
				t.Errorf("%s: beside 1e15 the range of %d numbers is from %v to %v, before from %v to %v", name, n, a, b, lo, hi)
			}
		}
	}
}
