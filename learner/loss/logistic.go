package loss

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Logistic is the loss ln(1+exp(-f)) of class 1 and ln(1+exp(f)) of class 0,
// for two classes: f is the logarithm of the odds for class 1.
type Logistic struct{}

func (Logistic) Value(f []float64, y float64) float64 {
	return Logistic{}.ValueExp(f, y, vec.Exp(-math.Abs(f[0])))
}

// ValueExp returns Value. e is the result of LinkExp.
func (Logistic) ValueExp(f []float64, y, e float64) float64 {
	u := f[0]
	if y == 1 {
		u = -u
	}
	return max(u, 0) + vec.Log1p(e)
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
	// This is squash without a branch, which could not be predicted: the sign of f, inverted for
	// class 1, selects the numerator.
	one := math.Float64bits(1)
	for i, t := range y {
		flip := uint64(0)
		if t == 1 {
			flip = 1 << 63
		}
		for m := i * models; m < (i+1)*models; m++ {
			e := dst[m]
			negative := uint64(int64(math.Float64bits(f[m])^flip) >> 63) // all bits set, or none
			numerator := one ^ (one^math.Float64bits(e))&negative
			dst[m] = math.Float64frombits(math.Float64bits(math.Float64frombits(numerator)/(1+e)) | flip)
		}
	}
}

// Link sets dst to the probabilities of both classes.
func (l Logistic) Link(dst, f []float64) { l.LinkExp(dst, f) }

// LinkExp does the same as Link, and returns exp(-|f|).
func (Logistic) LinkExp(dst, f []float64) float64 {
	e := vec.Exp(-math.Abs(f[0]))
	dst[0], dst[1] = squash(-f[0], e), squash(f[0], e)
	return e
}

func (Logistic) Scores(int) int      { return 1 }
func (Logistic) Smoothness() float64 { return 0.25 }
func (Logistic) Classifies() bool    { return true }
func (Logistic) String() string      { return "logistic" }

// Conjugate is the negative entropy of p = -yu, a probability, with y = ±1.
func (Logistic) Conjugate(u []float64, y float64) float64 {
	p := float64(-sign(u, 0, y) * u[0])
	switch {
	case !(p >= 0 && p <= 1):
		return math.Inf(1)
	case p == 0 || p == 1:
		return 0
	}
	return float64(p*vec.Log(p)) + float64((1-p)*vec.Log1p(-p))
}

// Prox uses Newton's method to find the root of t + ys + r(sigmoid(t) + yu), where t is the
// logarithm of the odds of p = -yβ, and y = ±1. The slope of this function is between 1 and 1 +
// r/4, and sigmoid is between 0 and 1, so that the root is in a bracket of width r. If a step
// leaves the bracket, or is longer than half the step before it, a bisection replaces it.
func (Logistic) Prox(u, s []float64, y, r float64) {
	b := sign(u, 0, y)
	c := float64(b*s[0]) + float64(r*(b*u[0]))
	lo, hi := -c-r, -c
	p := float64(-b * u[0])
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
		if last <= 1e-15*(1+math.Abs(t)) { // a few units in the last place
			u[0] = -b * p
			return
		}
		t = next
	}
}

// DualStart starts at the probability 1/2, because the slope of the conjugate is infinite at 0.
func (Logistic) DualStart(u []float64, y float64) { u[0] = -sign(u, 0, y) / 2 }

func sigmoid(u float64) float64 { return squash(u, vec.Exp(-math.Abs(u))) }

// squash returns 1/(1+exp(-u)), given e = exp(-|u|). It keeps its relative
// accuracy in both tails.
func squash(u, e float64) float64 {
	if u < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}
