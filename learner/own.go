package learner

import (
	"github.com/accrete-ml/accrete/learner/internal/decide"
	"github.com/accrete-ml/accrete/learner/internal/interval"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// ownRules are rules that adapt to the predictions of a mixture, with the members that
// need labels: those of a scorer have other errors, and rules of their own, which are the
// Learner's decision and intervals. They are nil unless configured, with a mixture.
type ownRules struct {
	decision  *decide.F1
	intervals *interval.Tracker
}

func newOwnRules(c Config) (r ownRules) {
	if c.Mixture && c.Costs == costsF1 {
		r.decision = decide.NewF1()
	}
	if c.Mixture {
		r.intervals = interval.NewTracker(c.uncertainty(), c.targets())
	}
	return r
}

// apply sets the rules of the predictions of a mixture, after a scorer has got those of p.
func (r *ownRules) apply(p *Predictions) {
	if r.decision != nil {
		p.Decision = r.decision.Rule
	}
	if r.intervals != nil {
		p.Intervals = r.intervals.Rule
	}
}

// addRules has the rules learn row i of p.
func (l *Learner) addRules(p *PredictedBatch, i int, y Label, weight float64) {
	served := p.Row(i)
	if p.isMixed {
		served = p.Scorer.Row(i)
	}
	if l.decision != nil && l.fit != nil {
		l.decision.Add(served, y.Class, weight)
		if l.own.decision != nil {
			l.own.decision.Add(p.Row(i), y.Class, weight)
		}
	}
	if l.intervals != nil && weight > 0 && p.Size > 0 {
		leverage := p.leverage(i)
		l.intervals.Add(served, leverage, y.At)
		if l.own.intervals != nil {
			l.own.intervals.Add(p.Row(i), leverage, y.At)
		}
	}
}

// stepIntervals sets the intervals from the rows so far.
func (l *Learner) stepIntervals() {
	for _, t := range []*interval.Tracker{l.intervals, l.own.intervals} {
		if t != nil {
			t.Step()
		}
	}
}

// stepDecisions sets the decisions from the rows so far.
func (l *Learner) stepDecisions(rows int) {
	for _, f := range []*decide.F1{l.decision, l.own.decision} {
		if f != nil {
			f.Step(rows)
		}
	}
}

func (r *ownRules) save(a *state.Arrays, of interval.Kind) {
	state.PutUnder(a, "own.", func(own *state.Arrays) {
		if r.decision != nil {
			r.decision.Rule.Save(own)
			r.decision.Save(own)
		}
		if r.intervals != nil {
			r.intervals.Rule.Save(own, of)
			r.intervals.Save(own)
		}
	})
}

func (r *ownRules) load(s *state.Reader, targets int) {
	state.TakeUnder(s, "own.", func(own *state.Reader) {
		if r.decision != nil {
			rule := decide.LoadRule(own)
			own.Require(rule != nil, "decision is missing")
			if own.Err == nil {
				r.decision.Load(own, *rule)
			}
		}
		if r.intervals != nil {
			rule, _ := interval.LoadRule(own, targets)
			own.Require(rule != nil, "intervals are missing")
			if own.Err == nil {
				r.intervals.Load(own, *rule)
			}
		}
	})
}
