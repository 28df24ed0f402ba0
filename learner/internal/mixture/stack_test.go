package mixture

import (
	"math/rand/v2"
	"slices"
	"testing"
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
