package features

import (
	"errors"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Matern is the Matérn kernel of half-integer smoothness Nu = p + ½,
//
//	exp(-a) p!/(2p)! Σₖ (2p-k)!/((p-k)! k!) (2a)ᵏ, k = 0, …, p, with a = √(2 Nu) ‖x-y‖/Scale
//
// (Rasmussen and Williams 2006, equation 4.16). Its frequencies g/(Scale √u) have
// Student's distribution with 2 Nu degrees of freedom: g is normal, and 2 Nu u,
// which the coordinates share, is the sum of the squares of 2 Nu normal numbers.
type Matern struct{ Nu, Scale float64 }

const (
	defaultNu = 1.5
	maxNu     = 9.5 // from where on the kernel is nearly Gaussian
)

var matern = Family{
	Name:  "matern",
	Usage: "matern[:NU[,SCALE]]",
	Help:  "Matérn, for functions with NU-½ derivatives; NU is 0.5, 1.5 (default), 2.5, … or 9.5",
	Parse: func(parameters string) (Kernel, error) {
		nu, scale, err := parseShapeScale(parameters, defaultNu, func(nu float64) error {
			if whole := nu - 0.5; whole != math.Trunc(whole) || nu < 0.5 || nu > maxNu {
				return errors.New("NU has to be 0.5, 1.5, 2.5, … or 9.5")
			}
			return nil
		})
		return Matern{nu, scale}, err
	},
	Examples: []string{"matern:0.5,2.5", "matern:1.5,0.3", "matern:2.5,1", "matern:9.5,0.7"},
}

func (k Matern) String() string                       { return withShapeScale("matern", k.Nu, k.Scale) }
func (k Matern) LengthScale() float64                 { return k.Scale }
func (k Matern) WithLengthScale(scale float64) Kernel { return Matern{k.Nu, scale} }

func (k Matern) Eval(x, y []float64) float64 {
	return k.at(squaredDistance(x, y), k.Scale*k.Scale)
}

func (k Matern) EvalSquared(dst, d []float64, squaredScale float64) {
	for i, v := range d {
		dst[i] = k.at(v, squaredScale)
	}
}

func (k Matern) at(squared, squaredScale float64) float64 {
	a := math.Sqrt(2 * k.Nu * squared / squaredScale)
	if a > 745 { // where the exponential is 0
		return 0
	}
	p := k.Nu - 0.5
	sum, term := 1.0, 1.0
	for i := 0.0; i < p; i++ {
		term *= float64(2*a) * (p - i) / ((2*p - i) * (i + 1))
		sum += term
	}
	return vec.Exp(-a) * sum
}

func (k Matern) Sample(w []float32, dim int, s *Source) {
	checkScale(k, k.Scale)
	s.FillNormal(w)
	z := make([]float32, int(2*k.Nu))
	for ; len(w) > 0; w = w[dim:] {
		s.FillNormal(z)
		u := 0.0
		for _, v := range z {
			u += float64(v) * float64(v)
		}
		f := math.Sqrt(2*k.Nu/max(u, 0x1p-80)) / k.Scale
		for i, v := range w[:dim] {
			w[i] = float32(float64(v) * f)
		}
	}
}
