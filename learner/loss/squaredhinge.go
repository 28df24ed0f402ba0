package loss

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

func (SquaredHinge) Link(dst, f []float64)  { nearest(dst, f) }
func (SquaredHinge) Scores(classes int) int { return signs(classes) }
func (SquaredHinge) Smoothness() float64    { return 1 }
func (SquaredHinge) Classifies() bool       { return true }
func (SquaredHinge) String() string         { return "squared-hinge" }
