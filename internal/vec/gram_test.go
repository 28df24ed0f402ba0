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

// Project computes the products of vectors and rows.
func TestProjectIsTheProducts(t *testing.T) {
	const dim = 37
	r := rand.New(rand.NewPCG(1, 2))
	x, w, got := make([]float32, dim*Lanes), make([]float32, dim*Panel), make([]float32, Panel*Lanes)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	for i := range w {
		w[i] = float32(r.NormFloat64())
	}
	Project(got, x, w, dim)
	for i := range Panel {
		for l := range Lanes {
			want := float32(0)
			for k := range dim {
				want = FMA(w[k*Panel+i], x[k*Lanes+l], want)
			}
			if got[i*Lanes+l] != want {
				t.Fatalf("vector %d, row %d: %v, want %v", i, l, got[i*Lanes+l], want)
			}
		}
	}
}
