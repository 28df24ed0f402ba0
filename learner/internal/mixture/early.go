package mixture

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// StartEarly restarts the members that see inputs before the first fit of the warm-up, with
// rows x of another scaler. A scorer does not have them yet.
func (m *Mixture) StartEarly(h *target.Head, columnFactors []float64, x []float32, labels []target.Label, weights []float64) {
	if alike(h.Task, labels) {
		return
	}
	early := earlyHead(h, labels)
	for _, o := range m.members {
		if o.Start(early, columnFactors) {
			o.Learn(&member.Chunk{X: x, Labels: labels, Weights: weights, Last: m.early})
		}
	}
}

// LoadEarly creates the members as StartEarly did, with the same labels, except for what
// Load reads.
func (m *Mixture) LoadEarly(h *target.Head, columnFactors []float64, labels []target.Label) {
	if alike(h.Task, labels) {
		return
	}
	early := earlyHead(h, labels)
	for _, o := range m.members {
		o.Start(early, columnFactors)
	}
}

// alike reports whether all labels are of one class.
func alike(task target.Task, labels []target.Label) bool {
	for _, y := range labels {
		if task != target.Classification || y.Class != labels[0].Class {
			return false
		}
	}
	return true
}

// earlyHead returns h with targets in the standard deviations of the labels so far.
func earlyHead(h *target.Head, labels []target.Label) target.Head {
	e := *h
	if h.Task != target.Regression {
		return e
	}
	scales := make([]target.Scale, h.Targets())
	for j := range scales {
		mean, squares := 0.0, 0.0
		for i, y := range labels {
			d := target.Bounded(y.At(j)) - mean
			mean += d / float64(i+1)
			squares += float64(d * (target.Bounded(y.At(j)) - mean))
		}
		deviation := math.Sqrt(target.Finite(squares) / float64(len(labels)))
		if !(deviation > 0) {
			deviation = 1
		}
		scales[j] = target.Scale{Mean: mean, Deviation: deviation}
	}
	e.Standardize(scales)
	return e
}
