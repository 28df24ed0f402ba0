package refit

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Logistic is ln(1+exp(-bz)), which the paper calls the sigmoid loss. Its dual
// variable is y = -bp with a probability p.
type Logistic struct{}

func (Logistic) Value(z, b float64) float64 {
	u := b * z
	return max(-u, 0) + vec.Log1p(vec.Exp(-math.Abs(u)))
}

func (Logistic) Slope(z, b float64) float64 { return -b * sigmoid(-b*z) }

func (Logistic) Conjugate(y, b float64) float64 {
	p := float64(-b * y)
	switch {
	case !(p >= 0 && p <= 1):
		return math.Inf(1)
	case p == 0 || p == 1:
		return 0
	}
	return float64(p*vec.Log(p)) + float64((1-p)*vec.Log1p(-p))
}

// Prox is Newton's method for the root of t + bs + r(sigmoid(t) + by), where t is
// the logarithm of the odds of p. The function increases with a slope of 1 to
// 1 + r/4, and sigmoid is between 0 and 1, so the root is in a bracket of width
// r; a step that leaves it, or shrinks it by less than a half, is a bisection.
func (Logistic) Prox(s, y, b, r float64) float64 {
	c := float64(b*s) + float64(r*(b*y))
	lo, hi := -c-r, -c
	p := float64(-b * y)
	t := hi
	if p > 0 && p < 1 {
		t = max(lo, min(hi, vec.Log(p)-vec.Log1p(-p)))
	}
	for last := hi - lo; ; {
		p = sigmoid(t)
		f := t + c + float64(r*p)
		if f > 0 {
			hi = t
		} else {
			lo = t
		}
		step := f / (1 + float64(r*(p*sigmoid(-t))))
		next := t - step
		if !(next > lo && next < hi) || math.Abs(step) > last/2 {
			next = lo + float64((hi-lo)/2)
		}
		last = math.Abs(next - t)
		if last <= 1e-15*(1+math.Abs(t)) {
			return -b * p
		}
		t = next
	}
}

func (Logistic) Gamma() float64          { return 4 }
func (Logistic) Start(b float64) float64 { return -b / 2 }
func (Logistic) String() string          { return "logistic" }

// sigmoid is 1/(1+exp(-u)), with its relative accuracy kept in both tails.
func sigmoid(u float64) float64 {
	e := vec.Exp(-math.Abs(u))
	if u < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}
