// Package rules has the rules of a model, apart from its coefficients, that are learned from its
// predictions: the decision for a class, and the intervals and variances of numbers.
package rules

import (
	"github.com/accrete-ml/accrete/learner/internal/decide"
	"github.com/accrete-ml/accrete/learner/internal/interval"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Rules are the rules of a Learner. Each is nil unless configured.
//
// A Learner with a mixture predicts with all its members. A scorer lacks the members that need
// labels, so that its predictions have other errors. The two therefore have separate rules.
type Rules struct {
	costs     *decide.Rule // decides by the costs of classes
	decision  *decide.F1
	intervals *interval.Tracker

	ownDecision  *decide.F1 // for predictions of all members of a mixture
	ownIntervals *interval.Tracker
}

// Options say which rules to use.
type Options struct {
	F1          bool          // learn a threshold between two classes
	Costs       *decide.Costs // without F1: decide by these costs, if not nil
	Uncertainty interval.Kind // what to give for predictions of numbers
	Targets     int
	Mixture     bool
}

// New returns the Rules before the first row.
func New(o Options) (r Rules) {
	switch {
	case o.F1:
		r.decision = decide.NewF1()
	case o.Costs != nil:
		costs := decide.ByCosts(o.Costs)
		r.costs = &costs
	}
	r.intervals = interval.NewTracker(o.Uncertainty, o.Targets)
	if o.Mixture && r.decision != nil {
		r.ownDecision = decide.NewF1()
	}
	if o.Mixture && r.intervals != nil {
		r.ownIntervals = interval.NewTracker(o.Uncertainty, o.Targets)
	}
	return r
}

// Costs returns the Rule for the costs of classes, nil if there is none.
func (r *Rules) Costs() *decide.Rule { return r.costs }

// Served returns the rules for the predictions of a scorer, each nil if there is none. They share
// memory with r.
func (r *Rules) Served() (d *decide.Rule, i *interval.Rule) {
	d = r.costs
	if r.decision != nil {
		d = &r.decision.Rule
	}
	if r.intervals != nil {
		i = &r.intervals.Rule
	}
	return d, i
}

// Mixed returns the rules for the predictions of a mixture with all members, in the same form as
// Served.
func (r *Rules) Mixed() (d *decide.Rule, i *interval.Rule) {
	d, i = r.Served()
	if r.ownDecision != nil {
		d = &r.ownDecision.Rule
	}
	if r.ownIntervals != nil {
		i = &r.ownIntervals.Rule
	}
	return d, i
}

// AddDecision updates the decisions with a row. served are the predictions for it by a scorer, and
// mixed those by a mixture with all members.
func (r *Rules) AddDecision(served, mixed []float64, class int, weight float64) {
	if r.decision != nil {
		r.decision.Add(served, class, weight)
	}
	if r.ownDecision != nil {
		r.ownDecision.Add(mixed, class, weight)
	}
}

// AddResiduals updates the intervals with a row of this leverage. served and mixed are as in
// AddDecision.
func (r *Rules) AddResiduals(served, mixed []float64, leverage float64, y target.Label) {
	if r.intervals != nil {
		r.intervals.Add(served, leverage, y.At)
	}
	if r.ownIntervals != nil {
		r.ownIntervals.Add(mixed, leverage, y.At)
	}
}

// StepIntervals sets the intervals from the rows so far.
func (r *Rules) StepIntervals() {
	for _, t := range []*interval.Tracker{r.intervals, r.ownIntervals} {
		if t != nil {
			t.Step()
		}
	}
}

// StepDecisions sets the decisions from the rows so far, and then ages these by that many rows.
func (r *Rules) StepDecisions(rows int) {
	for _, f := range []*decide.F1{r.decision, r.ownDecision} {
		if f != nil {
			f.Step(rows)
		}
	}
}

// Graded returns the coverage and the mean width of the intervals around the predictions of
// the Learner, for each target; nil without intervals.
func (r *Rules) Graded() (coverage, width []float64) {
	switch {
	case r.ownIntervals != nil:
		return r.ownIntervals.Graded()
	case r.intervals != nil:
		return r.intervals.Graded()
	}
	return nil, nil
}

// Save writes what learning needs beyond the rules that Served returns.
func (r *Rules) Save(a *state.Arrays) {
	if r.decision != nil {
		r.decision.Save(a)
	}
	if r.intervals != nil {
		r.intervals.Save(a)
	}
}

// Load reads what Save wrote. d and i are what Served returned.
func (r *Rules) Load(s *state.Reader, d *decide.Rule, i *interval.Rule) {
	if r.decision != nil {
		r.decision.Load(s, *d)
	}
	if r.intervals != nil {
		r.intervals.Load(s, *i)
	}
}

// SaveOwn writes the rules of the mixture.
func (r *Rules) SaveOwn(a *state.Arrays) {
	state.PutUnder(a, "own.", func(own *state.Arrays) {
		if r.ownDecision != nil {
			r.ownDecision.Rule.Save(own)
			r.ownDecision.Save(own)
		}
		if r.ownIntervals != nil {
			r.ownIntervals.Rule.Save(own)
			r.ownIntervals.Save(own)
		}
	})
}

// LoadOwn reads what SaveOwn wrote.
func (r *Rules) LoadOwn(s *state.Reader, targets int) {
	state.TakeUnder(s, "own.", func(own *state.Reader) {
		if r.ownDecision != nil {
			rule := decide.LoadRule(own)
			own.Require(rule != nil, "decision is missing")
			if own.Err == nil {
				r.ownDecision.Load(own, *rule)
			}
		}
		if r.ownIntervals != nil {
			rule := interval.LoadRule(own, targets)
			own.Require(rule != nil, "intervals are missing")
			if own.Err == nil {
				r.ownIntervals.Load(own, *rule)
			}
		}
	})
}
