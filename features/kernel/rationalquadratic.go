package kernel

import (
	"errors"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// RationalQuadratic is the kernel (1 + ‖x-y‖²/(2 Alpha Scale²))^-Alpha, a mixture of Gaussian
// kernels with many scales (Rasmussen and Williams 2006, equation 4.19). Its frequencies are
// g√u/Scale: g is normal, and u, which all coordinates share, has the gamma distribution with shape
// and rate Alpha.
type RationalQuadratic struct{ Alpha, Scale float64 }

const defaultAlpha, minAlpha, maxAlpha = 1.0, 1e-2, 1e4

var rationalQuadratic = Family{
	Name:  "rational-quadratic",
	Usage: "rational-quadratic[:ALPHA[,SCALE]]",
	Help:  "(1 + ‖x-y‖²/(2 ALPHA SCALE²))^-ALPHA, for functions that vary on several scales; ALPHA is 1 by default",
	Parse: func(parameters string) (Kernel, error) {
		alpha, scale, err := parseShapeScale(parameters, defaultAlpha, checkAlpha)
		return RationalQuadratic{alpha, scale}, err
	},
	Examples: []string{"rational-quadratic:1,2.5", "rational-quadratic:0.3,0.3", "rational-quadratic:20,1"},
}

func checkAlpha(alpha float64) error {
	if !(alpha >= minAlpha && alpha <= maxAlpha) {
		return errors.New("ALPHA has to be a number from 0.01 to 10000")
	}
	return nil
}

func (k RationalQuadratic) String() string {
	return withShapeScale("rational-quadratic", k.Alpha, k.Scale)
}
func (k RationalQuadratic) LengthScale() float64 { return k.Scale }
func (k RationalQuadratic) WithLengthScale(scale float64) Kernel {
	return RationalQuadratic{k.Alpha, scale}
}

func (k RationalQuadratic) Eval(x, y []float64) float64 {
	return k.at(squaredDistance(x, y), k.Scale*k.Scale)
}

func (k RationalQuadratic) EvalSquared(dst, d []float64, squaredScale float64) {
	for i, v := range d {
		dst[i] = k.at(v, squaredScale)
	}
}

func (k RationalQuadratic) at(squared, squaredScale float64) float64 {
	return vec.Exp(-k.Alpha * vec.Log1p(squared/(2*k.Alpha*squaredScale)))
}

func (k RationalQuadratic) Sample(w []float32, dim int, s *Source) {
	checkScale(k, k.Scale)
	checkShape(k, k.Alpha, checkAlpha)
	s.FillNormal(w)
	for ; len(w) > 0; w = w[dim:] {
		f := math.Sqrt(s.Gamma(k.Alpha)/k.Alpha) / k.Scale
		for i, v := range w[:dim] {
			w[i] = float32(float64(v) * f)
		}
	}
}
