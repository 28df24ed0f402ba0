package loss

import (
	"fmt"
	"math"
)

// Absolute is the loss max(0, |f-y| - Epsilon) of support vector regression (Vapnik 1995). If
// Epsilon is 0, its minimiser is the median.
type Absolute struct{ Epsilon float64 }

func (a Absolute) Value(f []float64, y float64) float64 {
	return max(0, math.Abs(f[0]-y)-a.Epsilon)
}

func (a Absolute) Grad(dst, f []float64, y float64) {
	switch d := f[0] - y; {
	case d > a.Epsilon:
		dst[0] = 1
	case d < -a.Epsilon:
		dst[0] = -1
	default:
		dst[0] = 0
	}
}

func (Absolute) Link(dst, f []float64) { dst[0] = f[0] }
func (Absolute) Scores(int) int        { return 1 }
func (Absolute) Smoothness() float64   { return math.Inf(1) }
func (Absolute) Classifies() bool      { return false }
func (a Absolute) String() string      { return fmt.Sprintf("absolute:%v", a.Epsilon) }

func (Absolute) parameter() parameter {
	return parameter{0, 0, 1e6, func(v float64) Loss { return Absolute{v} }}
}
