// Package timeline keeps the progressive error of a model, from its first example to
// its last, in a bounded number of points.
package timeline

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner"
)

const (
	// MostPoints bounds the points of a Timeline. Whenever one more is needed, pairs of neighbours
	// are merged, so that it then has between half of them and all.
	MostPoints = 240

	// MostDrifts bounds Timeline.Drifts.
	MostDrifts = 32

	firstEvery = 64 // examples per point of a new Timeline
)

// Timeline is the history of the errors of a model and of its baselines. It depends on the
// observations alone, also if it is encoded and decoded in between. The zero value is empty and
// ready for use.
type Timeline struct {
	Every  int64   // examples per point; 0 before the first
	Points []Point // in the order of Examples
	Drifts []int64 // numbers of examples at which drift was detected, the newest MostDrifts
}

// Point is the mean of the observations in a stretch of Timeline.Every examples.
type Point struct {
	Examples     int64 // labelled examples at the last observation
	Observations int64
	Errors
}

// Errors are the errors of the model and of its baselines on the same examples.
type Errors struct{ Model, Linear, Majority, NoChange float32 }

// NewErrors rounds errors to single precision. ok is false if one of them is NaN. Infinite errors
// are clamped.
func NewErrors(model, linear, majority, noChange float64) (e Errors, ok bool) {
	to := [...]*float32{&e.Model, &e.Linear, &e.Majority, &e.NoChange}
	for i, v := range [...]float64{model, linear, majority, noChange} {
		if math.IsNaN(v) {
			return Errors{}, false
		}
		*to[i] = float32(max(-math.MaxFloat32, min(math.MaxFloat32, v)))
	}
	return e, true
}

// Add adds the recent errors. examples is the number of labelled examples since the model was
// created; the call is ignored unless it has increased.
func (t *Timeline) Add(examples int64, e Errors) {
	if t.Every == 0 {
		t.Every = firstEvery
	}
	n := len(t.Points)
	if examples <= 0 || n > 0 && examples <= t.Points[n-1].Examples {
		return
	}
	p := Point{examples, 1, e}
	if n > 0 && t.stretch(t.Points[n-1]) == t.stretch(p) {
		t.Points[n-1] = merged(t.Points[n-1], p)
		return
	}
	t.Points = append(t.Points, p)
	for len(t.Points) > MostPoints {
		t.double()
	}
}

// Observe adds the errors of a learner over its latest examples. It also marks a detection of drift
// if p.Drifts has changed since before.
func (t *Timeline) Observe(p learner.Progress, before learner.Drifts) {
	if s := p.Latest; s.Rows > 0 {
		if e, ok := NewErrors(s.Model.Error, s.Linear.Error, s.Majority.Error, s.NoChange.Error); ok {
			t.Add(p.Examples, e)
		}
	}
	if p.Drifts != before {
		t.Drift(p.Examples)
	}
}

// Drift marks a detection of drift at that many examples.
func (t *Timeline) Drift(examples int64) {
	if n := len(t.Drifts); n > 0 && t.Drifts[n-1] >= examples {
		return
	}
	t.Drifts = append(t.Drifts, examples)
	t.Drifts = t.Drifts[max(0, len(t.Drifts)-MostDrifts):]
}

// Model returns the errors of the model, for a small plot.
func (t *Timeline) Model() []float64 {
	errors := make([]float64, len(t.Points))
	for i, p := range t.Points {
		errors[i] = float64(p.Model)
	}
	return errors
}

// Clone returns a copy that shares no memory with t.
func (t *Timeline) Clone() *Timeline {
	return &Timeline{t.Every, slices.Clone(t.Points), slices.Clone(t.Drifts)}
}

func (t *Timeline) stretch(p Point) int64 { return (p.Examples - 1) / t.Every }

// double merges the points that fall into the same stretch of twice the length.
func (t *Timeline) double() {
	t.Every *= 2
	kept := t.Points[:0]
	for _, p := range t.Points {
		if n := len(kept); n > 0 && t.stretch(kept[n-1]) == t.stretch(p) {
			kept[n-1] = merged(kept[n-1], p)
		} else {
			kept = append(kept, p)
		}
	}
	t.Points = kept
}

// merged returns the mean of two neighbours, weighted by their observations.
func merged(a, b Point) Point {
	share := float64(b.Observations) / float64(a.Observations+b.Observations)
	mix := func(x, y float32) float32 { return float32(float64(x) + float64(share*(float64(y)-float64(x)))) }
	return Point{b.Examples, a.Observations + b.Observations, Errors{
		mix(a.Model, b.Model), mix(a.Linear, b.Linear), mix(a.Majority, b.Majority), mix(a.NoChange, b.NoChange),
	}}
}
