package features

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachFeatured runs f with the kernels that have features of their own.
func eachFeatured(t *testing.T, f func(t *testing.T, k Featured)) {
	eachKernel(t, func(t *testing.T, k Kernel) {
		if own, ok := k.(Featured); ok {
			f(t, own)
		}
	})
}

// A kernel with features of its own is symmetric, at most 1 at the same row, no larger
// than Cauchy and Schwarz allow, and depends on rows in units of its scale alone.
func TestFeaturedKernelsAreKernels(t *testing.T) {
	const n, dim = 6, 5
	eachFeatured(t, func(t *testing.T, k Featured) {
		x := inputs(k, n, dim)
		clear(x[dim : dim+3]) // as most columns of a histogram are
		row := func(i int) []float64 { return doubles(x[i*dim : (i+1)*dim]) }
		for i := range n {
			for j := range n {
				u, v := row(i), row(j)
				got := k.Eval(u, v)
				if got != k.Eval(v, u) || got-1 > 1e-15 || got*got > k.Eval(u, u)*k.Eval(v, v)*(1+1e-12) {
					t.Errorf("k(x%d, x%d) = %v, k(x%d, x%d) = %v", i, j, got, j, i, k.Eval(v, u))
				}
				s := k.(Scaled)
				for l := range dim {
					u[l], v[l] = 8*u[l], 8*v[l]
				}
				if again := s.WithLengthScale(8*s.LengthScale()).Eval(u, v); math.Abs(again-got) > 1e-12 {
					t.Errorf("at eight times the scale and the rows the kernel is %v, want %v", again, got)
				}
			}
		}
	})
}

// The closed forms at numbers that are easy to compute by hand.
func TestClosedFormsOfFeaturedKernels(t *testing.T) {
	// Bins 1/4, 1/2, 1/4 and 0, 1/2, 1/2: of the constant, last.
	x, y := []float64{1, 2}, []float64{0, 1}
	js := 0.5 + (0.25*math.Log2(3)+0.5*math.Log2(1.5))/2
	// The cosine is 3/√12 where the constant is 1.
	c := 3 / math.Sqrt(12)
	for _, test := range []struct {
		k    Kernel
		want float64
	}{
		{Chi2{Scale: 1}, 0.5 + 2*0.125/0.75},
		{Intersection{Scale: 1}, 0.75},
		{JensenShannon{Scale: 1}, js},
		{Hellinger{Scale: 1}, 0.5 + math.Sqrt(0.125)},
		{Polynomial{3, 1}, c * c * c},
		{DotProduct{1, 1}, (1 - math.Pow(c, 9)) / (1 - c) / 9},
		{ArcCosine{0, 1}, 1 - math.Acos(c)/math.Pi},
		{ArcCosine{1, 1}, (math.Sqrt(1-c*c) + (math.Pi-math.Acos(c))*c) / math.Pi},
		{ExponentialSemigroup{Scale: 3}, math.Exp(-math.Sqrt(1./3) - 1)},
		{ReciprocalSemigroup{Scale: 2}, 1 / (1.5 * 2.5)},
	} {
		if got := test.k.Eval(x, y); math.Abs(got-test.want) > 1e-14 {
			t.Errorf("%v: %v, want %v", test.k, got, test.want)
		}
	}
}

func TestAngleIsTheArcCosine(t *testing.T) {
	for c := -1.0; c <= 1; c += 1. / 512 {
		if got, want := angle(c), math.Acos(c); math.Abs(got-want) > 1e-15*4 {
			t.Errorf("angle(%v) = %v, want %v", c, got, want)
		}
	}
}

// The methods of a Bank agree with each other for features of a kernel's own, whatever
// the memory for parameters, the number of cores and the other rows are.
func TestBankOfFeaturedKernels(t *testing.T) {
	eachFeatured(t, func(t *testing.T, k Featured) {
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

// No input makes a feature infinite or NaN.
func TestFeaturedKernelsOfExtremeRows(t *testing.T) {
	x := []float32{0, 0, 0, 1e-45, math.MaxFloat32, 1, -1, -math.MaxFloat32, 3, math.MaxFloat32, math.MaxFloat32, math.MaxFloat32}
	eachFeatured(t, func(t *testing.T, k Featured) {
		for _, scale := range []float64{minScale, 1, maxScale} {
			b := NewBank(Map{Kernel: k.(Scaled).WithLengthScale(scale), Dim: 3, Seed: 1})
			b.Grow(20)
			phi := make([]float32, 4*2*20*b.Map().BlockSize)
			b.Features(phi, 0, x)
			for _, v := range phi {
				if !(math.Abs(float64(v)) < 1e6) {
					t.Fatalf("scale %v: a feature is %v", scale, v)
				}
			}
		}
	})
}

// The spectra of the additive kernels, bin by bin: the mean of cos(ω log(x/y)) is
// k(x, y)/√(xy).
func TestSpectraOfAdditiveKernels(t *testing.T) {
	const draws = 100_000
	eachFeatured(t, func(t *testing.T, k Featured) {
		if _, ok := k.(interface {
			prepare(dst []float64, x []float32, scale float64)
			sample(w []float32, dim int, s *Source, draw func() float64)
		}); !ok {
			return
		}
		w := make([]float32, 2*draws)
		k.Sample(w, 1, NewSource(5, 6))
		for _, log := range []float64{0.1, 0.5, 1, 2, 4} {
			sum, squares := 0.0, 0.0
			for i := 1; i < len(w); i += 2 {
				c := math.Cos(float64(w[i]) * log)
				sum, squares = sum+c/draws, squares+c*c/draws
			}
			// Two bins each, x, 1 and y, 1, of which the sums are made equal by a third.
			x, y := math.Exp(log/2), math.Exp(-log/2)
			u, v := []float64{x, y, 0}, []float64{y, 0, x}
			s := k.(Scaled).WithLengthScale(1e-9)
			want := s.Eval(u, v) * (x + y) // of the first bin alone
			if off := math.Abs(sum-want) / math.Sqrt((squares-sum*sum)/draws); off > 4 {
				t.Errorf("log(x/y) = %v: the mean cosine is %v, want %v: %.1f standard errors", log, sum, want, off)
			}
		}
	})
}
