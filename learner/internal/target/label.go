package target

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Label is what an example teaches. The zero value means that there is no label: the example is
// only predicted.
type Label struct {
	Task Task // Classification, Regression or Novelty; Auto if there is no label
	// index of the class, in the order in which classes appeared; for Novelty, what is known about
	// the row, see KnownNovel
	Class int
	Value float64 // finite

	// More has the second and further targets of a regression with several (Config.Targets);
	// otherwise it is nil.
	More []float64
}

// What the Class of a Label of Novelty says about the row. It is for evaluating scores only: a
// learner does not see it.
const (
	Unlabelled = iota // nothing
	KnownNormal
	KnownNovel
)

// Targets returns the number of targets of y.
func (y *Label) Targets() int { return 1 + len(y.More) }

// At returns target j.
func (y *Label) At(j int) float64 {
	if j == 0 {
		return y.Value
	}
	return y.More[j-1]
}

// RegressionLabel returns the label of a regression with these targets. The label keeps the slice.
func RegressionLabel(targets []float64) Label {
	y := Label{Task: Regression, Value: targets[0]}
	if len(targets) > 1 {
		y.More = targets[1:]
	}
	return y
}

// BoundedLabel returns a copy of y that has only what its task needs, with bounded values.
func BoundedLabel(y Label) Label {
	switch y.Task {
	case Classification:
		return Label{Task: y.Task, Class: y.Class}
	case Novelty:
		return Label{Task: y.Task}
	}
	y = Label{Task: y.Task, Value: Bounded(y.Value), More: slices.Clone(y.More)}
	for j, v := range y.More {
		y.More[j] = Bounded(v)
	}
	return y
}

// maxWeight bounds a weight, so that dividing by a sum of weights is safe.
const maxWeight = 1e9

// BoundedWeight returns w, limited to the range from 0 to maxWeight, and 0 for NaN.
func BoundedWeight(w float64) float64 {
	if math.IsNaN(w) {
		return 0
	}
	return max(0, min(maxWeight, w))
}

// PutLabels adds labels of that many targets, and their weights, as three arrays whose names begin
// with name.
func PutLabels(a *state.Arrays, name string, labels []Label, targets int, weights []float64) {
	classes, values := make([]int64, len(labels)), make([]float64, 0, len(labels)*targets)
	for i, y := range labels {
		classes[i] = int64(y.Class)
		values = append(append(values, y.Value), y.More...)
	}
	state.Put(a, name+".classes", 1, classes)
	state.Put(a, name+".values", targets, values)
	state.Put(a, name+".weights", 1, weights)
}

// TakeLabels reads n labels, of a model with the head h, and their weights as PutLabels wrote them.
func TakeLabels(s *state.Reader, name string, n int, h *Head) ([]Label, []float64) {
	k := h.Targets()
	classes := state.Take[int64](s, name+".classes", n, 1)
	targets := state.Take[float64](s, name+".values", n, k)
	weights := state.Take[float64](s, name+".weights", n, 1)
	if s.Err != nil {
		return nil, nil
	}
	labels := make([]Label, n)
	for i := range labels {
		labels[i] = RegressionLabel(targets[i*k : (i+1)*k : (i+1)*k])
		labels[i].Task, labels[i].Class = h.Task, int(classes[i])
		s.Require(classes[i] >= 0 && classes[i] < int64(max(1, h.Classes)), "%s: class %d of %d", name, classes[i], h.Classes)
		s.Require(weights[i] >= 0, "%s: a weight is %v", name, weights[i])
	}
	return labels, weights
}

// MaxMagnitude bounds the values and labels that a learner computes with, so that the square of a
// difference of two values is finite, and so is the sum of many such squares.
const MaxMagnitude = 1e150

// Bounded returns v, limited to ±MaxMagnitude.
func Bounded(v float64) float64 { return max(-MaxMagnitude, min(MaxMagnitude, v)) }

// Finite returns v, or the largest float64 if v is +Inf.
func Finite(v float64) float64 { return min(v, math.MaxFloat64) }

// MaxTargets is the largest number of targets of a label.
const MaxTargets = 256
