package vec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSolutionsOfEightColumnsAreThoseOfEach(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, n := range []int{1, 2, 7, 8, 9, 16, 23, 64, 131} {
		a := gram(r, n)
		if !Cholesky(a, n) {
			t.Fatalf("n = %d: not positive definite", n)
		}
		b := make([]float64, n*8)
		for i := range b {
			b[i] = r.NormFloat64()
		}
		want := slices.Clone(b)
		for c := range 8 {
			x := make([]float64, n)
			for i := range x {
				x[i] = b[i*8+c]
			}
			CholeskySolve(a, n, x)
			for i, v := range x {
				want[i*8+c] = v
			}
		}
		eachISA(func(name string) {
			got := slices.Clone(b)
			CholeskySolves(a, n, got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, n = %d: the solutions differ from those of each column", name, n)
			}
		})
	}
}
