// Package interval learns intervals that contain a given share of the labels of a
// regression, and the variance of the labels.
package interval

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Rule gives the interval and the variance of a prediction. The zero value gives neither.
type Rule struct {
	// of each target: distances of the bounds from the prediction, in the label's units, at
	// leverage 0
	below, above []float64
	// of each target: variance of the label, in squared units of the label, at leverage 0
	noise    []float64
	leverage float64 // of the row
	of       Kind
}

// At returns the Rule for the prediction of a row with this leverage. Compared with a leverage of
// 0, variances are larger by the factor 1 + leverage, and intervals wider by its square root.
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

// LoadRule reads what Save wrote for a number of targets. It returns nil if the next array is not
// one that Save writes. The Coverage of the Kind is 1 if there are intervals.
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
	// rate is the step size of the distances, in deviations. The step size must not depend on
	// whether a label was inside the interval: if steps were larger after labels outside, too few
	// labels would be outside. A larger rate follows changes faster, but its noise makes the
	// intervals of a stationary stream wider. Chosen by trial, see docs/constants.md.
	rate = 0.05

	// start is the step size times the number of rows so far, while that exceeds rate. The error of
	// the first distances then costs few labels: a share in proportion to that error divided by the
	// step size. The best value is 1 over the density of the residuals at the end of the interval,
	// which is 10 for a coverage of 0.9 and a normal distribution. Chosen by trial, see
	// docs/constants.md.
	start = 8

	// firstRows is the number of first rows during which the distances are those of a Laplace
	// distribution with the mean absolute residual so far.
	firstRows = 32

	// servedRows is the number of rows after a step for which labels are compared with the
	// intervals of Rule to move the distances. With more rows the distances would move too far.
	// Later rows are therefore compared with the distances reached so far, which leads to the same
	// coverage if the errors do not change.
	servedRows = 64

	// noiseMemory is the largest number of labelled rows that the variance remembers. Before there
	// are many rows, it remembers the share noiseShare of them, because the errors of a model fall
	// quickly at first. Chosen by trial, see docs/constants.md.
	noiseMemory = 1000
	noiseShare  = 0.125
)
