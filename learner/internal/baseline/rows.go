package baseline

import (
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Error returns the error of a baseline for a row with label y. The baseline has predicted the
// class, or for a regression the value of target j.
func Error(h *target.Head, y target.Label, j, class int, value float64) float64 {
	if h.Task == target.Regression {
		d := target.Bounded(value) - target.Bounded(y.At(j))
		return d * d
	}
	if y.Class == class {
		return 0
	}
	return 1
}

// Prediction returns what a Linear with the scores f predicts: a class, or the value of target j.
func Prediction(h *target.Head, f []float64, j int) (class int, value float64) {
	switch {
	case h.Task == target.Regression:
		u := h.Scales[j]
		return 0, target.Bounded(u.Mean + float64(u.Deviation*f[j]))
	case len(f) > 1:
		return target.Best(f), 0
	case f[0] > 0:
		return 1, 0
	}
	return 0, 0
}

// Learn learns a mini-batch of scaled rows x.
func (l *Linear) Learn(h *target.Head, x []float32, labels []target.Label, weights []float64) {
	l.target = state.Extend(l.target[:0], l.Targets)
	t := l.target
	for i, y := range labels {
		for k := range t {
			switch {
			case h.Task == target.Regression:
				t[k] = h.Target(y, k)
			case y.Class == k && len(t) > 1 || y.Class == 1 && len(t) == 1:
				t[k] = 1
			default:
				t[k] = -1
			}
		}
		l.Add(x[i*l.dim:(i+1)*l.dim], t, weights[i])
	}
	l.End()
}
