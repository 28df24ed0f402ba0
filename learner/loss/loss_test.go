package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
)

const classes = 5

// each calls f with every loss and a few hundred outputs, near and far.
func each(t *testing.T, f func(t *testing.T, l Loss, u []float64, y float64)) {
	for _, l := range All {
		t.Run(l.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for _, spread := range []float64{0.1, 1, 10} {
				for range 100 {
					u := make([]float64, l.Outputs(classes))
					for i := range u {
						u[i] = spread * rng.NormFloat64()
					}
					f(t, l, u, target(l, rng))
				}
			}
		})
	}
}

func target(l Loss, rng *rand.Rand) float64 {
	switch l.(type) {
	case Square:
		return rng.NormFloat64()
	case Logistic:
		return float64(rng.IntN(2))
	}
	return float64(rng.IntN(classes))
}

func TestGradIsTheDerivativeOfValue(t *testing.T) {
	each(t, func(t *testing.T, l Loss, u []float64, y float64) {
		got := make([]float64, len(u))
		l.Grad(got, u, y)
		want := fd.Gradient(nil, func(u []float64) float64 { return l.Value(u, y) }, u, &fd.Settings{Formula: fd.Central})
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-6*(1+math.Abs(want[i])) {
				t.Errorf("%v: Grad(%v, %v) = %v, numerically %v", l, u, y, got, want)
			}
		}
	})
}

// TestSmoothnessBoundsTheCurvature is what the step size relies on: a gradient
// never changes by more than Smoothness times the distance.
func TestSmoothnessBoundsTheCurvature(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	each(t, func(t *testing.T, l Loss, u []float64, y float64) {
		v, gu, gv := slices.Clone(u), slices.Clone(u), slices.Clone(u)
		var far, near float64
		for i := range v {
			v[i] += 0.1 * rng.NormFloat64()
		}
		l.Grad(gu, u, y)
		l.Grad(gv, v, y)
		for i := range v {
			near += (v[i] - u[i]) * (v[i] - u[i])
			far += (gv[i] - gu[i]) * (gv[i] - gu[i])
		}
		if bound := l.Smoothness() * l.Smoothness() * near; far > bound*(1+1e-9) {
			t.Errorf("%v: from %v to %v the gradient moves by %v, more than %v", l, u, v, math.Sqrt(far), math.Sqrt(bound))
		}
	})
}

func TestLinkOfAClassifierIsADistribution(t *testing.T) {
	each(t, func(t *testing.T, l Loss, u []float64, y float64) {
		if l == (Square{}) {
			return
		}
		p := make([]float64, max(2, l.Outputs(classes)))
		l.Link(p, u)
		sum := 0.0
		for _, p := range p {
			sum += p
		}
		if math.Abs(sum-1) > 1e-14 || slices.Min(p) < 0 {
			t.Errorf("%v: Link(%v) = %v, which adds up to %v", l, u, p, sum)
		}
		// The loss of a classifier is -ln of the probability that it gave.
		if got, want := l.Value(u, y), -math.Log(p[int(y)]); math.Abs(got-want) > 1e-10*(1+want) {
			t.Errorf("%v: Value(%v, %v) = %v, -ln of its probability is %v", l, u, y, got, want)
		}
	})
}

// TestSoftmaxOfTwoIsLogistic: a binary model becomes one of more classes by
// this identity.
func TestSoftmaxOfTwoIsLogistic(t *testing.T) {
	for _, u := range []float64{-700, -3, -1e-9, 0, 0.5, 40} {
		for y := range 2 {
			a, b := Logistic{}.Value([]float64{u}, float64(y)), Softmax{}.Value([]float64{-u / 2, u / 2}, float64(y))
			if math.Abs(a-b) > 1e-14*(1+a) {
				t.Errorf("u = %v, class %d: logistic %v, softmax %v", u, y, a, b)
			}
		}
	}
}

func TestFarOutputsStayFinite(t *testing.T) {
	for _, l := range All {
		if l == (Square{}) {
			continue // its square is the caller's to bound
		}
		for _, far := range []float64{1e3, 1e8, 1e300} {
			for sign := range 2 {
				u := make([]float64, l.Outputs(classes))
				u[0] = far * float64(1-2*sign)
				g, p := slices.Clone(u), make([]float64, max(2, len(u)))
				for y := range 2 {
					v := l.Value(u, float64(y))
					l.Grad(g, u, float64(y))
					l.Link(p, u)
					for _, z := range append(append([]float64{v}, g...), p...) {
						if math.IsNaN(z) || math.IsInf(z, 0) {
							t.Errorf("%v: Value(%v, %d) = %v, gradient %v, link %v", l, u, y, v, g, p)
						}
					}
				}
			}
		}
	}
}

func TestParseReadsString(t *testing.T) {
	for _, l := range All {
		if got, err := Parse(l.String()); err != nil || got != l {
			t.Errorf("Parse(%q) = %v, %v", l, got, err)
		}
	}
	for _, s := range []string{"", "hinge:", "Square", "square "} {
		if l, err := Parse(s); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", s, l)
		}
	}
}
