package vec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCombinationsAreSumsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for _, dim := range []int{1, 5, 8, 19} {
		const n = 37
		x, w := make([]float64, n*dim), make([]float64, (n+8)*8)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for i := range w {
			w[i] = r.NormFloat64()
		}
		want := make([]float64, 8*dim)
		for i := range n {
			for j := range 8 {
				for l := range dim {
					want[j*dim+l] += float64(w[i*8+j] * x[i*dim+l])
				}
			}
		}
		eachISA(func(name string) {
			c, got := NewColumns(x, dim), make([]float64, 8*dim)
			for range 2 {
				if c.Combine(got, w); !slices.Equal(got, want) {
					t.Errorf("%s, %d columns: the sums differ", name, dim)
				}
			}
		})
	}
}
