package learner

import (
	"fmt"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/loss"
)

// An engine is an algorithm at work on one model, from the fit of the warm-up
// that it was made for to the next one. The Learner around it has what all
// algorithms have in common: the warm-up, the pending rows, the grading and the
// baselines.
//
// An engine may keep several candidates for the model, each of as many outputs
// as the head has sums. What it predicts with are float32 coefficients, those
// that it serves: a Model, which has no others, predicts the same bits.
type engine interface {
	// columns returns how many sums a row has: the outputs of all candidates.
	columns() int

	// served returns the column from which on the sums are the prediction's.
	served() int

	// sums appends to dst the sums of n scaled rows x, columns each.
	sums(dst []float64, x []float32, n int) []float64

	// learn learns one mini-batch, whose sums are those of the model as it is.
	// The model changes here and in widen, and nowhere else.
	learn(p *pending)

	// widen gives the model one more class, as h says. prior has the intercepts
	// that give each class its share of the rows, whose total weight is given.
	widen(h head, prior []float64, total float64)

	// frequencies returns how many are in use.
	frequencies() int

	// serving returns the blocks, the intercepts and the coefficients that
	// predictions are made with. They are the engine's.
	serving() (blocks int, intercept []float64, coef []float32)

	// save writes the rest of what the engine is; load reads it back into an
	// engine that has just been made, whose serving part v is and which has
	// learned at most so many mini-batches.
	save(a *arrays)
	load(s *source, v serving, steps int64)
}

// problem is what an engine is made for.
type problem struct {
	config Config // effective
	head   head
	dim    int
	fit    *fit
	prior  []float64 // intercepts to begin with
}

// bank returns the features of a model of p that has no blocks yet.
func (p *problem) bank() *features.Bank {
	return p.fit.bank(p.config, p.dim)
}

// algorithm is one way to learn.
type algorithm struct {
	name    string
	new     func(p problem) engine
	squares bool               // it minimises squared errors, and nothing else
	few     func(c Config) int // blocks that a model has, if that is never many
}

// loss returns the loss that a model of the task has where the configuration
// chooses this one: nil there and here stand for what suits the task.
func (a algorithm) loss(chosen loss.Loss, task Task) loss.Loss {
	if chosen == nil && a.squares && task == Classification {
		return loss.OneVsRest{}
	}
	return chosen
}

// algorithms is every algorithm there is.
var algorithms = func() (all []algorithm) {
	for _, r := range Rules {
		all = append(all, algorithm{name: r.String(), new: func(p problem) engine {
			direction, err := newDirection(p.config.Stepper)
			if err != nil {
				panic("learner: " + err.Error()) // the configuration has been checked
			}
			return newDescent(p, r, direction)
		}})
	}
	return append(all,
		algorithm{name: "newton", new: func(p problem) engine { return newNewton(p) }},
		algorithm{name: "eigenpro", new: func(p problem) engine { return newEigenpro(p) }},
		algorithm{name: "ridge", new: func(p problem) engine { return newRidge(p) }, squares: true, few: ridgeBlocks},
	)
}()

func parseAlgorithm(s string) (algorithm, error) {
	for _, a := range algorithms {
		if a.name == s {
			return a, nil
		}
	}
	return algorithm{}, fmt.Errorf("no algorithm is named %q", s)
}
