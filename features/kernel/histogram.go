package kernel

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// NonNegative is the result of Above for kernels of inputs that are 0 or more: the largest number
// below 0.
const NonNegative = -math.SmallestNonzeroFloat64

// nonNegative is the domain of the kernels of histograms.
type nonNegative struct{}

func (nonNegative) Above() float64 { return NonNegative }

// The kernels of histograms compare rows as distributions: a bin of the size Scale is added to the
// row, and all bins are divided by their sum. The added bin distinguishes rows with different sums.
// If Scale is far below the sums of the rows, the kernels depend on the shares of the bins alone.

// total returns the sum of the bins of x and the added bin. Inputs outside the domain count as 0.
func total[T float32 | float64](x []T, scale float64) float64 {
	sum := scale
	for _, v := range x {
		sum += max(0, float64(v))
	}
	return sum
}

// bins sets dst to the distribution of x. dst has one more element than x.
func bins(dst []float64, x []float32, scale float64) {
	sum := total(x, scale)
	for i, v := range x {
		dst[i] = max(0, float64(v)) / sum
	}
	dst[len(x)] = scale / sum
}

// overBins returns the sum of f over all bins. f must be 0 if one of its arguments is.
func overBins(x, y []float64, scale float64, f func(a, b float64) float64) float64 {
	s, t := total(x, scale), total(y, scale)
	sum := f(scale/s, scale/t)
	for i, v := range x {
		if v > 0 && y[i] > 0 {
			sum += f(v/s, y[i]/t)
		}
	}
	return min(1, sum)
}

// additive is the common part of kernels Σⱼ k(xⱼ, yⱼ) over bins for which k is homogeneous, k(x, y)
// = √(xy) K(log(x/y)). If ω is drawn from the spectrum of K, √x cos(ω log x) and √x sin(ω log x)
// are random features of k (Vedaldi and Zisserman 2012, equation 9). A random feature belongs to
// one of the d bins, which is drawn as well, and has the factor √d.
type additive struct{ nonNegative }

// Sizes returns the numbers of parameters and of prepared values. The parameters are the bin and ω.
// A prepared row has the amplitudes of all bins, followed by their logarithms.
func (additive) Sizes(dim int) (parameters, prepared int) { return 2, 2 * (dim + 1) }

// prepare is Prepare for a kernel with this scale.
func (additive) prepare(dst []float64, x []float32, scale float64) {
	n := len(x) + 1
	bins(dst[:n], x, scale)
	for i, v := range dst[:n] {
		dst[i], dst[n+i] = 0, 0
		if v > 0 {
			dst[i], dst[n+i] = math.Sqrt(float64(n)*v), vec.Log(v)
		}
	}
}

func (additive) Pairs(dst, x, w []float64) {
	n := len(x) / 2
	for i := 0; i < len(dst); i += 2 {
		j := int(w[i])
		sin, cos := vec.Sincos(w[i+1] * x[n+j])
		dst[i], dst[i+1] = x[j]*cos, x[j]*sin
	}
}

// sample fills w with bins and with draws from a spectrum. The bins are at steps of the golden
// ratio from a random start, so that a block has nearly the same number of features for each bin.
func (additive) sample(w []float32, dim int, s *Source, draw func() float64) {
	at := s.Uint64()
	for i := 0; i < len(w); i += 2 {
		w[i], w[i+1] = float32(min(dim, int(unit(at)*float64(dim+1)))), float32(draw())
		at += golden
	}
}
