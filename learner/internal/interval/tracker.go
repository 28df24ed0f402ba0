package interval

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
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
