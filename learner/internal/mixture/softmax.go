package mixture

import (
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// predict sets p to the values at the scores f of expert e.
func (m *Mixture) predict(h *target.Head, e int, p, f []float64) {
	if s, ok := h.Loss.(loss.Softmax); ok && h.Task == target.Classification {
		m.softmax[e][0], m.softmax[e][1] = s.LinkValue(p, f)
		return
	}
	h.Predict(p, f)
}

// loss returns that of the scores f of expert e, which predict has seen.
func (m *Mixture) loss(h *target.Head, e int, f []float64, class int) float64 {
	if _, ok := h.Loss.(loss.Softmax); ok {
		return m.softmax[e][0] - f[class] + m.softmax[e][1]
	}
	return h.Loss.Value(f, float64(class))
}
