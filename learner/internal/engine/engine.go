// Package engine is what an algorithm implements: the interface Engine, and Algorithm,
// a row of the registry in package learner.
package engine

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// An Engine is an algorithm at work on one model, from the fit of the warm-up
// that it was made for to the next one. The Learner around it has what all
// algorithms have in common: the warm-up, the mini-batches, the progressive validation
// and the baselines.
//
// An engine may keep several candidates for the model, each with as many scores as the
// head has. It predicts with the float32 coefficients that it serves: a Model, which
// has no others, predicts the same bits.
type Engine interface {
	// Columns returns the number of scores of a row, those of all candidates.
	Columns() int

	// Served returns the first column of the candidate that predicts.
	Served() int

	// Score appends to dst the scores of n scaled rows x, n × Columns.
	Score(dst []float64, x []float32, n int) []float64

	// Learn learns one mini-batch, whose scores are those of the model as it is.
	// The model changes here, in Widen and in React, and nowhere else.
	Learn(p *Minibatch)

	// Widen adds a class, for the new head h. prior has the intercepts at which each
	// class has its share of the rows, whose total weight is given.
	Widen(h target.Head, prior []float64, total float64)

	// Features returns the number of random features in use.
	Features() int

	// Serving returns what predictions are made with. The engine keeps ownership.
	Serving() Served

	// Save writes the state of the engine beside what it serves. Load reads it into a
	// new engine, which serves v and has learned at most that many mini-batches.
	Save(a *state.Arrays)
	Load(s *state.Reader, v Served, steps int64)
}

// Problem is what an engine is created with.
type Problem struct {
	Options Options
	Head    target.Head
	Dim     int
	Fit     *warmup.Fit
	Prior   []float64 // initial intercepts
	Before  Engine    // replaced by the new one, which takes its memory; nil if there is none

	Team *cores.Team // that divides the steps; nil for one of the engine's own
}

// Bank returns the random features of the model, without blocks.
func (p *Problem) Bank() *features.Bank {
	return p.Fit.Bank(p.Options.FeatureMap(p.Dim))
}

// Options are what an engine needs of the Learner's configuration.
type Options struct {
	BlockSize     int // random features in a block
	MaxFeatures   int
	Minibatch     int
	Lambda        float64 // weight of ‖f‖²/2 in the objective; 0: the penalty of the warm-up
	Seed          uint64
	Sampling      features.Sampling
	Forest        int  // trees whose leaves are features as well
	ForestTrial   bool // discard the trees unless they pay; the next three need it
	ForestPairs   bool // pairs of categories have trees as well
	ForestRegrow  bool // the trees grow again from more rows
	ForestLasting bool // leaves also learn the errors of the mixture on all rows since the trees grew
	Discard       bool // of newton: discard members that do not pay
	Effort        int  // of algorithms that have one; AutoEffort: chosen by the first rows

	// Lean is for a model in a mixture: take fewer steps, with fewer Gram matrices, in the first
	// rows, change averages less often, and leave the scores of rows that no member learns from.
	Lean bool

	// Warming means that the last fit of the warm-up has yet to come, with which the model starts
	// again.
	Warming bool

	// Frugal means to have fewer random features while Warming, and to take fewer steps
	// afterwards when the rows so far are learned again.
	Frugal bool

	// Plain means to have few members, without averages and trackers, and to take fewer steps
	// while Warming.
	Plain bool

	// Late is for newton: averages begin only once the window is full, models of many classes in
	// a mixture have no member for changes, and trees on trial have wider limits at first.
	Late bool

	// Early is for newton: trees on trial grow during the warm-up already, and again soon; models
	// with young trees take more steps; and a model settles if its rows end early.
	Early bool

	// Long is for newton in a mixture: have a longer window if rows have few inputs and labels
	// are noisy.
	Long bool

	// Sparing is for newton: make half of the row visits in a long window whose labels are mostly
	// noise.
	Sparing bool

	// Varying is for newton: columns that are constant when trees grow do not count for the columns
	// that are compared at a node.
	Varying bool

	Direction string // direction of a step, see package descent

	LastingClasses bool // ForestLasting is for classes as well
	Steps
}

// AutoEffort is an effort that the first rows choose.
const AutoEffort = -1

// Steps are the options of stochastic descent. The zero value of each selects the
// default; see package descent.
type Steps struct {
	StepSize    float64 // γ₀: that of the first step
	Theta       float64 // θ: the step size tends to θ/t
	NewSteps    int     // of udsg: steps in new blocks, in turn with OldSteps in existing ones
	OldSteps    int
	LongestStep float64 // of cdsg: largest step size in an existing block, relative to a new one
	Averaging   string  // which iterate or average serves
	Memory      int64   // bytes that bound the features instead of MaxFeatures; 0: none
	AtCap       string  // what a step does to a model that may not grow
}

// Sizes are the rows of a mini-batch and the random features of a block.
type Sizes struct{ Minibatch, BlockSize int }

// MaxBlocks returns the largest number of blocks of a model.
func (o Options) MaxBlocks() int { return (o.MaxFeatures + o.BlockSize - 1) / o.BlockSize }

// maxFrequencies bounds the frequencies of a model as the reader of a State does.
const maxFrequencies = 1 << 28

