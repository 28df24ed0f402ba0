package features

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Products with held features have the bits of those that compute them again.
func TestHeldFeaturesGiveTheSameProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for _, sampling := range Samplings() {
		for _, size := range []int{8, 64, 130} {
			for _, n := range []int{1, 33, 300, 700} {
				const scores, dim = 10, 64
				b := NewBank(Map{Kernel: kernel.Gaussian{Scale: 2}, Dim: dim, BlockSize: size, Seed: 3, Sampling: sampling})
				b.Grow(3)
				block := r.IntN(3)
				x, coef, g := rows(r, n, dim), rows(r, 2*size, scores), make([]float64, n*scores)
				for i := range x { // in some rows, a third of the coordinates
					if i/dim/vec.Lanes%2 == 1 && i%3 == 0 {
						x[i] = 0
					}
				}
				inUse := make([]int, vec.Panels(n, vec.Run))
				for i := range g {
					if inUse[i/scores/vec.Run] = scores - i/scores/vec.Run; i%scores < inUse[i/scores/vec.Run] {
						g[i] = r.NormFloat64()
					}
				}
				var h Held
				packed := make([]float32, vec.Panels(n, vec.Lanes)*vec.Lanes*dim)
				for i := range n {
					vec.PackRow(packed, x[i*dim:(i+1)*dim], i)
				}
				of := make([]vec.Coordinates, vec.Panels(n, vec.Lanes))
				for i := range of {
					of[i].Set(packed[i*vec.Lanes*dim:], dim)
				}
				want, dst := make([]float64, 2*size*scores), make([]float64, 2*size*scores)
				b.Gradient(want, block, x, g, scores)
				factors := make([]float32, vec.Panels(n, vec.Lanes)*vec.Lanes*scores)
				vec.PackFactors(factors, g, scores)
				for _, cores := range []int{2, 1} {
					before := runtime.GOMAXPROCS(cores)
					clear(h.f)
					b.HoldGradient(&h, block, packed, of, n, dst, factors, scores, inUse)
					runtime.GOMAXPROCS(before)
					if !slices.Equal(dst, want) {
						t.Errorf("%v, blocks of %d, %d rows, %d cores: the gradient differs", sampling, size, n, cores)
					}
				}
				h.Team = team(t, r.IntN(4))
				clear(dst)
				clear(h.f)
				b.HoldGradient(&h, block, packed, of, n, dst, factors, scores, inUse)
				if !slices.Equal(dst, want) {
					t.Errorf("%v, blocks of %d, %d rows, a team of %d: the gradient differs", sampling, size, n, h.Team.Size())
				}
				phi, got := make([]float32, n*2*size), make([]float32, (n-n/2)*2*size)
				b.Features(phi, block, x)
				if h.Rows(got, n/2); !slices.Equal(got, phi[n/2*2*size:]) {
					t.Errorf("%v, blocks of %d, %d rows: the features differ", sampling, size, n)
				}
				want = make([]float64, n*scores)
				b.SumBlocks(want, block, x, coef, scores)
				sums := make([]float64, vec.Panels(n, vec.Lanes)*vec.Lanes*SumColumns(scores))
				h.SetCoefficients(coef, scores)
				columns := func(i int) int { return scores - i%(scores+1) }
				h.Team.Run(vec.Panels(n, vec.Lanes), func(_, i int) {
					var memory []float64
					h.Sum(sums[i*SumColumns(scores)*vec.Lanes:(i+1)*SumColumns(scores)*vec.Lanes], i, columns(i), &memory)
				})
				for i, v := range want {
					row, c := i/scores, i%scores
					if c >= columns(row/vec.Lanes) {
						continue
					}
					if got := sums[(row/vec.Lanes*SumColumns(scores)+c)*vec.Lanes+row%vec.Lanes]; got != v {
						t.Fatalf("%v, blocks of %d, %d rows: sum %d of row %d is %v, want %v", sampling, size, n, c, row, got, v)
					}
				}
			}
		}
	}
}

// team returns one of n goroutines on as many cores.
func team(t *testing.T, n int) *cores.Team {
	before := runtime.GOMAXPROCS(max(1, n))
	var all cores.Team
	all.Resize(n)
	t.Cleanup(func() {
		all.Rest()
		runtime.GOMAXPROCS(before)
	})
	return &all
}

// Features that are weighted, or of a kernel's own, have other products.
func TestOnlyPlainFeaturesAreHeld(t *testing.T) {
	x := curve(rand.New(rand.NewPCG(1, 1)), 20, 2)
	for _, test := range []struct {
		m    Map
		want bool
	}{
		{Map{Kernel: kernel.Gaussian{Scale: 2}, Dim: 2}, true},
		{Map{Kernel: kernel.Gaussian{Scale: 2}, Dim: 2, Sampling: Leveraged}, true},
		{leveragedMap(t, x, 2, 1e-3, 1), false},
		{Map{Kernel: kernel.ArcCosine{Order: 1}, Dim: 2}, false},
	} {
		if got := NewBank(test.m).Holds(); got != test.want {
			t.Errorf("%v, %v: features can be held: %v, want %v", test.m.Kernel, test.m.Sampling, got, test.want)
		}
	}
}
