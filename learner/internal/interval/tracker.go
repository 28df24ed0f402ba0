package interval

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Tracker learns a Rule, which is the same for all inputs of one leverage. Each of its two
// distances is a quantile of the residuals. It is tracked by the gradient of its pinball loss: it
// grows after a label outside the interval of Rule and shrinks after one inside, by steps of
// constant size, except during the first rows.
//
// On any stream, however it changes, the share of labels beyond a distance therefore differs from
// (1-coverage)/2 by at most the movement of that distance divided by the step size and the number
// of rows (Gibbs and Candès 2021, in the form of Angelopoulos, Candès and Tibshirani 2023, with the
// first steps of Angelopoulos, Barber and Bates 2024).
//
// The residuals must be those of predictions made before their rows were learned. Distances are in
// deviations of the label, and so follow the errors of the model at once.
type Tracker struct {
	Rule  Rule
	of    Kind
	rows  float64
	since float64   // rows since the last Step
	scale []float64 // mean absolute residuals of the first rows, in the label's units
	below []float64 // in deviations
	above []float64
	noise []float64 // mean of the squared residuals divided by 1 plus the leverage

	inside []float64 // rows whose label was in the interval of Rule
	width  []float64 // sums of the widths of these intervals
	graded float64   // number of rows in inside and width
}

// NewTracker returns a Tracker for a Rule of this kind, or nil if such a Rule gives nothing.
func NewTracker(of Kind, targets int) *Tracker {
	if !of.Any() {
		return nil
	}
	t := &Tracker{of: of, Rule: Rule{of: of}}
	for _, v := range []*[]float64{&t.scale, &t.below, &t.above, &t.noise, &t.inside, &t.width} {
		*v = make([]float64, targets)
	}
	return t
}

// Add adds a row with this leverage, the prediction of each target, and the label.
func (t *Tracker) Add(predicted []float64, leverage float64, label func(j int) float64) {
	t.rows++
	t.since++
	if t.Rule.Valid() {
		t.graded++
	}
	at := t.Rule.At(leverage)
	spread, step := at.spread(), max(rate, start/t.rows)
	blur := 1 / min(noiseMemory, max(min(t.rows, firstRows), noiseShare*t.rows))
	tail := float64((1 - t.of.Coverage) / 2)
	for j, v := range predicted {
		y := label(j)
		if t.Rule.Valid() {
			low, high := at.Bounds(v, j)
			t.width[j] += high - low
			if low <= y && y <= high {
				t.inside[j]++
			}
		}
		r := bounded(y-v) / spread
		below, above := t.below[j], t.above[j]
		if deviation := math.Sqrt(t.noise[j]); t.Rule.Valid() && t.since <= servedRows {
			below, above = t.Rule.below[j], t.Rule.above[j]
		} else {
			below, above = below*deviation, above*deviation
		}
		t.noise[j] += float64(blur * (float64(r*r) - t.noise[j]))
		if t.rows <= firstRows {
			t.scale[j] += (math.Abs(r) - t.scale[j]) / t.rows
			t.below[j] = laplace(t.scale[j], t.noise[j], t.of.Coverage)
			t.above[j] = t.below[j]
			continue
		}
		t.above[j] = max(0, t.above[j]+float64(step*(outside(r > above)-tail)))
		t.below[j] = max(0, t.below[j]+float64(step*(outside(-r > below)-tail)))
	}
}

// laplace returns the distance, in deviations of this variance, that a given share of the residuals
// does not exceed, if they have a Laplace distribution with this mean absolute residual.
func laplace(mean, variance, share float64) float64 {
	if variance == 0 {
		return 0
	}
	return float64(mean / math.Sqrt(variance) * -vec.Log(1-share))
}

// outside returns 1 for a label beyond a distance, otherwise 0.
func outside(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// bounded returns r, limited so that sums of squares do not overflow.
func bounded(r float64) float64 { return max(-1e150, min(1e150, r)) }

// Step sets Rule from the rows so far.
func (t *Tracker) Step() {
	t.since = 0
	t.Rule = Rule{of: t.of}
	if t.of.Coverage != 0 {
		t.Rule.below, t.Rule.above = slices.Clone(t.below), slices.Clone(t.above)
	}
	for j := range t.Rule.below {
		deviation := math.Sqrt(t.noise[j])
		t.Rule.below[j] *= deviation
		t.Rule.above[j] *= deviation
	}
	if t.of.Variance {
		t.Rule.noise = slices.Clone(t.noise)
	}
}

// Graded returns two numbers for each target: the share of the labels so far that were in the
// interval of their prediction, and the mean width of the intervals in the label's units. It
// returns nil before the first interval.
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
	state.Put(a, "intervals.rows", 3, []float64{t.rows, t.graded, t.since})
	v := make([]float64, 0, 6*n)
	for _, part := range [][]float64{t.scale, t.below, t.above, t.inside, t.width, t.noise} {
		v = append(v, part...)
	}
	state.Put(a, "intervals.residuals", n, v)
}

// Load reads what Save wrote.
func (t *Tracker) Load(s *state.Reader, r Rule) {
	counts := 3
	if len(s.In) > 0 && s.In[0].Shape[1] == countsBefore {
		counts = countsBefore
	}
	rows := append(state.Take[float64](s, "intervals.rows", 1, counts), 0)
	n := len(t.scale)
	size := 6
	if len(s.In) > 0 && s.In[0].Shape[0] == firstSize {
		size = firstSize
	}
	v := state.Take[float64](s, "intervals.residuals", size, n)
	if s.Err != nil {
		return
	}
	s.Require(rows[0] >= 0 && rows[1] >= 0 && rows[1] <= rows[0] && rows[2] >= 0, "intervals.rows: %v of %v rows, %v since a step", rows[1], rows[0], rows[2])
	for _, x := range v {
		s.Require(x >= 0, "intervals.residuals: a number is %v", x)
	}
	t.Rule, t.rows, t.graded, t.since = r, rows[0], rows[1], rows[2]
	for i, part := range [][]float64{t.scale, t.below, t.above, t.inside, t.width, t.noise}[:size] {
		copy(part, v[i*n:(i+1)*n])
	}
	if size == firstSize {
		t.toDeviations()
	}
}

// firstSize is the number of rows in the array of residuals that the first version wrote. Its
// distances are in the label's units.
const firstSize = 5

// countsBefore is the number of counts in states that do not yet have the rows since a step.
const countsBefore = 2

// toDeviations converts a state of the first version. It computes the variance as for a normal
// distribution.
func (t *Tracker) toDeviations() {
	for j, mean := range t.scale {
		deviation := math.Sqrt(math.Pi/2) * mean
		t.noise[j] = float64(deviation * deviation)
		if deviation > 0 {
			t.below[j] = bounded(t.below[j] / deviation)
			t.above[j] = bounded(t.above[j] / deviation)
		}
	}
}
