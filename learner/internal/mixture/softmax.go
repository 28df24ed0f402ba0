package mixture

import (
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// predict sets p to the values at the scores f of expert e.
func (m *Mixture) predict(h *target.Head, e int, p, f []float64) {
	if s, ok := h.Loss.(loss.Softmax); ok && h.Task == target.Classification {
		m.tops[e], m.rests[e] = s.LinkSum(p, f) // ask has the logarithm of the sum
		return
	}
	h.Predict(p, f)
}

// loss returns that of the scores f of expert e, which ask has seen.
func (m *Mixture) loss(h *target.Head, e int, f []float64, class int) float64 {
	if _, ok := h.Loss.(loss.Softmax); ok {
		return m.tops[e] - f[class] + m.rests[e]
	}
	return h.Loss.Value(f, float64(class))
}
