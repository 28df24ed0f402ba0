package mixture

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/vec"
)

// TestProductsOfInputsAreThePlainSums compares the products of a stack's inputs with a sum for
// each pair, to the bit.
func TestProductsOfInputsAreThePlainSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for n := 1; n < 20; n++ {
		for _, k := range []int{1, 2, 7} {
			s := newStack(1, make([]float64, n), make([]float64, stackSize(n)))
			x, diagonal := make([]float64, n*k), make([]float64, k)
			s.change = make([]float64, 2*n)
			for _, of := range [][]float64{x, diagonal, s.change} {
				for i := range of {
					of[i] = rng.NormFloat64()
				}
			}
			var want []float64
			for e := range n {
				for o := range e + 1 {
					sum := -float64(s.change[e] * s.change[o])
					for c, d := range diagonal {
						sum += float64(float64(d*x[e*k+c]) * x[o*k+c])
					}
					want = append(want, sum)
				}
			}
			if got := s.products(x, diagonal)[:len(want)]; !slices.Equal(got, want) {
				t.Errorf("%d inputs, %d scores: products are %v, want %v", n, k, got, want)
			}
		}
	}
}

// TestExpertsThatSleepAddNothing compares a stack, whose last inputs may be 0, with the sums
// over all of its inputs, to the bit.
func TestExpertsThatSleepAddNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for k := 1; k < 12; k++ {
		const n = 7
		s := newStack(0.9, make([]float64, n), make([]float64, stackSize(n)))
		s.start()
		gram, moment := make([]float64, len(s.gram)), make([]float64, n)
		for range 50 {
			x, gradient, diagonal, outer := make([]float64, n*k), make([]float64, k), make([]float64, k), make([]float64, k)
			for c := range k {
				gradient[c], diagonal[c], outer[c] = rng.NormFloat64(), rng.Float64(), rng.Float64()
			}
			for i := range (1 + rng.IntN(n)) * k {
				if x[i] = rng.NormFloat64(); i/k == 3 {
					x[i] = math.Copysign(0, rng.NormFloat64())
				}
			}
			for e := range s.theta {
				s.theta[e] = rng.NormFloat64()
			}
			s.learn(x, gradient, diagonal, outer, 0.5)
			for i := range gram {
				gram[i] *= 0.9
			}
			for i := range moment {
				moment[i] *= 0.9
			}
			at := 0
			for e := range n {
				of := x[e*k : (e+1)*k]
				for o := range e + 1 {
					h := -float64(vec.Dot(of, outer) * vec.Dot(x[o*k:(o+1)*k], outer))
					for c, v := range of {
						h += float64(float64(diagonal[c]*v) * x[o*k+c])
					}
					h *= 0.5
					gram[at] += h
					moment[e] += float64(h * s.theta[o])
					if o != e {
						moment[o] += float64(h * s.theta[e])
					}
					at++
				}
				moment[e] -= float64(0.5 * vec.Dot(of, gradient))
			}
			for i, want := range append(slices.Clone(gram), moment...) {
				if got := append(slices.Clone(s.gram), s.moment...)[i]; math.Float64bits(got) != math.Float64bits(want) {
					t.Fatalf("%d classes: number %d is %v, want %v", k, i, got, want)
				}
			}
		}
	}
}
