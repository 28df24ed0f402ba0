package descent

import (
	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// A Rule decides which blocks a step changes, and the step size. It is what
// distinguishes the algorithms of stochastic descent.
type Rule interface {
	// Choose returns the range [from, to) of the blocks that a step changes, and the step size. If
	// the range is empty, there is no step. If to is Blocks+1, the last block is new. The blocks
	// share the step: in each it is the step size divided by their number.
	Choose(s *Situation) (from, to int, rate float64)

	// String returns the name of the rule, and Help describes it in a line.
	String() string
	Help() string
}

// Situation is what a Rule may consider before a step.
type Situation struct {
	Step      int64   // counted from 1
	Seed      uint64  // of random decisions
	Blocks    int     // of the model
	MaxBlocks int     // blocks that it may have
	Rate      float64 // step size in a new block
	Ceiling   float64 // step size above which a step overshoots
	AtCap     string  // what a model of MaxBlocks does, see Caps

	Newton bool // step sizes are parts of a Newton step in a block

	// Mean is the mean of the mini-batch's gradients in the scores, Squares the mean
	// of their squared norms and Rows their number.
	Mean    []float64
	Squares float64
	Rows    int

	// Traces has a row for each block: the sum of -Mean × step size over the steps that
	// changed it, with the same shrinking as the coefficients. It is kept for rules
	// that are a Tracer.
	Traces []float64

	// Slopes returns, for each block, the product of its coefficients with their
	// gradient, and the squared norm of the gradient, for features of norm 1. It takes
	// as long as a step that changes all blocks.
	Slopes func() (products, squares []float64)
}

// A Tracer is a Rule that uses Traces.
type Tracer interface{ Traces() }

// Rules are all rules.
var Rules = []Rule{DSG{}, UDSG{1, 1}, CDSG{}, CDSG{Alpha: true}, All{}, All{Fixed: true}}

// arithmetic returns the version of what a rule computes along a direction.
func arithmetic(r Rule, direction string) int {
	if _, steady := r.(All); steady && direction != precondName {
		return 1
	}
	return 2
}

// Algorithms returns the rows of the registry, one for each rule.
func Algorithms() (rows []engine.Algorithm) {
	for _, r := range Rules {
		_, steady := r.(All)
		direction := precondName
		if steady {
			direction = Directions[0]
		}
		of := sizes(direction)
		rows = append(rows, engine.Algorithm{
			Name: r.String(), Help: r.Help(), Minibatch: of.Minibatch, BlockSize: of.BlockSize,
			SmallerEarly: !steady,
			Descent: &engine.Descent{
				Direction: direction, Sizes: sizes, Penalised: !steady,
				Arithmetic: func(direction string) int { return arithmetic(r, direction) },
				Effective:  func(o engine.Options) engine.Options { return effective(r, o) },
				AtCap:      func(o engine.Options) string { return atCap(r, o) },
				Check:      func(o engine.Options) error { return check(r, o) },
			},
			New: func(p engine.Problem) engine.Engine {
				direction, err := NewDirection(p.Options.Direction)
				if err != nil {
					panic("descent: " + err.Error()) // the configuration has been checked
				}
				return New(p, with(r, p.Options), direction, nil)
			},
		})
	}
	return rows
}
