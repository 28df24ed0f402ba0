// Package curves records and draws the errors of learners over examples, time and random
// features.
package curves

import (
	"math"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/internal/chart/trust"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/learner"
)

// Curve is the error of a learner at some points of its pass over a file.
type Curve struct {
	name    string
	points  []point
	weights trust.Recorder // of the members of a mixture, if there is one
}

// point is one point of a curve. Its error is that of the last 1,000 examples.
type point struct {
	examples, seconds, features, error float64
}

// add appends the current state of a learner.
func (c *Curve) add(p learner.Progress, s learner.Score, took time.Duration) {
	c.points = append(c.points, point{float64(p.Examples), took.Seconds(), float64(p.Features), s.Error})
}

// Recorder records the curves of a fit. The time that it measures excludes the time that it takes.
type Recorder struct {
	Curves   []Curve
	due      func(int) bool
	examples int64 // at the last point
	start    time.Time
	looked   time.Duration
}

// NewRecorder returns a recorder of the curves of the learner called name and of its
// baselines. rows is the number of rows of the file, or 0 if it is unknown.
func NewRecorder(name string, rows int) *Recorder {
	return &Recorder{
		Curves: []Curve{{name: name}, {name: "linear"}, {name: display.Majority(learner.Classification)}, {name: "no change"}},
		due:    moments(rows), start: time.Now(),
	}
}

// Elapsed returns the time since NewRecorder, without the time spent in Look.
func (w *Recorder) Elapsed() time.Duration { return time.Since(w.start) - w.looked }

// Look adds a point to each curve, if one is due after that many rows of fit.
func (w *Recorder) Look(fit *offline.Fit, rows int) {
	if !w.due(rows) {
		return
	}
	p := fit.Finish() // so that the point is at this row
	took := w.Elapsed()
	w.add(p, took)
	w.looked = time.Since(w.start) - took
}

// End adds the last point of each curve, that of a fit which has learned all rows.
func (w *Recorder) End(p learner.Progress) { w.add(p, w.Elapsed()) }

// add adds a point to each curve, unless the last one was at the same example.
func (w *Recorder) add(p learner.Progress, took time.Duration) {
	if p.Examples == w.examples {
		return
	}
	w.examples = p.Examples
	w.Curves[0].weights.Look(&p)
	w.Curves[0].weights.End(p.Examples)
	if p.Latest.Rows == 0 {
		return
	}
	w.Curves[0].add(p, p.Latest.Model, took)
	p.Features = 0 // the baselines have none
	for i, s := range []learner.Score{p.Latest.Linear, p.Latest.Majority, p.Latest.NoChange} {
		w.Curves[1+i].add(p, s, 0)
	}
}

// earliest is the number of rows before the first point: those of the first fit of the warm-up.
const earliest = 64.0

// moments returns a function that reports whether a curve has a point after the
// given number of examples out of n. Points are denser at the beginning. An
// unknown n counts as a million.
func moments(n int) func(examples int) bool {
	if n <= 0 {
		n = 1_000_000
	}
	next, factor := earliest, math.Max(1.02, math.Pow(float64(n)/earliest, 1./60))
	return func(examples int) bool {
		if float64(examples) < next {
			return false
		}
		next = float64(examples) * factor
		return true
	}
}