// BlocksWithin returns the largest number of blocks of a model of stochastic descent with that many
// scores, whose frequencies take that many bytes for each random feature: MaxBlocks or, with
// Memory, no more than fit into it. A random feature takes
//
//	2 × (5 × 2 × scores × 20 + bytes of its frequency + 4)
//
// bytes: a cosine and a sine have two coefficients of 8 bytes and one of 4 for each score in a
// snapshot, 28 bytes with the direction adagrad; a learner holds five times a snapshot, and the
// frequencies; and the 2 is the growth of the heap between collections.
func (o Options) BlocksWithin(frequency, scores int) int {
	if o.Memory == 0 {
		return o.MaxBlocks()
	}
	coefficient := int64(20)
	if o.Direction == "adagrad" {
		coefficient = 28
	}
	feature := 2 * (5*2*int64(scores)*coefficient + int64(frequency) + 4)
	blocks := o.Memory / (feature * int64(o.BlockSize))
	return int(max(1, min(blocks, int64(o.MaxBlocks()), maxFrequencies/int64(max(1, frequency/4)*o.BlockSize))))
}

// FeatureMap returns the map of the features of rows of dim inputs, without the kernel.
func (o Options) FeatureMap(dim int) features.Map {
	return features.Map{Dim: dim, BlockSize: o.BlockSize, Seed: o.Seed, Sampling: o.Sampling}
}

// Served is what predictions are made with.
type Served struct {
	Blocks    int
	Intercept []float64
	Coef      []float32 // 2 rows for each random feature × scores

	Forest   *forest.Forest // nil without trees
	LeafCoef []float32      // leaves × scores
}

// Check makes s fail unless e, which was loaded from it, serves v. A v without intercepts belongs
// to an engine whose caller compares the serving part itself.
func (v Served) Check(s *state.Reader, e Engine) {
	if v.Intercept == nil {
		return
	}
	got := e.Serving()
	s.Require(got.Blocks == v.Blocks && slices.Equal(got.Intercept, v.Intercept) && slices.Equal(got.Coef, v.Coef) && slices.Equal(got.LeafCoef, v.LeafCoef), "the coefficients differ from those of the serving part")
}

// Scores appends to dst the scores of n scaled rows x: the sums over all features, and
// the intercepts.
func Scores(dst []float64, bank *features.Bank, x, coef []float32, intercept []float64, n int) []float64 {
	return ScoresPacked(dst, bank, x, coef, nil, intercept, n)
}

// ScoresPacked is Scores for coefficients that packed holds as well, unless it is nil.
func ScoresPacked(dst []float64, bank *features.Bank, x, coef []float32, packed *features.Packed, intercept []float64, n int) []float64 {
	k := len(intercept)
	from := len(dst)
	dst = state.Extend(dst, n*k)
	f := dst[from:]
	if k == 0 || bank == nil || bank.Blocks() == 0 {
		clear(f)
	} else {
		bank.SumPacked(f, x, coef, k, packed)
	}
	for i := range n {
		for j, b := range intercept {
			f[i*k+j] += b
		}
	}
	return dst
}

// MaxCoefficient bounds coefficients, so that no sum of them overflows a float32.
const MaxCoefficient = 1e30

// Minibatch is labelled rows, scaled, that are learned together.
type Minibatch struct {
	X       []float32
	Scores  []float64 // rows × Columns, under the model as it is
	Labels  []target.Label
	Weights []float64
	Again   bool    // the rows of the warm-up are learned again, under a new fit
	More    bool    // if Again: the next mini-batch of these rows follows at once
	Part    float64 // share of a whole mini-batch that these rows are, at the end of a file; otherwise 0
}

// Clear empties p and keeps its memory.
func (p *Minibatch) Clear() {
	p.X, p.Scores, p.Labels, p.Weights = p.X[:0], p.Scores[:0], p.Labels[:0], p.Weights[:0]
	p.Again, p.More, p.Part = false, false, 0
}

// A Reaction is what an engine does about drift, after the mini-batch in which it was
// detected.
type Reaction int

const (
	ReactNone   Reaction = iota // do nothing
	reactBoost                  // start the schedule of the step size again
	ReactForget                 // and reduce the weight of what was learned
	ReactReset                  // start again, with the fit of the warm-up
)

// Reactions are the names, indexed by Reaction.
var Reactions = [...]string{"none", "boost", "forget", "reset"}

// ParseReaction reads a name of Reactions.
func ParseReaction(s string) (Reaction, error) {
	for i, name := range Reactions {
		if s == name {
			return Reaction(i), nil
		}
	}
	return 0, fmt.Errorf("unknown reaction to drift %q: want one of %v", s, Reactions)
}

// A Reactor is an engine that can react to drift without starting again. All other engines start
// again.
type Reactor interface{ React(Reaction) }

// A Settler is an engine that can learn more from the rows that it has if no more rows follow.
// Settle reports whether the model has changed.
type Settler interface{ Settle() bool }

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

// A Merger is an engine whose solution is a function of sums over rows, so that what two engines
// have learned since they were the same adds up.
type Merger interface {
	// Merge adds what o has learned since base, engines of the same algorithm.
	Merge(o, base Engine)
}

// averaging is the exponent η of polynomial-decay averaging: the iterate of step i has
// a weight of about i^η (Shamir and Zhang 2013).
const averaging = 3

// AverageShare returns the share ρ = (η+1)/(t+η) that the iterate of step t gets
// in the average of the steps so far.
func AverageShare(t int64) float64 { return (averaging + 1) / (float64(t) + averaging) }
