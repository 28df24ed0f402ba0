package loss

import "math"

// SmoothedHinge is the hinge loss with its corner rounded: 0 where yf ≥ 1, 1/2 - yf where yf ≤ 0,
// and (1-yf)²/2 in between, y = ±1 (Shalev-Shwartz and Zhang 2013). Its minimiser is 2 - 1/p for a
// probability p ≥ 1/2 of class 1, and the mirror image of that for p < 1/2. If there are two
// classes, Link solves for p.
type SmoothedHinge struct{}

func (SmoothedHinge) Value(f []float64, y float64) float64 {
	sum := 0.0
	for i, u := range f {
		switch m := float64(sign(f, i, y) * u); {
		case m <= 0:
			sum += 0.5 - m
		case m < 1:
			sum += float64((1 - m) * (1 - m) / 2)
		}
	}
	return sum
}

func (SmoothedHinge) Grad(dst, f []float64, y float64) {
	for i, u := range f {
		s := sign(f, i, y)
		dst[i] = -s * max(0, min(1, 1-float64(s*u)))
	}
}

func (SmoothedHinge) Link(dst, f []float64) {
	if len(f) > 1 {
		nearest(dst, f)
		return
	}
	u := max(-1, min(1, f[0]))
	likely := 1 / (2 - math.Abs(u))
	if u < 0 {
		dst[0], dst[1] = likely, 1-likely
	} else {
		dst[0], dst[1] = 1-likely, likely
	}
}

func (SmoothedHinge) Scores(classes int) int { return signs(classes) }
func (SmoothedHinge) Smoothness() float64    { return 1 }
func (SmoothedHinge) Classifies() bool       { return true }
func (SmoothedHinge) String() string         { return "smoothed-hinge" }

// Conjugate is the sum of v + v²/2 over the scores, where v = yu is from -1 to 0 (Yu, Lin and Yang
// 2015, section 2).
func (SmoothedHinge) Conjugate(u []float64, y float64) float64 {
	sum := 0.0
	for i, v := range u {
		v = float64(sign(u, i, y) * v)
		if !(v >= -1 && v <= 0) {
			return math.Inf(1)
		}
		sum += v + float64(v*v/2)
	}
	return sum
}

func (SmoothedHinge) Prox(u, s []float64, y, r float64) {
	for i, v := range u {
		b := sign(u, i, y)
		u[i] = b * max(-1, min(0, float64(b*((s[i]-b+float64(r*v))/(1+r)))))
	}
}

func (SmoothedHinge) DualStart(u []float64, _ float64) { clear(u) }
