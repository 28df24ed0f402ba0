package mixture

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// StartEarly restarts the members that see inputs before the first fit of the warm-up, with rows x
// that another scaler has scaled. In a regression, a scorer has these members as well.
func (m *Mixture) StartEarly(h *target.Head, scaler *warmup.Scaler, x []float32, labels []target.Label, weights []float64) {
	if alike(h.Task, labels) {
		return
	}
	early := earlyHead(h, labels)
	for _, o := range m.members {
		if o.Start(early, scaler.ColumnWeights) {
			o.Learn(&member.Chunk{X: x, Labels: labels, Weights: weights, Last: m.early})
		}
	}
	m.scaler = scaler
	m.setStatic(h)
}

// LoadEarly creates the members as StartEarly did, with the same labels, except for what
// Load reads.
func (m *Mixture) LoadEarly(h *target.Head, scaler *warmup.Scaler, labels []target.Label) {
	m.scaler = scaler
	if alike(h.Task, labels) {
		return
	}
	early := earlyHead(h, labels)
	for _, o := range m.members {
		o.Start(early, scaler.ColumnWeights)
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

// earlyHead returns h with targets in the standard deviations of the labels so far, without
// outliers.
func earlyHead(h *target.Head, labels []target.Label) target.Head {
	e := *h
	if h.Task != target.Regression {
		return e
	}
	scales, all := make([]target.Scale, h.Targets()), make([]float64, len(labels))
	for j := range scales {
		for i, y := range labels {
			all[i] = target.Bounded(y.At(j))
		}
		scales[j] = scaleOf(all)
	}
	e.Standardize(scales)
	return e
}

// scaleOf returns the mean and the standard deviation of numbers without outliers.
func scaleOf(y []float64) target.Scale {
	inliers := target.Inliers(y)
	mean, squares := 0.0, 0.0
	for i, v := range inliers {
		d := v - mean
		mean += d / float64(i+1)
		squares += float64(d * (v - mean))
	}
	deviation := math.Sqrt(target.Finite(squares) / float64(len(inliers)))
	if !(deviation > 0) {
		deviation = 1
	}
	return target.Scale{Mean: mean, Deviation: deviation}
}
