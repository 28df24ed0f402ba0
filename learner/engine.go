package learner

import (
	"fmt"
	"slices"

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

	// serving returns what predictions are made with. It is the engine's.
	serving() served

	// save writes the rest of what the engine is; load reads it back into an
	// engine that has just been made, whose serving part v is and which has
	// learned at most so many mini-batches.
	save(a *arrays)
	load(s *source, v served, steps int64)
}

// problem is what an engine is made for.
type problem struct {
	config options
	head   head
	dim    int
	fit    *fit
	prior  []float64 // intercepts to begin with
}

// bank returns the features of a model of p that has no blocks yet.
func (p *problem) bank() *features.Bank {
	return p.fit.bank(p.config.featureMap(p.dim))
}

// options are what an engine needs of the Learner's configuration.
type options struct {
	Width       int // random features in a block
	MaxFeatures int
	Minibatch   int
	Lambda      float64 // weight of ‖f‖²/2 in the objective
	Seed        uint64
	Sampling    features.Sampling
	Stepper     string // direction of a step, see package descent
}

func (o options) maxBlocks() int { return (o.MaxFeatures + o.Width - 1) / o.Width }

// featureMap is the map of the features of rows of dim inputs, but for the kernel.
func (o options) featureMap(dim int) features.Map {
	return features.Map{Dim: dim, Width: o.Width, Seed: o.Seed, Sampling: o.Sampling}
}

// served is what predictions are made with.
type served struct {
	blocks    int
	intercept []float64
	coef      []float32 // 2 rows for each random feature × scores
}

// check fails s unless the engine that was loaded from it serves v.
func (v served) check(s *source, e engine) {
	got := e.serving()
	s.want(got.blocks == v.blocks && slices.Equal(got.intercept, v.intercept) && slices.Equal(got.coef, v.coef), "not the coefficients of the serving part")
}

// addUp appends to dst the sums over all features for n scaled rows x, with the
// intercepts.
func addUp(dst []float64, bank *features.Bank, x, coef []float32, intercept []float64, n int) []float64 {
	k := len(intercept)
	from := len(dst)
	dst = extend(dst, n*k)
	f := dst[from:]
	if k == 0 || bank == nil || bank.Blocks() == 0 {
		clear(f)
	} else {
		bank.Sum(f, x, coef, k)
	}
	for i := range n {
		for j, b := range intercept {
			f[i*k+j] += b
		}
	}
	return dst
}

// farthest bounds coefficients: no sum of them leaves the range of float32.
const farthest = 1e30

// pending are the labelled rows since the last mini-batch, scaled. Before the
// first fit there are none: the warm-up has them.
type pending struct {
	x       []float32
	f       []float64 // their sums under the model as it is, as many as the engine has columns
	labels  []Label
	weights []float64
}

func (p *pending) clear() {
	p.x, p.f, p.labels, p.weights = p.x[:0], p.f[:0], p.labels[:0], p.weights[:0]
}

// A reaction is what an engine does about drift, at the end of the mini-batch in
// which it was noticed.
type reaction int

const (
	reactNone   reaction = iota
	reactBoost           // go as far with each step as at first
	reactForget          // and give what was learned half its weight or less
	reactReset           // begin anew, with the scale that the warm-up found
)

var reactions = [...]string{"none", "boost", "forget", "reset"}

func parseReaction(s string) (reaction, error) {
	for i, name := range reactions {
		if s == name {
			return reaction(i), nil
		}
	}
	return 0, fmt.Errorf("no reaction to drift is named %q: want one of %v", s, reactions)
}

// A reactor is an engine that can do something about drift besides beginning
// anew, which is what the others do instead.
type reactor interface{ react(reaction) }

// algorithm is a row of the registry: one way to learn.
type algorithm struct {
	name string
	help string // one line
	new  func(p problem) engine

	minibatch    int // default of the labelled rows in a step
	width        int // default of the random features in a block
	featureBytes int // memory of each random feature beside the State, at the default block size

	// loss returns the loss that a model of the task has where the configuration
	// chooses this one; nil here and there stands for the one that suits the task.
	// It is nil itself for an algorithm that takes every loss.
	loss func(chosen loss.Loss, task Task) (loss.Loss, error)

	// fixedBlocks returns the number of blocks of a model that starts with all it
	// will ever have, and few of them: the warm-up then compares its choices on
	// these features. It is nil for the others, whose features stand for the kernel.
	fixedBlocks func(o options) int
}

// lossOf returns the loss that a model of the task has where the configuration
// chooses this one: nil there and here stand for what suits the task.
func (a *algorithm) lossOf(chosen loss.Loss, task Task) (loss.Loss, error) {
	if a.loss == nil {
		return chosen, nil
	}
	return a.loss(chosen, task)
}

// A merger is an engine whose solution is one of sums over rows, so that what
// two of them have learned since they were one adds up.
type merger interface {
	// merge adds what o has learned since base, engines of the same algorithm.
	merge(o, base engine)
}

// A variancer is an engine that knows how far labels are from their predictions.
type variancer interface {
	// variance returns the variance of the label around its prediction for each
	// scaled row of x and each target, rows × targets, or nil where it has none yet.
	variance(x []float32) []float64
}

// averaging is the exponent η of the average's weights: the iterate of step i
// counts about i^η in it (Shamir and Zhang 2013, polynomial-decay averaging).
const averaging = 3

// averageShare returns the share ρ = (η+1)/(t+η) that the iterate of step t gets
// in the average of the steps so far.
func averageShare(t int64) float64 { return (averaging + 1) / (float64(t) + averaging) }
