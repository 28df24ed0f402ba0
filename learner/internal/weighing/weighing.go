// Package weighing decides how much a labelled row counts for what is learned: less the older
// it is when it is learned, and as one of several where a frequent class is thinned. What is
// predicted and how it is graded does not depend on it.
package weighing

import (
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Rules is the state of both. The zero value weighs nothing. It is for one goroutine.
type Rules struct {
	balance *Balance
	clock   *Clock
}

// New returns Rules without rows. shares is nil where no class is thinned, and halfLife, in
// seconds, is 0 where age does not matter.
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

// Follow continues with the time of o, which has seen the same rows and earlier ones.
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

// Load reads what Save wrote, after rows with labels of that many classes.
func (r *Rules) Load(s *state.Reader, classes int) {
	if r.balance != nil {
		r.balance.load(s, classes)
	}
	if r.clock != nil {
		r.clock.load(s)
	}
}
