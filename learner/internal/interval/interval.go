// Package interval learns intervals that contain a given share of the labels of a
// regression.
package interval

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Rule gives the interval of a prediction. The zero value gives none.
type Rule struct {
	below, above []float64 // of each target: distances from the prediction, in the label's units
}

// Valid reports whether r gives intervals: it does not before the first label.
func (r Rule) Valid() bool { return r.below != nil }

// Bounds returns the interval around the prediction v of target j, in the label's units.
func (r Rule) Bounds(v float64, j int) (low, high float64) { return v - r.below[j], v + r.above[j] }

// Save adds the Rule to the serving part of a State.
func (r Rule) Save(a *state.Arrays) {
	state.Put(a, "intervals", len(r.below), append(append(make([]float64, 0, 2*len(r.below)), r.below...), r.above...))
}

// LoadRule reads what Save wrote for a number of targets. It returns nil if the next
// array is another one.
func LoadRule(s *state.Reader, targets int) *Rule {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "intervals" {
		return nil
	}
	n := targets
	if s.In[0].Shape[1] == 0 {
		n = 0 // before the first label
	}
	both := state.Take[float64](s, "intervals", min(2*n, 2), n)
	if s.Err != nil || n == 0 {
		return &Rule{}
	}
	for _, d := range both {
		s.Require(d >= 0, "intervals: a distance is %v", d)
	}
	return &Rule{below: both[:n:n], above: both[n:]}
}

const (
	// rate is the step size of the distances, relative to the mean absolute residual.
	// A larger one follows changes faster, and makes the intervals of a stationary stream
	// wider by the noise. Chosen by trial, see docs/constants.md.
	rate = 0.05

	// memory is the number of labelled rows that the mean absolute residual remembers.
	// Chosen by trial, see docs/constants.md.
	memory = 64

	// firstRows is the number of rows for which the distances are those of a Laplace
	// distribution with the mean absolute residual so far.
	firstRows = 32
)

// Tracker learns a Rule, the same for all inputs. Each of the two distances is a quantile
// of the residuals, tracked by the gradient of its pinball loss: it grows after a label
// outside and shrinks after one inside, so that on any stream, however it changes, the
// share of labels beyond each tends to (1-coverage)/2 (Gibbs and Candès 2021, in the form
// of Angelopoulos, Candès and Tibshirani 2023). The residuals must be those of
// predictions made before their rows were learned.
type Tracker struct {
	Rule     Rule
	coverage float64
	rows     float64
	scale    []float64 // mean absolute residuals
	below    []float64
	above    []float64

	inside []float64 // rows whose label was in the interval of Rule
	width  []float64 // sums of the widths
	graded float64   // rows that these counted
}

// NewTracker returns a Tracker for a share of the labels, between 0 and 1.
func NewTracker(coverage float64, targets int) *Tracker {
	t := &Tracker{coverage: coverage}
	for _, v := range []*[]float64{&t.scale, &t.below, &t.above, &t.inside, &t.width} {
		*v = make([]float64, targets)
	}
	return t
}

// Add adds a row, with the prediction and the label of each target.
func (t *Tracker) Add(predicted []float64, label func(j int) float64) {
	t.rows++
	if t.Rule.Valid() {
		t.graded++
	}
	forget := 1 / min(t.rows, memory)
	tail := float64((1 - t.coverage) / 2)
	for j, v := range predicted {
		y := label(j)
		if t.Rule.Valid() {
			low, high := t.Rule.Bounds(v, j)
			t.width[j] += high - low
			if low <= y && y <= high {
				t.inside[j]++
			}
		}
		r := bounded(y - v)
		t.scale[j] += float64(forget * (math.Abs(r) - t.scale[j]))
		if t.rows <= firstRows {
			t.below[j] = float64(t.scale[j] * -vec.Log(1-t.coverage))
			t.above[j] = t.below[j]
			continue
		}
		step := rate * t.scale[j]
		t.above[j] = max(0, t.above[j]+float64(step*(outside(r > t.above[j])-tail)))
		t.below[j] = max(0, t.below[j]+float64(step*(outside(-r > t.below[j])-tail)))
	}
}

// outside is 1 for a label beyond a distance.
func outside(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// bounded returns a residual whose sums do not overflow.
func bounded(r float64) float64 { return max(-1e150, min(1e150, r)) }

// Step sets Rule from the rows so far.
func (t *Tracker) Step() {
	t.Rule = Rule{below: append([]float64(nil), t.below...), above: append([]float64(nil), t.above...)}
}

// Graded returns, for each target, the share of the labels so far that were in the
// interval of their prediction, and its mean width in the label's units. It returns nil
// before the first interval.
func (t *Tracker) Graded() (coverage, width []float64) {
	if t.graded == 0 {
		return nil, nil
	}
	for j := range t.inside {
		coverage, width = append(coverage, t.inside[j]/t.graded), append(width, t.width[j]/t.graded)
	}
	return coverage, width
}

// Save adds the residuals to the resuming part of a State.
func (t *Tracker) Save(a *state.Arrays) {
	n := len(t.scale)
	state.Put(a, "intervals.rows", 2, []float64{t.rows, t.graded})
	v := make([]float64, 0, 5*n)
	for _, part := range [][]float64{t.scale, t.below, t.above, t.inside, t.width} {
		v = append(v, part...)
	}
	state.Put(a, "intervals.residuals", n, v)
}

// Load reads what Save wrote.
func (t *Tracker) Load(s *state.Reader, r Rule) {
	rows := state.Take[float64](s, "intervals.rows", 1, 2)
	n := len(t.scale)
	v := state.Take[float64](s, "intervals.residuals", 5, n)
	if s.Err != nil {
		return
	}
	s.Require(rows[0] >= 0 && rows[1] >= 0 && rows[1] <= rows[0], "intervals.rows: %v of %v rows", rows[1], rows[0])
	for _, x := range v {
		s.Require(x >= 0, "intervals.residuals: a number is %v", x)
	}
	t.Rule, t.rows, t.graded = r, rows[0], rows[1]
	for i, part := range [][]float64{t.scale, t.below, t.above, t.inside, t.width} {
		copy(part, v[i*n:(i+1)*n])
	}
}
