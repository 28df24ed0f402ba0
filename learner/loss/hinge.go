package loss

import "math"

// Hinge is the loss max(0, 1-yf) of the support vector machine, y = ±1. Its
// minimiser is the sign of the likelier class and knows no probability: what
// Link makes of it is a score between 0 and 1 whose order is right.
type Hinge struct{}

func (Hinge) Value(f []float64, y float64) float64 {
	sum := 0.0
	for i, u := range f {
		sum += max(0, 1-float64(sign(f, i, y)*u))
	}
	return sum
}

func (Hinge) Grad(dst, f []float64, y float64) {
	for i, u := range f {
		if s := sign(f, i, y); s*u < 1 {
			dst[i] = -s
		} else {
			dst[i] = 0
		}
	}
}

func (Hinge) Link(dst, f []float64)   { nearest(dst, f) }
func (Hinge) Outputs(classes int) int { return signs(classes) }
func (Hinge) Smoothness() float64     { return math.Inf(1) }
func (Hinge) Classifies() bool        { return true }
func (Hinge) String() string          { return "hinge" }

// SquaredHinge is the loss max(0, 1-yf)²/2, y = ±1. Its minimiser is 2p-1,
// where p is the probability of class 1, and Link solves for p.
type SquaredHinge struct{}

func (SquaredHinge) Value(f []float64, y float64) float64 {
	sum := 0.0
	for i, u := range f {
		d := max(0, 1-float64(sign(f, i, y)*u))
		sum += float64(d * d / 2)
	}
	return sum
}

func (SquaredHinge) Grad(dst, f []float64, y float64) {
	for i, u := range f {
		if s := sign(f, i, y); s*u < 1 {
			dst[i] = u - s
		} else {
			dst[i] = 0
		}
	}
}

func (SquaredHinge) Link(dst, f []float64)   { nearest(dst, f) }
func (SquaredHinge) Outputs(classes int) int { return signs(classes) }
func (SquaredHinge) Smoothness() float64     { return 1 }
func (SquaredHinge) Classifies() bool        { return true }
func (SquaredHinge) String() string          { return "squared-hinge" }

// SmoothedHinge is the hinge with its corner rounded: 0 where yf ≥ 1, 1/2 - yf
// where yf ≤ 0, (1-yf)²/2 between, y = ±1 (Shalev-Shwartz and Zhang 2013). Its
// minimiser is 2 - 1/p for a probability p ≥ 1/2 of class 1 and the mirror
// image of that for less, and Link solves for p where there are two classes.
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

func (SmoothedHinge) Outputs(classes int) int { return signs(classes) }
func (SmoothedHinge) Smoothness() float64     { return 1 }
func (SmoothedHinge) Classifies() bool        { return true }
func (SmoothedHinge) String() string          { return "smoothed-hinge" }
