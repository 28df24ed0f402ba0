// Package interval learns intervals that contain a given share of the labels of a
// regression, and the variance of the labels.
package interval

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Rule gives the interval and the variance of a prediction. The zero value gives neither.
type Rule struct {
	below, above []float64 // of each target: distances from the prediction, in the label's units, at leverage 0
	noise        []float64 // of each target: variance of the label, in squared units of it, at leverage 0
	leverage     float64   // of a row
	of           Kind
}

// At returns the Rule for the prediction of a row with this leverage: variances are 1 plus
// it times those at leverage 0, and intervals as much wider as deviations are.
func (r Rule) At(leverage float64) Rule {
	r.leverage = leverage
	return r
}

// Valid reports whether r gives intervals: it does not before the first label.
func (r Rule) Valid() bool { return r.below != nil }

// Bounds returns the interval around the prediction v of target j, in the label's units.
func (r Rule) Bounds(v float64, j int) (low, high float64) {
	s := r.spread()
	return v - float64(s*r.below[j]), v + float64(s*r.above[j])
}

// spread returns the deviation relative to that at leverage 0.
func (r Rule) spread() float64 { return math.Sqrt(1 + r.leverage) }

// HasVariance reports whether r gives variances: it does not before the first label.
func (r Rule) HasVariance() bool { return r.noise != nil }

// Variance returns the variance of the label of target j around its prediction, in squared
// units of the label.
func (r Rule) Variance(j int) float64 {
	return min(math.MaxFloat64, r.noise[j]*(1+r.leverage))
}

// Kind returns what r gives, or will give from the first label on.
func (r Rule) Kind() Kind { return r.of }

// Save adds the Rule to the serving part of a State.
func (r Rule) Save(a *state.Arrays) {
	if r.of.Coverage != 0 {
		state.Put(a, "intervals", len(r.below), append(append(make([]float64, 0, 2*len(r.below)), r.below...), r.above...))
	}
	if r.of.Variance {
		state.Put(a, "variance", len(r.noise), r.noise)
	}
}

// Kind is what a Rule gives.
type Kind struct {
	Coverage float64 // share of the labels in the interval; 0: none
	Variance bool
}

// Any reports whether a Rule gives anything.
func (k Kind) Any() bool { return k != Kind{} }

// LoadRule reads what Save wrote for a number of targets. It returns nil if the next
// array is another one. The Coverage of the Kind is 1 if there are intervals.
func LoadRule(s *state.Reader, targets int) *Rule {
	var r Rule
	if both, has := loadNumbers(s, "intervals", 2, targets); has {
		r.of.Coverage = 1
		if len(both) > 0 {
			r.below, r.above = both[:targets:targets], both[targets:]
		}
	}
	if noise, has := loadNumbers(s, "variance", 1, targets); has {
		r.of.Variance = true
		if len(noise) > 0 {
			r.noise = noise
		}
		s.Require(r.of.Coverage == 0 || (r.noise == nil) == (r.below == nil), "variances of %d targets, intervals of %d", len(r.noise), len(r.below))
	}
	if !r.of.Any() {
		return nil
	}
	return &r
}

// loadNumbers reads rows × targets numbers, or none before the first label.
func loadNumbers(s *state.Reader, name string, rows, targets int) (v []float64, has bool) {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != name {
		return nil, false
	}
	if s.In[0].Shape[1] == 0 {
		rows, targets = 0, 0
	}
	v = state.Take[float64](s, name, rows, targets)
	for _, d := range v {
		s.Require(d >= 0, "%s: a number is %v", name, d)
	}
	return v, true
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

	// noiseMemory is the largest number of labelled rows that the variance remembers, and
	// noiseShare the part of the rows so far before there are many: the errors of a model
	// fall quickly at first. Chosen by trial, see docs/constants.md.
	noiseMemory = 1000
	noiseShare  = 0.125
)

