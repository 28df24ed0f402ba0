package features

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
)

// Coefficients that were packed, and then changed in part, have the sums of Sum to the bit:
// for few and many rows, with blocks that end inside a panel, and for more features than before.
func TestPackedSumsHaveTheBitsOfSum(t *testing.T) {
	const dim = 5
	for _, size := range []int{1, 6, 32} {
		for _, scores := range []int{1, 2, 9} {
			b := NewBank(Map{Kernel: kernel.Gaussian{Scale: 2}, Dim: dim, BlockSize: size, Seed: 1})
			rng := rand.New(rand.NewPCG(1, 2))
			var packed Packed
			var coef []float32
			for _, blocks := range []int{1, 3, 7, 40} {
				b.Grow(blocks)
				before := len(coef) / scores
				n := 2 * size * blocks
				for range (n - before) * scores {
					coef = append(coef, rng.Float32())
				}
				packed.Set(coef, before, n, scores)
				for change := range 3 {
					for _, rows := range []int{1, 7, 8, 33, 600} {
						x := make([]float32, rows*dim)
						for i := range x {
							x[i] = rng.Float32()
						}
						got, want := make([]float64, rows*scores), make([]float64, rows*scores)
						b.SumPacked(got, x, coef, scores, &packed)
						b.Sum(want, x, coef, scores)
						if !slices.Equal(got, want) {
							t.Fatalf("blocks of %d, %d scores, %d blocks, %d rows: other sums after %d changes", size, scores, blocks, rows, change)
						}
					}
					from := rng.IntN(n)
					to := from + 1 + rng.IntN(n-from)
					for i := from * scores; i < to*scores; i++ {
						coef[i] = rng.Float32()
					}
					packed.Set(coef, from, to, scores)
				}
			}
			fewer := coef[:2*size*scores]
			got, want := make([]float64, scores), make([]float64, scores)
			x := make([]float32, dim)
			b.SumPacked(got, x, fewer, scores, &packed)
			b.Sum(want, x, fewer, scores)
			if !slices.Equal(got, want) {
				t.Fatalf("blocks of %d, %d scores: packed coefficients of more features are used", size, scores)
			}
		}
	}
}
