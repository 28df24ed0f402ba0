package refit

// A BlockLoss is φ_i of a few rows.
type BlockLoss interface {
	Rows() int // that the loss is of
	Value(z []float64) float64
	Slope(dst, z []float64) // sets dst to the gradient
	Conjugate(y []float64) float64

	// Prox sets y to the β that maximises ⟨s,β⟩ - φ*(β) - r/2 ‖β-y‖²: (41).
	Prox(y, s []float64, r float64)

	Gamma() float64    // strong convexity of Conjugate
	Start(y []float64) // sets y to a point to begin with
}

// Sum is the sum of a Loss over as many rows as it has targets: the BlockLoss of
// one row, mostly.
type Sum struct {
	Loss    Loss
	Targets []float64
}

func (l Sum) Rows() int      { return len(l.Targets) }
func (l Sum) Gamma() float64 { return l.Loss.Gamma() }

func (l Sum) Value(z []float64) (s float64) {
	for i, b := range l.Targets {
		s += l.Loss.Value(z[i], b)
	}
	return s
}

func (l Sum) Slope(dst, z []float64) {
	for i, b := range l.Targets {
		dst[i] = l.Loss.Slope(z[i], b)
	}
}

func (l Sum) Conjugate(y []float64) (s float64) {
	for i, b := range l.Targets {
		s += l.Loss.Conjugate(y[i], b)
	}
	return s
}

func (l Sum) Prox(y, s []float64, r float64) {
	for i, b := range l.Targets {
		y[i] = l.Loss.Prox(s[i], y[i], b, r)
	}
}

func (l Sum) Start(y []float64) {
	for i, b := range l.Targets {
		y[i] = l.Loss.Start(b)
	}
}
