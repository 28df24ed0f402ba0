package kernel

import (
	"errors"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/features/kernel/random"
	"github.com/accrete-ml/accrete/internal/vec"
)

// Bounded is a Kernel for inputs that exceed some number.
type Bounded interface {
	Kernel

	// Above returns the number that every input has to exceed.
	Above() float64
}

// Mapped is a Kernel that is shift-invariant in a function of each input. The function is defined
// for inputs above some number. The arguments of Eval and the frequencies refer to the values of
// the function, which the learner computes and scales.
type Mapped interface {
	Bounded

	// Input returns the function's value at x. If x does not exceed Above, it returns a finite
	// number.
	Input(x float64) float64
}

// Domain describes the inputs that exceed a number: "above -1", or "of 0 or more".
func Domain(above float64) string {
	if above == NonNegative {
		return "of 0 or more"
	}
	return fmt.Sprintf("above %v", above)
}

// skew is the common part of both skewed kernels: they are kernels of log(x + C).
type skew struct{ C float64 }

const defaultSkew = 1.0

func (k skew) Above() float64 { return -k.C }

func (k skew) Input(x float64) float64 {
	const least = 0x1p-1022 // the smallest number of full precision
	return vec.Log(max(least, min(math.MaxFloat64, x+k.C)))
}

func checkSkew(c float64) error {
	if !validScale(c) {
		return errors.New("the shift C has to be a number from 1e-12 to 1e+12")
	}
	return nil
}

// parseSkew reads C[,SCALE].
func parseSkew(parameters string) (skew, float64, error) {
	c, scale, err := parseShapeScale(parameters, defaultSkew, checkSkew)
	return skew{c}, scale, err
}

// SkewedChi2 is the skewed χ² kernel ∏ᵢ 2√(xᵢ+C)√(yᵢ+C)/(xᵢ+yᵢ+2C) (Li, Ionescu and Sminchisescu
// 2010). In terms of u = log(x+C) and v = log(y+C), it is the product of 1/cosh((uᵢ-vᵢ)/2). Here it
// has a scale: the product of 1/cosh((uᵢ-vᵢ)/(2 Scale)). The frequencies have the density
// Scale/cosh(π Scale ω) in each coordinate.
type SkewedChi2 struct {
	skew
	Scale float64
}

var skewedChi2 = Family{
	Name:  "skewed-chi2",
	Usage: "skewed-chi2[:C[,SCALE]]",
	Help:  "the product of 2√(xᵢ+C)√(yᵢ+C)/(xᵢ+yᵢ+2C), for histograms; inputs have to exceed -C, which is -1 by default",
	Parse: func(parameters string) (Kernel, error) {
		c, scale, err := parseSkew(parameters)
		return SkewedChi2{c, scale}, err
	},
	Examples: []string{"skewed-chi2:1,1", "skewed-chi2:0.03,2"},
}

func (k SkewedChi2) String() string                       { return withShapeScale("skewed-chi2", k.C, k.Scale) }
func (k SkewedChi2) LengthScale() float64                 { return k.Scale }
func (k SkewedChi2) WithLengthScale(scale float64) Kernel { return SkewedChi2{k.skew, scale} }
func (k SkewedChi2) Quantile(u float64) float64           { return random.SechQuantile(u) / k.Scale }

func (k SkewedChi2) Eval(x, y []float64) float64 {
	p := 1.0
	for i, v := range x {
		if v == y[i] { // this holds for most columns of a sparse histogram
			continue
		}
		e := vec.Exp(-math.Abs(v-y[i]) / (2 * k.Scale))
		p *= 2 * e / (1 + float64(e*e))
	}
	return p
}

func (k SkewedChi2) Sample(w []float32, _ int, s *Source) {
	checkScale(k, k.Scale)
	checkShape(k, k.C, checkSkew)
	for i := range w {
		w[i] = float32(k.Quantile(s.Float64()))
	}
}

// SkewedIntersection is the skewed intersection kernel ∏ᵢ min(√((xᵢ+C)/(yᵢ+C)), √((yᵢ+C)/(xᵢ+C)))
// (Li, Ionescu and Sminchisescu 2010). In terms of u = log(x+C) and v = log(y+C), it is
// exp(-‖u-v‖₁/2). Here it has a scale: exp(-‖u-v‖₁/(2 Scale)). The frequencies are Cauchy in each
// coordinate.
type SkewedIntersection struct {
	skew
	Scale float64
}

var skewedIntersection = Family{
	Name:  "skewed-intersection",
	Usage: "skewed-intersection[:C[,SCALE]]",
	Help:  "the product of min(√((xᵢ+C)/(yᵢ+C)), √((yᵢ+C)/(xᵢ+C))), for histograms; inputs have to exceed -C, which is -1 by default",
	Parse: func(parameters string) (Kernel, error) {
		c, scale, err := parseSkew(parameters)
		return SkewedIntersection{c, scale}, err
	},
	Examples: []string{"skewed-intersection:1,1", "skewed-intersection:0.03,2"},
}

func (k SkewedIntersection) String() string {
	return withShapeScale("skewed-intersection", k.C, k.Scale)
}
func (k SkewedIntersection) LengthScale() float64 { return k.Scale }
func (k SkewedIntersection) WithLengthScale(scale float64) Kernel {
	return SkewedIntersection{k.skew, scale}
}

func (k SkewedIntersection) Quantile(u float64) float64 {
	return random.CauchyQuantile(u) / (2 * k.Scale)
}

func (k SkewedIntersection) Eval(x, y []float64) float64 {
	return Laplacian{2 * k.Scale}.Eval(x, y)
}

func (k SkewedIntersection) Sample(w []float32, _ int, s *Source) {
	checkScale(k, k.Scale)
	checkShape(k, k.C, checkSkew)
	for i := range w {
		w[i] = float32(s.Cauchy() / (2 * k.Scale))
	}
}
