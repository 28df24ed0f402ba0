package descent

import (
	"fmt"

	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// A Rule decides which blocks a step changes, and how far it goes at most. It
// is what tells the algorithms of stochastic descent apart.
type Rule interface {
	// Choose returns the range [from, to) of the blocks that a step changes,
	// which is not empty, and its size. Where to is Blocks+1, the last block is
	// new. They share the step: each is moved by its size over their number.
	Choose(s *Situation) (from, to int, rate float64)

	// String names the rule in the form that ParseRule reads, Help says in a line
	// what it does.
	String() string
	Help() string
}

// Situation is what a Rule may look at before a step.
type Situation struct {
	Step    int64   // counted from 1
	Seed    uint64  // of what the rule leaves to chance
	Blocks  int     // of the model
	Most    int     // that it may have
	Rate    float64 // the size of a step that takes a new block
	Ceiling float64 // the size from which on a step would overshoot

	// Mean is the mean of the mini-batch's gradients in the outputs, Squares the
	// mean of their squared norms and Rows their number.
	Mean    []float64
	Squares float64
	Rows    int

	// Traces has a row for each block: the sum of what Mean times the step's size
	// was at the steps that changed it, with the same shrinking as the
	// coefficients. It is kept for rules that are a Tracer.
	Traces []float64

	// Slopes returns, for each block, the product of its coefficients with the
	// gradient in them, and the square of that gradient's norm. Features have norm
	// 1 here. It takes the time of a step that changes all blocks.
	Slopes func() (products, squares []float64)
}

// A Tracer is a Rule that looks at Traces.
type Tracer interface{ Traces() }

// Rules is every rule there is.
var Rules = []Rule{DSG{}, UDSG{1, 1}, CDSG{}, CDSG{Alpha: true}, All{}, All{Fixed: true}}

// ParseRule reads the form that String writes.
func ParseRule(s string) (Rule, error) {
	for _, r := range Rules {
		if r.String() == s {
			return r, nil
		}
	}
	return nil, fmt.Errorf("no rule is named %q", s)
}

// Algorithms returns the rows of the registry, one for each rule.
func Algorithms() (rows []engine.Algorithm) {
	for _, r := range Rules {
		rows = append(rows, engine.Algorithm{
			Name: r.String(), Help: r.Help(), Minibatch: 128, BlockSize: 32,
			New: func(p engine.Problem) engine.Engine {
				direction, err := NewDirection(p.Options.Stepper)
				if err != nil {
					panic("descent: " + err.Error()) // the configuration has been checked
				}
				return New(p, r, direction, nil)
			},
		})
	}
	return rows
}
