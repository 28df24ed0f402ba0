package loss

import (
	"fmt"
	"math"
)

// Quantile is the loss max(τ(y-f), (1-τ)(f-y)), whose minimiser is the
// τ-quantile (Koenker and Bassett 1978).
type Quantile struct{ Tau float64 }

func (q Quantile) Value(f []float64, y float64) float64 {
	d := y - f[0]
	return max(q.Tau*d, (q.Tau-1)*d)
}

func (q Quantile) Grad(dst, f []float64, y float64) {
	if f[0] >= y {
		dst[0] = 1 - q.Tau
	} else {
		dst[0] = -q.Tau
	}
}

func (Quantile) Link(dst, f []float64) { dst[0] = f[0] }
func (Quantile) Scores(int) int        { return 1 }
func (Quantile) Smoothness() float64   { return math.Inf(1) }
func (Quantile) Classifies() bool      { return false }
func (q Quantile) String() string      { return fmt.Sprintf("quantile:%v", q.Tau) }

func (Quantile) parameter() parameter {
	return parameter{0.5, 0.001, 0.999, func(v float64) Loss { return Quantile{v} }}
}
