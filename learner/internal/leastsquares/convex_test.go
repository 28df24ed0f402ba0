package leastsquares

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Convex finds no worse mixture than any of a grid and of random ones.
func TestConvexIsTheLeastOfAllMixtures(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	value := func(a, p []float64) (sum float64) {
		for i, v := range p {
			for j, u := range p {
				sum += v * a[i*len(p)+j] * u
			}
		}
		return sum
	}
	for n := 1; n <= 6; n++ {
		for range 50 {
			a := make([]float64, n*n)
			for range 1 + rng.IntN(2*n) { // of any rank
				e := make([]float64, n)
				for i := range e {
					e[i] = rng.NormFloat64() + 0.5
				}
				for i, v := range e {
					for j, u := range e {
						a[i*n+j] += v * u
					}
				}
			}
			p, sum := Convex(a), 0.0
			for _, v := range p {
				if sum += v; v < 0 {
					t.Fatalf("the share %v is negative", v)
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Fatalf("the sum is %v", sum)
			}
			for range 2000 {
				q, total := make([]float64, n), 0.0
				for i := range q {
					q[i] = math.Pow(rng.Float64(), 4)
					total += q[i]
				}
				for i := range q {
					q[i] /= total
				}
				if got, other := value(a, p), value(a, q); got > other+1e-6*math.Abs(other) {
					t.Fatalf("%d members: %v has the value %v, and %v %v", n, p, got, q, other)
				}
			}
		}
	}
	for _, a := range [][]float64{{0}, {0, 0, 0, 0}, {1, 1, 1, 1}, {math.NaN(), 1, 1, 1}} {
		sum := 0.0
		for _, v := range Convex(a) {
			sum += v
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("of %v: the sum is %v", a, sum)
		}
	}
}
