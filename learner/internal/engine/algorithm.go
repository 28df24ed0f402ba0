package engine

import (
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Algorithm is a row of the registry: one way to learn.
type Algorithm struct {
	Name string
	Help string // one line
	New  func(p Problem) Engine

	Minibatch    int  // default of the labelled rows in a step
	BlockSize    int  // default of the random features in a block
	SmallerEarly bool // mini-batches are large, and smaller during the warm-up
	FeatureBytes int  // memory of each random feature beside the State, at the default block size

	// Loss returns the loss of a model of the task, given the one that the configuration chooses. A
	// nil loss, as argument or result, stands for the one that suits the task. Loss itself is nil
	// for an algorithm that takes every loss.
	Loss func(chosen loss.Loss, task target.Task) (loss.Loss, error)

	// Descent says how the options of stochastic descent apply to the algorithm; nil if they
	// do not.
	Descent *Descent

	// Packed returns how many float32 numbers a model that sees at most that many inputs has for
	// the rows in its window beside the State: a copy of them, and their phases. It is nil if there
	// are none.
	Packed func(o Options, inputs int) int

	// Forest reports whether leaves of trees can be features beside the random ones.
	Forest bool

	// Effort is the default of Options.Effort; 0 for algorithms that have none.
	Effort int

	// FixedBlocks returns the number of blocks of a model that has all its blocks, a small number,
	// from the start: the warm-up then compares its choices on these features. It is nil for other
	// algorithms, whose features approximate the kernel.
	FixedBlocks func(o Options) int
}

// Descent says how the options of stochastic descent apply to an algorithm.
type Descent struct {
	Direction  string                       // the default
	Sizes      func(direction string) Sizes // defaults
	Penalised  bool                         // by default with the penalty of the warm-up
	Effective  func(o Options) Options
	AtCap      func(Options) string // what a step does to a model that may not grow
	Check      func(o Options) error
	Arithmetic func(direction string) int // version of what it computes, counted from 1
}

// Penalised reports whether the penalty is that of the warm-up unless one is configured.
func (a *Algorithm) Penalised() bool { return a.Descent != nil && a.Descent.Penalised }

// LossOf returns the loss of a model of the task, given the one that the configuration chooses. A
// nil loss, as argument or result, stands for the one that suits the task.
func (a *Algorithm) LossOf(chosen loss.Loss, task target.Task) (loss.Loss, error) {
	if a.Loss == nil {
		return chosen, nil
	}
	return a.Loss(chosen, task)
}
