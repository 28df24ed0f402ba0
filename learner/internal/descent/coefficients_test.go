package descent

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLazyEqualsExplicit holds shrinking by a scalar and averaging by two
// vectors against doing both to every coefficient.
func TestLazyEqualsExplicit(t *testing.T) {
	for _, shrink := range []float64{1e-6, 0.01, 0.9} { // the last folds its scalars in at every other step
		uniform := shrink == 0.01
		rng := rand.New(rand.NewPCG(1, 2))
		const features, scores = 7, 2
		c := newCoefficients(scores)
		var w, average []float64
		for step := 1; step <= 400; step++ {
			r := 1 - shrink*rng.Float64()
			c.scale(r)
			for i := range w {
				w[i] *= r
			}
			if len(w) < features*scores {
				c.grow(1)
				w, average = append(w, 0, 0), append(average, 0, 0)
			}
			d, at := []float64{rng.NormFloat64(), rng.NormFloat64()}, rng.IntN(len(w)/scores)
			c.add(at, -0.3, d)
			for i := range d {
				w[at*scores+i] -= 0.3 * d[i]
			}
			c.average(uniform)
			rho := 4 / (float64(step) + 3)
			if uniform {
				rho = 1 / float64(step)
			}
			for i := range w {
				average[i] += rho * (w[i] - average[i])
			}
			for i := range w {
				lazyW, lazyAverage := c.shrink*c.u[i], c.q*(c.v[i]+c.p*c.u[i])
				if math.Abs(lazyW-w[i]) > 1e-12*(1+math.Abs(w[i])) {
					t.Fatalf("shrink %v, step %d: coefficient %d is %v, explicitly %v", shrink, step, i, lazyW, w[i])
				}
				if math.Abs(lazyAverage-average[i]) > 1e-12*(1+math.Abs(average[i])) {
					t.Fatalf("shrink %v, step %d: average %d is %v, explicitly %v", shrink, step, i, lazyAverage, average[i])
				}
			}
		}
	}
}
