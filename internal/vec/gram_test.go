package vec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestGramIsItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var s Scratch
	for _, c := range [][2]int{{1, 1}, {3, 12}, {300, 33}, {40, 100}, {520, 70}} {
		rows, n := c[0], c[1]
		phi := random(r, rows*n, 1)
		want := make([]float64, n*n)
		for i := range n {
			for j := range n {
				want[i*n+j] = float64(i - j)
				for from := 0; j <= i && from < rows; from += Run {
					v := float32(0)
					for k := from; k < min(from+Run, rows); k++ {
						v = FMA(phi[k*n+i], phi[k*n+j], v)
					}
					want[i*n+j] += float64(v)
				}
			}
		}
		eachISA(func(name string) {
			g := make([]float64, n*n)
			for i := range g {
				g[i] = float64(i/n - i%n)
			}
			if Gram(g, phi, n, &s); !slices.Equal(g, want) {
				t.Errorf("%s: Gram of %d rows of %d numbers is not what its comment says", name, rows, n)
			}
		})
	}
}
