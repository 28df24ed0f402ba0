package descent

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Li and Póczos, equation 9: the longest step is the greatest root, as a search
// finds it.
func TestEquation9IsSolvedForItsGreatestRoot(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + rng.IntN(4)
		trace, mean := make([]float64, n), make([]float64, n)
		size := rng.Float64()
		for i := range n {
			trace[i], mean[i] = rng.NormFloat64()*size, rng.NormFloat64()
		}
		rate, noise := rng.Float64()+0.01, rng.Float64()/2
		excess := func(h float64) float64 {
			sum := 2 * h * h * noise
			for i := range n {
				d := trace[i] - h*mean[i]
				sum += 2*d*d - trace[i]*trace[i] - rate*rate*mean[i]*mean[i]
			}
			return sum
		}
		want := 0.0
		for h := 20.0; h > 0; h -= 1e-3 {
			if excess(h) <= 1e-9 {
				want = h
				break
			}
		}
		if got := longestStep(trace, mean, rate, noise); got < 19 && math.Abs(got-want) > 2e-3 {
			t.Fatalf("trace %v, mean %v, rate %v, noise %v: %v, want %v", trace, mean, rate, noise, got, want)
		}
	}
	for _, c := range []struct{ trace, want float64 }{{0.3, 0.55495}, {0.05, 0.19577}} {
		if got := longestStep([]float64{c.trace}, []float64{1}, 0.2, 0); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("trace %v: %v, want %v", c.trace, got, c.want)
		}
	}
	// Without noise a block is as good as new from (2-√3)·rate on.
	edge := (2 - math.Sqrt(3)) * 0.2
	if a, b := longestStep([]float64{edge + 1e-6}, []float64{1}, 0.2, 0), longestStep([]float64{edge - 1e-6}, []float64{1}, 0.2, 0); a <= 0.2 || b > 0.2 {
		t.Errorf("about the edge %v: %v and %v", edge, a, b)
	}
}
