package learner

import (
	"math"

	"github.com/accrete-ml/accrete/learner/loss"
)

// head is what stands behind the outputs of a model: which prediction they mean.
type head struct {
	task            Task // Auto before the first label
	classes         int  // seen so far
	loss            loss.Loss
	mean, deviation float64 // a regression's sum f stands for mean + deviation·f
}

// newHead returns the head of a model that has seen nothing but so many classes.
func newHead(task Task, classes int) head {
	h := head{task: task, classes: classes, deviation: 1}
	switch {
	case task == Regression:
		h.loss = loss.Square{}
	case task == Classification && classes > 2:
		h.loss = loss.Softmax{}
	case task == Classification:
		h.loss = loss.Logistic{}
	}
	return h
}

// sums is the number of outputs that the features add up to.
func (h *head) sums() int {
	if h.loss == nil {
		return 0
	}
	return h.loss.Outputs(h.classes)
}

// outputs is the number of values in a prediction.
func (h *head) outputs() int {
	if h.task == Regression {
		return 1
	}
	return h.classes
}

// predict sets dst to the prediction that the sums f stand for.
func (h *head) predict(dst, f []float64) {
	switch {
	case h.task == Regression:
		h.loss.Link(dst, f)
		dst[0] = bounded(h.mean + float64(h.deviation*dst[0]))
	case h.classes == 1:
		dst[0] = 1
	case h.classes > 1:
		h.loss.Link(dst, f)
	}
}

// target is the label in the terms of the loss.
func (h *head) target(y Label) float64 {
	if h.task == Regression {
		t := (bounded(y.Value) - h.mean) / h.deviation
		return max(-targetLimit, min(targetLimit, t))
	}
	return float64(y.Class)
}

// targetLimit bounds a standardised label, so that its square is finite.
const targetLimit = 1e6

// unseen is the loss of a row whose class the model had not met: -ln 2⁻⁵², as
// if it had left that much probability to the classes to come.
const unseen = 52 * math.Ln2

// graded returns the loss of label y under sums f, whose prediction is p: that
// of a classifier in natural logarithms, that of a regression in the label's
// units.
func (h *head) graded(f, p []float64, y Label) float64 {
	switch {
	case h.task == Regression:
		return h.loss.Value(p, bounded(y.Value))
	case y.Class >= h.classes:
		return unseen
	case h.classes == 1:
		return 0
	}
	return h.loss.Value(f, float64(y.Class))
}

// wrong returns how far off prediction p is: 0 or 1, or the squared error.
func (h *head) wrong(p []float64, y Label) float64 {
	if h.task == Regression {
		d := p[0] - bounded(y.Value)
		return d * d
	}
	if Best(p) == y.Class {
		return 0
	}
	return 1
}

// Best returns the index of the largest of p, the first of them if there are more.
func Best(p []float64) int {
	at := 0
	for i, v := range p {
		if v > p[at] {
			at = i
		}
	}
	return at
}
