package features

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
)

// TestChangingRowsHaveTheSumsOfWholeRows: whichever columns change, of however many rows, with
// frequencies that are stored, made in each call, or those of a transform.
func TestChangingRowsHaveTheSumsOfWholeRows(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	const dim, m = 67, 5 * 32
	for _, scores := range []int{1, 3} {
		for _, n := range []int{1, 31, 32, 70} {
			for _, of := range []string{"stored", "made", "sorf", "own"} {
				bank := newBank(dim, 1, of)
				if of == "own" {
					bank = NewBank(Map{Kernel: kernel.ArcCosine{Order: 1, Scale: 8}, Dim: dim})
				}
				bank.Grow(m/bank.Map().BlockSize + 1)
				x, other, coef := rows(r, n, dim), rows(r, n, dim), rows(r, 2*m, scores)
				was := slices.Clone(x)
				c := bank.Changing(x, coef, scores)
				got, want := make([]float64, n*scores), make([]float64, n*scores)
				for _, cut := range [][2]int{{0, 0}, {0, 1}, {66, 67}, {5, 9}, {0, dim}} {
					copy(x, was)
					for i := range n {
						copy(x[i*dim+cut[0]:i*dim+cut[1]], other[i*dim+cut[0]:i*dim+cut[1]])
					}
					bank.Sum(want, x, coef, scores)
					c.Sum(got, cut[0], cut[1])
					for i := range want {
						if !(math.Abs(got[i]-want[i]) < 1e-3) {
							t.Fatalf("%s, %d rows, %d scores, columns %v: sum %d is %v, want %v", of, n, scores, cut, i, got[i], want[i])
						}
					}
				}
			}
		}
	}
}
