package loss

import (
	"fmt"
	"math"
)

// Huber is the loss (f-y)²/2 up to a residual of Delta and linear from there on (Huber 1964): a
// label that is further away has no more influence than one at that distance.
type Huber struct{ Delta float64 }

func (h Huber) Value(f []float64, y float64) float64 {
	d := math.Abs(f[0] - y)
	if d <= h.Delta {
		return d * d / 2
	}
	return h.Delta * (d - float64(h.Delta/2))
}

func (h Huber) Grad(dst, f []float64, y float64) {
	dst[0] = max(-h.Delta, min(h.Delta, f[0]-y))
}

func (Huber) Link(dst, f []float64) { dst[0] = f[0] }
func (Huber) Scores(int) int        { return 1 }
func (Huber) Smoothness() float64   { return 1 }
func (Huber) Classifies() bool      { return false }
func (h Huber) String() string      { return fmt.Sprintf("huber:%v", h.Delta) }

func (Huber) parameter() parameter {
	return parameter{1, 1e-6, 1e6, func(v float64) Loss { return Huber{v} }}
}