// Tracker learns a Rule, the same for all inputs of one leverage. Each of the two distances is a quantile
// of the residuals, tracked by the gradient of its pinball loss: it grows after a label
// outside and shrinks after one inside, so that on any stream, however it changes, the
// share of labels beyond each tends to (1-coverage)/2 (Gibbs and Candès 2021, in the form
// of Angelopoulos, Candès and Tibshirani 2023). The residuals must be those of
// predictions made before their rows were learned. Residuals and distances are in deviations of
// the label, and so follow the errors of the model at once.
type Tracker struct {
	Rule  Rule
	of    Kind
	rows  float64
	scale []float64 // mean absolute residuals in deviations
	below []float64 // likewise
	above []float64
	noise []float64 // mean squared residuals over 1 plus the leverage

	inside []float64 // rows whose label was in the interval of Rule
	width  []float64 // sums of the widths
	graded float64   // rows that these counted
}

// NewTracker returns a Tracker for this kind of a Rule, or nil if that gives nothing.
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

// Add adds a row of this leverage, with the prediction and the label of each target.
func (t *Tracker) Add(predicted []float64, leverage float64, label func(j int) float64) {
	t.rows++
	if t.Rule.Valid() {
		t.graded++
	}
	at := t.Rule.At(leverage)
	spread, forget := at.spread(), 1/min(t.rows, memory)
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
		squared := float64(r * r)
		r = inDeviations(r, t.noise[j])
		t.noise[j] += float64(blur * (squared - t.noise[j]))
		t.scale[j] += float64(forget * (math.Abs(r) - t.scale[j]))
		if t.rows <= firstRows {
			t.below[j] = float64(t.scale[j] * -vec.Log(1-t.of.Coverage))
			t.above[j] = t.below[j]
			continue
		}
		step := rate * t.scale[j]
		t.above[j] = max(0, t.above[j]+float64(step*(outside(r > t.above[j])-tail)))
		t.below[j] = max(0, t.below[j]+float64(step*(outside(-r > t.below[j])-tail)))
	}
}

// inDeviations returns the residual r relative to the square root of a variance, which is 0
// before the first row.
func inDeviations(r, variance float64) float64 {
	if variance > 0 {
		return bounded(r / math.Sqrt(variance))
	}
	return min(1, math.Abs(r))
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
	v := make([]float64, 0, 6*n)
	for _, part := range [][]float64{t.scale, t.below, t.above, t.inside, t.width, t.noise} {
		v = append(v, part...)
	}
	state.Put(a, "intervals.residuals", n, v)
}

// Load reads what Save wrote.
func (t *Tracker) Load(s *state.Reader, r Rule) {
	rows := state.Take[float64](s, "intervals.rows", 1, 2)
	n := len(t.scale)
	size := 6
	if len(s.In) > 0 && s.In[0].Shape[0] == firstSize {
		size = firstSize
	}
	v := state.Take[float64](s, "intervals.residuals", size, n)
	if s.Err != nil {
		return
	}
	s.Require(rows[0] >= 0 && rows[1] >= 0 && rows[1] <= rows[0], "intervals.rows: %v of %v rows", rows[1], rows[0])
	for _, x := range v {
		s.Require(x >= 0, "intervals.residuals: a number is %v", x)
	}
	t.Rule, t.rows, t.graded = r, rows[0], rows[1]
	for i, part := range [][]float64{t.scale, t.below, t.above, t.inside, t.width, t.noise}[:size] {
		copy(part, v[i*n:(i+1)*n])
	}
	if size == firstSize {
		t.toDeviations()
	}
}

// firstSize is the number of rows of the residuals of the first version, in which distances
// are in the label's units.
const firstSize = 5

// toDeviations sets what the first version does not have, as for a normal distribution.
func (t *Tracker) toDeviations() {
	for j, mean := range t.scale {
		deviation := math.Sqrt(math.Pi/2) * mean
		t.noise[j] = float64(deviation * deviation)
		if deviation > 0 {
			t.scale[j] /= deviation
			t.below[j] = bounded(t.below[j] / deviation)
			t.above[j] = bounded(t.above[j] / deviation)
		}
	}
}
