package loss

// OneVsRest is the loss (f-y)²/2 for classes, y = ±1: least squares used as a classifier. Its
// minimiser is 2p-1, where p is the probability of the class, and Link solves for p.
type OneVsRest struct{}

func (OneVsRest) Value(f []float64, y float64) float64 {
	sum := 0.0
	for i, u := range f {
		d := u - sign(f, i, y)
		sum += float64(d * d / 2)
	}
	return sum
}

func (OneVsRest) Grad(dst, f []float64, y float64) {
	for i, u := range f {
		dst[i] = u - sign(f, i, y)
	}
}

func (OneVsRest) Link(dst, f []float64)  { nearest(dst, f) }
func (OneVsRest) Scores(classes int) int { return signs(classes) }
func (OneVsRest) Smoothness() float64    { return 1 }
func (OneVsRest) Classifies() bool       { return true }
func (OneVsRest) String() string         { return "one-vs-rest" }
