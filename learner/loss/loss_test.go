package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
)

const classes = 5

// each calls f with every loss and a few hundred scores, near and far.
func each(t *testing.T, f func(t *testing.T, l Loss, u []float64, y float64)) {
	for _, l := range All {
		t.Run(l.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for _, spread := range []float64{0.1, 1, 10} {
				for _, n := range []int{2, classes} {
					for range 100 {
						u := make([]float64, l.Scores(n))
						for i := range u {
							u[i] = spread * rng.NormFloat64()
						}
						f(t, l, u, math.Mod(target(l, rng), max(2, float64(len(u)))))
					}
				}
			}
		})
	}
}

func target(l Loss, rng *rand.Rand) float64 {
	switch {
	case !l.Classifies() && rng.IntN(2) == 0:
		return float64(rng.IntN(4)) // a count
	case !l.Classifies():
		return rng.NormFloat64()
	case l.Scores(classes) == 1:
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

func TestGradsIsGrad(t *testing.T) {
	const models = 3
	rng := rand.New(rand.NewPCG(7, 8))
	for _, l := range All {
		for _, n := range []int{2, classes} {
			k := l.Scores(n)
			f, y := make([]float64, 50*models*k), make([]float64, 50)
			for i := range f {
				f[i] = rng.NormFloat64() * math.Ldexp(1, rng.IntN(11))
			}
			for i := range y {
				y[i] = math.Mod(target(l, rng), max(2, float64(k)))
			}
			got, want := make([]float64, len(f)), make([]float64, k)
			Grads(l, got, f, y, models)
			for i := 0; i < len(f); i += k {
				if l.Grad(want, f[i:i+k], y[i/(models*k)]); !slices.Equal(got[i:i+k], want) {
					t.Errorf("%v: the gradient at %v is %v among others and %v alone", l, f[i:i+k], got[i:i+k], want)
				}
			}
		}
	}
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
		if math.IsInf(l.Smoothness(), 1) {
			return
		}
		if bound := l.Smoothness() * l.Smoothness() * near; far > bound*(1+1e-9) {
			t.Errorf("%v: from %v to %v the gradient moves by %v, more than %v", l, u, v, math.Sqrt(far), math.Sqrt(bound))
		}
	})
}

func TestLinkOfAClassifierIsADistribution(t *testing.T) {
	each(t, func(t *testing.T, l Loss, u []float64, y float64) {
		if !l.Classifies() {
			return
		}
		p := make([]float64, max(2, len(u)))
		l.Link(p, u)
		sum := 0.0
		for _, p := range p {
			sum += p
		}
		if math.Abs(sum-1) > 1e-14 || slices.Min(p) < 0 {
			t.Errorf("%v: Link(%v) = %v, which adds up to %v", l, u, p, sum)
		}
		if l != (Logistic{}) && l != (Softmax{}) {
			return
		}
		// The loss of these is -ln of the probability that they gave.
		if got, want := l.Value(u, y), -math.Log(p[int(y)]); math.Abs(got-want) > 1e-10*(1+want) {
			t.Errorf("%v: Value(%v, %v) = %v, -ln of its probability is %v", l, u, y, got, want)
		}
	})
}

// TestLinkOfAClassifierKeepsTheOrder: what is predicted is the class of the
// largest score, however large or small the scores are.
func TestLinkOfAClassifierKeepsTheOrder(t *testing.T) {
	each(t, func(t *testing.T, l Loss, u []float64, y float64) {
		if !l.Classifies() {
			return
		}
		p := make([]float64, max(2, len(u)))
		l.Link(p, u)
		if len(u) == 1 {
			if (u[0] > 0) != (p[1] > p[0]) {
				t.Errorf("%v: Link(%v) = %v", l, u, p)
			}
			return
		}
		best := 0
		for i, v := range u {
			if v > u[best] {
				best = i
			}
		}
		for i := range p {
			if i != best && p[i] >= p[best] {
				t.Errorf("%v: Link(%v) = %v", l, u, p)
			}
			for j := range p {
				if u[i] > u[j] && p[i] < p[j] {
					t.Errorf("%v: Link(%v) = %v", l, u, p)
				}
			}
		}
	})
}

// TestLinkInvertsTheMinimiser: where class 1 has the probability p, the score
// that minimises the expected loss is linked to p. A loss that is not smooth, such
// as the hinge, tells no more than the class.
func TestLinkInvertsTheMinimiser(t *testing.T) {
	for _, l := range All {
		if !l.Classifies() || l.Scores(2) > 1 || math.IsInf(l.Smoothness(), 1) {
			continue
		}
		for _, p := range []float64{0.03, 0.2, 0.5, 0.6, 0.99} {
			slope := func(u float64) float64 { // of the expected loss
				var a, b [1]float64
				l.Grad(a[:], []float64{u}, 1)
				l.Grad(b[:], []float64{u}, 0)
				return p*a[0] + (1-p)*b[0]
			}
			low, high := -20.0, 20.0
			for range 100 {
				if middle := (low + high) / 2; slope(middle) < 0 {
					low = middle
				} else {
					high = middle
				}
			}
			var got [2]float64
			l.Link(got[:], []float64{low})
			if math.Abs(got[1]-p) > 1e-9 {
				t.Errorf("%v: minimiser %v for probability %v is linked to %v", l, low, p, got[1])
			}
		}
	}
}

// TestLossesOfNumbersHaveTheirMinimisers of the losses of numbers, on a sample.
func TestLossesOfNumbersHaveTheirMinimisers(t *testing.T) {
	sample := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 90} // median 5, mean 135/11
	for _, c := range []struct {
		loss        Loss
		least, most float64
	}{
		{Square{}, 135. / 11, 135. / 11},
		{Absolute{}, 5, 5},
		{Quantile{0.5}, 5, 5},
		{Quantile{0.9}, 9, 9},
		{Quantile{0.25}, 2, 2},
		{Huber{1}, 5, 5},
		{Huber{1e3}, 135. / 11, 135. / 11},
		{Poisson{}, math.Log(135. / 11), math.Log(135. / 11)},
	} {
		at, best := 0.0, math.Inf(1)
		for u := 0.0; u < 20; u += 1. / 128 {
			sum := 0.0
			for _, y := range sample {
				sum += c.loss.Value([]float64{u}, y)
			}
			if sum < best {
				at, best = u, sum
			}
		}
		if at < c.least-1./64 || at > c.most+1./64 {
			t.Errorf("%v is least at %v, want %v to %v", c.loss, at, c.least, c.most)
		}
	}
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

func TestFarScoresStayFinite(t *testing.T) {
	for _, l := range All {
		for _, far := range []float64{1e3, 1e8, 1e150} {
			for sign := range 2 {
				u := make([]float64, l.Scores(classes))
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
	for s, want := range map[string]Loss{"huber": Huber{1}, "absolute": Absolute{}, "quantile": Quantile{0.5}, "quantile:.1": Quantile{0.1}} {
		if got, err := Parse(s); err != nil || got != want {
			t.Errorf("Parse(%q) = %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "hinge:", "Square", "square ", "huber:", "huber:0", "huber:NaN", "quantile:1", "absolute:-1", "poisson:2"} {
		if l, err := Parse(s); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", s, l)
		}
	}
}
