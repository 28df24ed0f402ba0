package mixture

import (
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// predict sets p to the values at the scores f of expert e.
func (m *Mixture) predict(h *target.Head, e int, p, f []float64) {
	switch l := h.Loss.(type) {
	case loss.Softmax:
		m.tops[e], m.rests[e] = l.LinkSum(p, f) // ask takes the logarithm of the sum
	case loss.Logistic:
		m.rests[e] = l.LinkExp(p, f)
	default:
		h.Predict(p, f)
	}
}

// loss returns the loss of the scores f of expert e, for the row of the last ask.
func (m *Mixture) loss(h *target.Head, e int, f []float64, class int) float64 {
	switch l := h.Loss.(type) {
	case loss.Softmax:
		return m.tops[e] - f[class] + m.rests[e]
	case loss.Logistic:
		return l.ValueExp(f, float64(class), m.rests[e])
	}
	return h.Loss.Value(f, float64(class))
}
