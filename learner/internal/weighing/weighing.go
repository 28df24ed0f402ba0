// Package weighing decides how much a labelled row counts in learning. A row counts less the older
// it is when it is learned, and a row of a frequent class that is thinned counts as several.
// Predictions and their evaluation do not depend on these weights.
package weighing

import (
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Rules is the state of both rules, for classes and for ages. The zero value has neither. It must
// not be used by several goroutines at once.
type Rules struct {
	balance *Balance
	clock   *Clock
}

// New returns Rules that have seen no rows. shares is nil if no class is thinned. halfLife is in
// seconds, and 0 if age does not matter.
func New(shares *Shares, halfLife float64, seed uint64) (r Rules) {
	if shares != nil {
		r.balance = &Balance{shares: shares, seed: seed, unit: 1}
	}
	if halfLife > 0 {
		r.clock = &Clock{halfLife: halfLife}
	}
	return r
}

// None reports whether every row counts fully.
func (r *Rules) None() bool { return r.balance == nil && r.clock == nil }

// Balance returns the rule for classes, nil if there is none.
func (r *Rules) Balance() *Balance { return r.balance }

// Clock returns the rule for ages, nil if there is none.
func (r *Rules) Clock() *Clock { return r.clock }

// Set makes r a copy of o, which was created by the same call of New.
func (r *Rules) Set(o *Rules) {
	if o.balance != nil {
		if r.balance == nil {
			r.balance = new(Balance)
		}
		counts := append(r.balance.counts[:0], o.balance.counts...)
		*r.balance = *o.balance
		r.balance.counts = counts
	}
	if o.clock != nil {
		if r.clock == nil {
			r.clock = new(Clock)
		}
		*r.clock = *o.clock
	}
}

// Follow takes over the clock of o, which has seen the same rows as r and earlier ones.
func (r *Rules) Follow(o *Rules) {
	if r.clock != nil {
		*r.clock = *o.clock
	}
}

// Save adds the state of the rules that there are.
func (r *Rules) Save(a *state.Arrays) {
	if r.balance != nil {
		r.balance.save(a)
	}
	if r.clock != nil {
		r.clock.save(a)
	}
}

// Load reads what Save wrote. learned is the number of labelled rows learned so far, and classes
// the number of their classes.
func (r *Rules) Load(s *state.Reader, learned int64, classes int) {
	if r.balance != nil {
		r.balance.load(s, learned, classes)
	}
	if r.clock != nil {
		r.clock.load(s)
	}
}
