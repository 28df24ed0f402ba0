package kernel_test

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
)

// eachFeatured runs f with the kernels that have features of their own.
func eachFeatured(t *testing.T, f func(t *testing.T, k kernel.Featured)) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		if own, ok := k.(kernel.Featured); ok {
			f(t, own)
		}
	})
}

// A kernel with features of its own is symmetric, at most 1 at the same row, no larger
// than Cauchy and Schwarz allow, and depends on rows in units of its scale alone.
func TestFeaturedKernelsAreKernels(t *testing.T) {
	const n, dim = 6, 5
	eachFeatured(t, func(t *testing.T, k kernel.Featured) {
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
				s := k.(kernel.Scaled)
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
		k    kernel.Kernel
		want float64
	}{
		{kernel.Chi2{Scale: 1}, 0.5 + 2*0.125/0.75},
		{kernel.Intersection{Scale: 1}, 0.75},
		{kernel.JensenShannon{Scale: 1}, js},
		{kernel.Hellinger{Scale: 1}, 0.5 + math.Sqrt(0.125)},
		{kernel.Polynomial{3, 1}, c * c * c},
		{kernel.DotProduct{1, 1}, (1 - math.Pow(c, 9)) / (1 - c) / 9},
		{kernel.ArcCosine{0, 1}, 1 - math.Acos(c)/math.Pi},
		{kernel.ArcCosine{1, 1}, (math.Sqrt(1-c*c) + (math.Pi-math.Acos(c))*c) / math.Pi},
		{kernel.ExponentialSemigroup{Scale: 3}, math.Exp(-math.Sqrt(1./3) - 1)},
		{kernel.ReciprocalSemigroup{Scale: 2}, 1 / (1.5 * 2.5)},
	} {
		if got := test.k.Eval(x, y); math.Abs(got-test.want) > 1e-14 {
			t.Errorf("%v: %v, want %v", test.k, got, test.want)
		}
	}
}

// No input makes a feature infinite or NaN.
func TestFeaturedKernelsOfExtremeRows(t *testing.T) {
	x := []float32{0, 0, 0, 1e-45, math.MaxFloat32, 1, -1, -math.MaxFloat32, 3, math.MaxFloat32, math.MaxFloat32, math.MaxFloat32}
	eachFeatured(t, func(t *testing.T, k kernel.Featured) {
		for _, scale := range []float64{1e-12, 1, 1e12} {
			b := features.NewBank(features.Map{Kernel: k.(kernel.Scaled).WithLengthScale(scale), Dim: 3, Seed: 1})
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
