package kernel

import (
	"errors"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Matern is the Matérn kernel of smoothness Nu, with a = √(2 Nu) ‖x-y‖/Scale
//
//	2/Γ(Nu) (a/2)^Nu K_Nu(a), and for half-integer Nu = p + ½
//	exp(-a) p!/(2p)! Σₖ (2p-k)!/((p-k)! k!) (2a)ᵏ, k = 0, …, p
//
// (Rasmussen and Williams 2006, equations 4.14 and 4.16). Its frequencies g/(Scale √u) have
// Student's distribution with 2 Nu degrees of freedom: g is normal, and u, which all coordinates
// share, has the gamma distribution with shape and rate Nu. For a half-integer Nu, u comes from the
// sum of the squares of 2 Nu normal numbers.
type Matern struct{ Nu, Scale float64 }

const (
	defaultNu = 1.5
	minNu     = 0.25
	maxNu     = 9.5 // above it the kernel is nearly Gaussian
)

var matern = Family{
	Name:  "matern",
	Usage: "matern[:NU[,SCALE]]",
	Help:  "Matérn, for functions with fewer than NU derivatives; NU is 0.25 to 9.5, 1.5 by default, and faster for 0.5, 1.5, 2.5, …",
	Parse: func(parameters string) (Kernel, error) {
		nu, scale, err := parseShapeScale(parameters, defaultNu, checkNu)
		return Matern{nu, scale}, err
	},
	Examples: []string{"matern:0.5,2.5", "matern:1.5,0.3", "matern:2.5,1", "matern:9.5,0.7", "matern:0.8,2.5", "matern:2,0.3"},
}

func checkNu(nu float64) error {
	if !(nu >= minNu && nu <= maxNu) {
		return errors.New("NU has to be a number from 0.25 to 9.5")
	}
	return nil
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

// half reports whether Nu is a half-integer.
func (k Matern) half() bool { return k.Nu-0.5 == math.Trunc(k.Nu-0.5) }

func (k Matern) at(squared, squaredScale float64) float64 {
	if !k.half() {
		return k.mixture(k.Nu * squared / (2 * squaredScale))
	}
	a := math.Sqrt(2 * k.Nu * squared / squaredScale)
	if a > 745 { // the exponential is 0
		return 0
	}
	p := k.Nu - 0.5
	sum, term := 1.0, 1.0
	for i := 0.0; i < p; i++ {
		term = float64(term * (2 * a * (p - i) / ((float64(2*p) - i) * (i + 1))))
		sum += term
	}
	return vec.Exp(-a) * sum
}

// mixture returns the kernel for q = a²/4. It computes it as a mixture of Gaussian kernels, ∫
// exp(Nu s - exp(s) - q exp(-s)) ds / Γ(Nu), with both integrals by the trapezoidal rule. The error
// of the rule is about |Γ(Nu + 2πi/step)/Γ(Nu)|, which is below 10⁻¹¹ (Trefethen and Weideman
// 2014). Terms that are below exp(-tail) of the largest are left out.
func (k Matern) mixture(q float64) float64 {
	if q == 0 {
		return 1
	}
	if !(q < 1e300) { // of infinities and NaN the integral below would not end
		return min(0, q)
	}
	const step, tail = 0.2, 32
	// Γ(Nu) = Γ(Nu+3)/(Nu (Nu+1) (Nu+2)); the integral of Γ(Nu+3) has a short tail.
	gamma := 0.0
	for s := -13.0; s < 5; s += step {
		gamma += vec.Exp(float64((k.Nu+3)*s) - vec.Exp(s))
	}
	gamma /= k.Nu * (k.Nu + 1) * (k.Nu + 2)
	sum := 0.0
	exponent := func(s float64) float64 {
		e := vec.Exp(s)
		return float64(k.Nu*s) - e - q/e
	}
	// The exponent is concave, with the maximum where exp(s) solves e² - Nu e - q = 0.
	top := vec.Log((k.Nu + math.Sqrt(float64(k.Nu*k.Nu)+float64(4*q))) / 2)
	top = float64(step * math.Round(top/step))
	least := exponent(top) - tail
	for _, turn := range [...]float64{-step, step} {
		for s := top + turn; ; s += turn {
			e := exponent(s)
			if e < least {
				break
			}
			sum += vec.Exp(e)
		}
	}
	return min(1, (sum+vec.Exp(exponent(top)))/gamma)
}

func (k Matern) Sample(w []float32, dim int, s *Source) {
	checkScale(k, k.Scale)
	checkShape(k, k.Nu, checkNu)
	s.FillNormal(w)
	z := make([]float32, int(2*k.Nu))
	for ; len(w) > 0; w = w[dim:] {
		u := 0.0
		if k.half() {
			s.FillNormal(z)
			for _, v := range z {
				u += float64(float64(v) * float64(v))
			}
		} else {
			u = 2 * s.Gamma(k.Nu)
		}
		f := math.Sqrt(2*k.Nu/max(u, 0x1p-80)) / k.Scale
		for i, v := range w[:dim] {
			w[i] = float32(float64(v) * f)
		}
	}
}
