package features

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
)

// eachFeatured runs f with the kernels that have features of their own.
func eachFeatured(t *testing.T, f func(t *testing.T, k kernel.Featured)) {
	sums := kernel.Family{Examples: []string{"polynomial:2,1+gaussian:2.5+0.5*chi2:1"}}
	for _, family := range append([]kernel.Family{sums}, kernel.All...) {
		for _, name := range family.Examples {
			k, err := kernel.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			if own, ok := k.(kernel.Featured); ok {
				t.Run(name, func(t *testing.T) { f(t, own) })
			}
		}
	}
}

// The methods of a Bank agree with each other for features of a kernel's own, whatever
// the memory for parameters, the number of cores and the other rows are.
func TestBankOfFeaturedKernels(t *testing.T) {
	eachFeatured(t, func(t *testing.T, k kernel.Featured) {
		const dim, n, blocks, scores = 3, 301, 4, 3
		r := rand.New(rand.NewPCG(3, 4))
		m := Map{Kernel: k, Dim: dim, BlockSize: 20, Seed: 9}
		whole, drawn := NewBank(m), NewBank(m)
		drawn.Limit(8 * 20 * m.parameters()) // one block
		x, coef := rows(r, n, dim), rows(r, 2*blocks*m.BlockSize, scores)
		g := make([]float64, n*scores)
		for i := range g {
			g[i] = float64(float32(r.NormFloat64()))
		}
		var sums, slopes, phis [2]any
		for i, b := range []*Bank{whole, drawn} {
			b.Grow(1)
			b.Grow(blocks)
			want, wantSlope := plain(b, x, coef, g, scores)
			sum, slope, phi := make([]float64, n*scores), make([]float64, len(wantSlope)), make([]float32, n*len(coef)/scores)
			b.Sum(sum, x, coef, scores)
			near(t, "Sum", sum, want)
			b.Gradient(slope, 0, x, g, scores)
			near(t, "Gradient", slope, wantSlope)
			one := make([]float64, 2*m.BlockSize*scores)
			if b.Gradient(one, 2, x, g, scores); !slices.Equal(one, slope[2*len(one):3*len(one)]) {
				t.Error("the gradient of a block depends on the others")
			}
			single := make([]float64, scores)
			if b.Sum(single, x[40*dim:41*dim], coef, scores); !slices.Equal(single, sum[40*scores:41*scores]) {
				t.Error("the sums of a row depend on the others")
			}
			whole := make([]float64, n*scores)
			for block := range blocks {
				part := make([]float64, n*scores)
				b.SumBlocks(part, block, x, coef[block*len(one):(block+1)*len(one)], scores)
				for l, v := range part {
					whole[l] += v
				}
			}
			near(t, "SumBlocks", whole, want)
			b.Features(phi, 0, x)
			sums[i], slopes[i], phis[i] = sum, slope, phi
		}
		if !slices.Equal(sums[0].([]float64), sums[1].([]float64)) || !slices.Equal(slopes[0].([]float64), slopes[1].([]float64)) || !slices.Equal(phis[0].([]float32), phis[1].([]float32)) {
			t.Error("the results depend on the memory")
		}
	})
}
