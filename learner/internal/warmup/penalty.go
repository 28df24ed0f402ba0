package warmup

import (
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Examples are scaled rows, with their labels and weights.
type Examples struct {
	X       []float32
	Labels  []target.Label
	Weights []float64
}

// PenaltyOf returns the weight of ‖f‖²/2 beside the mean loss. It chooses the weight by the
// leave-one-out error of the last 512 of the rows that have a weight, weighted, for the square loss
// and the kernel of m itself.
func (f *Fit) PenaltyOf(rows Examples, m features.Map, task target.Task) float64 {
	s := sample{dim: m.Dim}
	var labels []target.Label
	var weights []float64
	for i, weight := range rows.Weights {
		if weight > 0 {
			weights, labels = append(weights, weight), append(labels, rows.Labels[i])
			for _, v := range rows.X[i*s.dim : (i+1)*s.dim] {
				s.x = append(s.x, float64(v))
			}
		}
	}
	if len(labels) < minTuningRows {
		return penalty(safeTuning.lambda)
	}
	from := max(0, len(labels)-tuningRows)
	s.x, weights = s.x[from*s.dim:], weights[from:]
	s.label(f, labels[from:], task)
	t := newTuner(s, Ones(s.dim), m.Kernel)
	defer t.release()
	if m.Second != nil {
		weights := make([]float64, s.dim)
		for j, f := range m.Second {
			weights[j] = float64(f) * float64(f)
		}
		t.withSecond(weights)
	}
	if slices.Min(weights) < slices.Max(weights) {
		sum := 0.0
		for _, w := range weights {
			sum += w
		}
		for i, w := range weights {
			weights[i] = w * float64(len(weights)) / sum
		}
		t.weights = weights
	}
	return penalty(t.descend(safeTuning).lambda)
}
