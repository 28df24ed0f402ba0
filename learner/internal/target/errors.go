package target

import (
	"math"

	"github.com/accrete-ml/accrete/learner/loss"
)

// maxTarget bounds a standardised label, so that its square is finite and far below the largest
// float64.
const maxTarget = 1e6

// unseenLoss returns the loss of a row whose class is new to the model. It is -ln 2⁻⁵², as if new
// classes had the probability 2⁻⁵², or for margins the loss of a prediction that is certain and
// wrong.
func (h *Head) unseenLoss() float64 {
	if h.margins() {
		return 2
	}
	return 52 * math.Ln2
}

// GradedLoss returns the loss of target j of y at the scores f, for which the model predicts p. For
// the square loss it is half the squared error in the units of the label. For other losses it is
// the loss itself, or the mean loss of the quantiles if there are several.
func (h *Head) GradedLoss(f, p []float64, y Label, j int) float64 {
	switch {
	case h.Loss == loss.Square{}:
		return h.Loss.Value(p[j:j+1], Bounded(y.At(j)))
	case h.Task == Regression:
		return h.Loss.Value(h.Quantiles.Of(f, j), h.Target(y, j)) / float64(h.Quantiles.Each())
	case h.Task == Novelty:
		return h.Loss.Value(f[j:j+1], 0)
	case y.Class >= h.Classes:
		return h.unseenLoss()
	case h.Classes == 1:
		return 0
	}
	return h.Loss.Value(f, float64(y.Class))
}

// Novel reports whether a prediction of novelty flags its row.
func Novel(p []float64) bool { return len(p) == 2 && p[0] > p[1] }

// Error returns the error of prediction p in target j: 0 or 1 for classes, and the squared error
// for numbers. For novelty it is 1 if the row is flagged.
func (h *Head) Error(p []float64, y Label, j int) float64 {
	if h.Task == Regression {
		d := h.Quantiles.Point(p, j) - Bounded(y.At(j))
		return d * d
	}
	if h.Task == Novelty {
		if Novel(p) {
			return 1
		}
		return 0
	}
	if Best(p) == y.Class {
		return 0
	}
	return 1
}

// BoundedError returns the error of the prediction p as a number from 0 to 1. It is 1 minus the
// probability of the class, or e²/(1+e²) for an error of e standard deviations, averaged over the
// targets. For novelty it is 1 if the row is flagged.
func (h *Head) BoundedError(p []float64, y Label) float64 {
	if h.Task == Novelty {
		return h.Error(p, y, 0)
	}
	if h.Task == Regression {
		sum := 0.0
		for j, u := range h.Scales {
			e := min((Bounded(y.At(j))-h.Quantiles.Point(p, j))/u.Deviation, 1e6)
			sum += 1 - 1/(1+float64(max(e, -1e6)*max(e, -1e6)))
		}
		return sum / float64(len(h.Scales))
	}
	if y.Class >= len(p) {
		return 1
	}
	return max(0, min(1, 1-p[y.Class]))
}

// Best returns the index of the largest element of p, the first such index if there are several.
func Best(p []float64) int {
	at := 0
	for i, v := range p {
		if v > p[at] {
			at = i
		}
	}
	return at
}
