package kernel

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// semigroup is the common part of kernels E exp(-ωᵀ(x+y)) for inputs that are 0 or more: the
// Laplace transform of a distribution of ω ≥ 0. Their random features are exp(-ωᵀx), of which two
// make a pair (Yang, Sindhwani, Fan, Avron and Mahoney 2014). They are at most 1, and become small
// far from 0.
type semigroup struct{ nonNegative }

func (semigroup) Sizes(dim int) (parameters, prepared int) { return 2 * dim, dim }

// prepare is Prepare for a kernel with this scale.
func (semigroup) prepare(dst []float64, x []float32, scale float64) {
	for i, v := range x {
		dst[i] = min(largest, max(0, float64(v))/scale)
	}
}

// largest bounds rows, so that no product with ω is infinite.
const largest = 0x1p30

func (k semigroup) Pairs(dst, x, w []float64) { k.FromProducts(dst, dots(x, w)) }

func (semigroup) FromProducts(dst, products []float64) {
	for i, u := range products {
		dst[i] = -u
	}
	vec.Exps(dst, dst)
	for i := range dst {
		dst[i] *= math.Sqrt2 / 2
	}
}

// ExponentialSemigroup is the kernel exp(-Σⱼ √((xⱼ+yⱼ)/Scale)). Its ω have the Lévy
// distribution, 1/(2z²) for a normal z.
type ExponentialSemigroup struct {
	semigroup
	Scale float64
}

var exponentialSemigroup = Family{
	Name:  "exponential-semigroup",
	Usage: "exponential-semigroup[:SCALE]",
	Help:  "exp(-Σ √((xᵢ+yᵢ)/SCALE)), for few inputs; they are 0 or more",
	Parse: func(parameters string) (Kernel, error) {
		scale, err := parseScale(parameters)
		return ExponentialSemigroup{Scale: scale}, err
	},
	Examples: []string{"exponential-semigroup:2.5", "exponential-semigroup:30"},
}

func (k ExponentialSemigroup) String() string       { return withScale("exponential-semigroup", k.Scale) }
func (k ExponentialSemigroup) LengthScale() float64 { return k.Scale }
func (k ExponentialSemigroup) WithLengthScale(scale float64) Kernel {
	return ExponentialSemigroup{Scale: scale}
}

func (k ExponentialSemigroup) Eval(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += math.Sqrt((max(0, v) + max(0, y[i])) / k.Scale)
	}
	return vec.Exp(-s)
}

func (k ExponentialSemigroup) Prepare(dst []float64, x []float32) { k.prepare(dst, x, k.Scale) }

func (k ExponentialSemigroup) Sample(w []float32, _ int, s *Source) {
	checkScale(k, k.Scale)
	s.FillNormal(w)
	for i, z := range w {
		z := float64(z)
		w[i] = float32(1 / (2 * max(0x1p-80, float64(z*z))))
	}
}

// ReciprocalSemigroup is the kernel ∏ⱼ 1/(1 + (xⱼ+yⱼ)/Scale). Its ω are exponential.
type ReciprocalSemigroup struct {
	semigroup
	Scale float64
}

var reciprocalSemigroup = Family{
	Name:  "reciprocal-semigroup",
	Usage: "reciprocal-semigroup[:SCALE]",
	Help:  "the product of 1/(1 + (xᵢ+yᵢ)/SCALE), for few inputs; they are 0 or more",
	Parse: func(parameters string) (Kernel, error) {
		scale, err := parseScale(parameters)
		return ReciprocalSemigroup{Scale: scale}, err
	},
	Examples: []string{"reciprocal-semigroup:2.5", "reciprocal-semigroup:30"},
}

func (k ReciprocalSemigroup) String() string       { return withScale("reciprocal-semigroup", k.Scale) }
func (k ReciprocalSemigroup) LengthScale() float64 { return k.Scale }
func (k ReciprocalSemigroup) WithLengthScale(scale float64) Kernel {
	return ReciprocalSemigroup{Scale: scale}
}

func (k ReciprocalSemigroup) Eval(x, y []float64) float64 {
	p := 1.0
	for i, v := range x {
		p /= 1 + (max(0, v)+max(0, y[i]))/k.Scale
	}
	return p
}

func (k ReciprocalSemigroup) Prepare(dst []float64, x []float32) { k.prepare(dst, x, k.Scale) }

func (k ReciprocalSemigroup) Sample(w []float32, _ int, s *Source) {
	checkScale(k, k.Scale)
	for i := range w {
		w[i] = float32(-vec.Log(s.Float64()))
	}
}
