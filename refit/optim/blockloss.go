package optim

import "github.com/accrete-ml/accrete/learner/loss"

// A BlockLoss is the loss φ_i of a block of rows.
type BlockLoss interface {
	Rows() int // number of rows of the block
	Value(z []float64) float64
	Grad(dst, z []float64) // sets dst to the gradient
	Conjugate(y []float64) float64

	// Prox sets y to the β that maximises ⟨s,β⟩ - φ*(β) - r/2 ‖β-y‖² (41).
	Prox(y, s []float64, r float64)

	Gamma() float64    // strong convexity of Conjugate
	Start(y []float64) // sets y to where solvers start
}

// Sum is the sum of a loss of one score over as many rows as there are targets. It is mostly used
// as the BlockLoss of one row.
type Sum struct {
	Loss    loss.Dual
	Targets []float64
}

func (l Sum) Rows() int      { return len(l.Targets) }
func (l Sum) Gamma() float64 { return 1 / l.Loss.Smoothness() }

func (l Sum) Value(z []float64) (s float64) {
	for i, b := range l.Targets {
		s += l.Loss.Value(z[i:i+1], b)
	}
	return s
}

func (l Sum) Grad(dst, z []float64) {
	for i, b := range l.Targets {
		l.Loss.Grad(dst[i:i+1], z[i:i+1], b)
	}
}

func (l Sum) Conjugate(y []float64) (s float64) {
	for i, b := range l.Targets {
		s += l.Loss.Conjugate(y[i:i+1], b)
	}
	return s
}

func (l Sum) Prox(y, s []float64, r float64) {
	for i, b := range l.Targets {
		l.Loss.Prox(y[i:i+1], s[i:i+1], b, r)
	}
}

func (l Sum) Start(y []float64) {
	for i, b := range l.Targets {
		l.Loss.DualStart(y[i:i+1], b)
	}
}
