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
