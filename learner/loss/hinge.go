package loss

import "math"

// Hinge is the loss max(0, 1-yf) of the support vector machine, y = ±1. Its minimiser is the sign
// of the likelier class and contains no probability: Link returns scores between 0 and 1, of which
// only the order has a meaning.
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

func (Hinge) Link(dst, f []float64)  { nearest(dst, f) }
func (Hinge) Scores(classes int) int { return signs(classes) }
func (Hinge) Smoothness() float64    { return math.Inf(1) }
func (Hinge) Classifies() bool       { return true }
func (Hinge) String() string         { return "hinge" }
