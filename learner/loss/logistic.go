package loss

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Logistic is the loss ln(1+exp(-f)) of class 1 and ln(1+exp(f)) of class 0,
// for two classes: f is the logarithm of the odds for class 1.
type Logistic struct{}

func (Logistic) Value(f []float64, y float64) float64 {
	u := f[0]
	if y == 1 {
		u = -u
	}
	return max(u, 0) + vec.Log1p(vec.Exp(-math.Abs(u)))
}

func (Logistic) Grad(dst, f []float64, y float64) {
	if y == 1 {
		dst[0] = -sigmoid(-f[0])
	} else {
		dst[0] = sigmoid(f[0])
	}
}

func (Logistic) grads(dst, f, y []float64, models, _ int) {
	dst = dst[:len(f)]
	for i, u := range f {
		dst[i] = -math.Abs(u)
	}
	vec.Exps(dst, dst)
	for i, t := range y {
		for m := i * models; m < (i+1)*models; m++ {
			if t == 1 {
				dst[m] = -squash(-f[m], dst[m])
			} else {
				dst[m] = squash(f[m], dst[m])
			}
		}
	}
}

func (Logistic) Link(dst, f []float64) { dst[0], dst[1] = sigmoid(-f[0]), sigmoid(f[0]) }
func (Logistic) Outputs(int) int       { return 1 }
func (Logistic) Smoothness() float64   { return 0.25 }
func (Logistic) Classifies() bool      { return true }
func (Logistic) String() string        { return "logistic" }

func sigmoid(u float64) float64 { return squash(u, vec.Exp(-math.Abs(u))) }

// squash returns 1/(1+exp(-u)), given e = exp(-|u|). It keeps its relative
// accuracy in both tails.
func squash(u, e float64) float64 {
	if u < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}
