package kernel

import (
	"errors"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Hierarchical is the two-layer kernel exp(-‖Ψ(x)-Ψ(y)‖²/(2 Width²)): the Gaussian kernel of the
// features Ψ of a Gaussian kernel k with this Scale. Because ‖Ψ(x)-Ψ(y)‖² = 2 - 2k(x, y), it is
// exp((k(x, y) - 1)/Width²) (theorem 3 of Dai et al. 2014, with a random first layer; Cho and Saul
// 2009). This is a mixture of the powers of k with the probabilities of a Poisson distribution. A
// frequency is therefore the sum of n frequencies of k, which is distributed as √n times one of
// them, where n has a Poisson distribution with mean 1/Width². For n = 0 the feature is constant.
type Hierarchical struct{ Width, Scale float64 }

const defaultWidth, minLayerWidth, maxLayerWidth = 1.0, 0.1, 1.5

var hierarchical = Family{
	Name:  "hierarchical",
	Usage: "hierarchical[:WIDTH[,SCALE]]",
	Help:  "exp(-(1 - gaussian:SCALE)/WIDTH²), a Gaussian kernel of the features of another; WIDTH is 0.1 to 1.5, 1 by default",
	Parse: func(parameters string) (Kernel, error) {
		width, scale, err := parseShapeScale(parameters, defaultWidth, checkWidth)
		return Hierarchical{width, scale}, err
	},
	Examples: []string{"hierarchical:1,2.5", "hierarchical:0.3,1", "hierarchical:1.5,0.3"},
}

func checkWidth(width float64) error {
	if !(width >= minLayerWidth && width <= maxLayerWidth) {
		return errors.New("WIDTH has to be a number from 0.1 to 1.5")
	}
	return nil
}

func (k Hierarchical) String() string                       { return withShapeScale("hierarchical", k.Width, k.Scale) }
func (k Hierarchical) LengthScale() float64                 { return k.Scale }
func (k Hierarchical) WithLengthScale(scale float64) Kernel { return Hierarchical{k.Width, scale} }

func (k Hierarchical) Eval(x, y []float64) float64 {
	return k.at(squaredDistance(x, y), k.Scale*k.Scale)
}

func (k Hierarchical) EvalSquared(dst, d []float64, squaredScale float64) {
	for i, v := range d {
		dst[i] = k.at(v, squaredScale)
	}
}

func (k Hierarchical) at(squared, squaredScale float64) float64 {
	return vec.Exp(vec.Expm1(-squared/(2*squaredScale)) / (k.Width * k.Width))
}

// Sample draws n by counting uniform factors until their product is below exp(-1/Width²) (Knuth).
func (k Hierarchical) Sample(w []float32, dim int, s *Source) {
	checkScale(k, k.Scale)
	checkShape(k, k.Width, checkWidth)
	s.FillNormal(w)
	least := vec.Exp(-1 / float64(k.Width*k.Width))
	for ; len(w) > 0; w = w[dim:] {
		n, p := 0, s.Float64()
		for p > least {
			n++
			p *= s.Float64()
		}
		f := math.Sqrt(float64(n)) / k.Scale
		for i, v := range w[:dim] {
			w[i] = float32(float64(v) * f)
		}
	}
}
