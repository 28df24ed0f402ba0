package newton

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

const (
	// settlingRounds is the number of steps that a model which settles takes in each block, with
	// rowVisitsPerExample. Chosen by trial: docs/forest.md.
	settlingRounds = 2

	// heldOutRounds is settlingRounds for the model that grades the members of one that settles: its
	// own begin from 0.
	heldOutRounds = 2 * settlingRounds

	// One row of every heldOut grades the members. With fewer than leastHeldOut such rows, none do.
	heldOut, leastHeldOut = 5, 100

	// heldOutShare is the part of a mixture that the rows held out decide on; the progressive losses
	// decide on the rest. Chosen by trial: docs/forest.md.
	heldOutShare = 0.5
)

// Settle implements engine.Settler: it solves for the coefficients, or takes some steps in every
// block, unless the window is full or has windowRows rows. While the window is shorter, only a few steps in each block have been
// taken with nearly all of its rows. Once it is full, predictions are mostly made with averages,
// which a few more steps would not change.
func (w *newton) Settle() (changed bool) {
	single := w.Head.Task == target.Classification && w.Head.Classes < 2
	if !w.Options.Early || single || w.window.rows < minWindow || w.window.rows >= min(windowRows, w.length) {
		return false
	}
	shares := w.heldOutShares()
	w.settle(settlingRounds)
	w.serve()
	if shares != nil {
		for i, share := range shares {
			w.mix[i] += float64(heldOutShare * (share - w.mix[i]))
		}
		w.serveAll(func(from, to int) {})
	}
	w.scratch.team.Rest()
	return true
}

// settle solves for the coefficients, or takes that many steps in each block, with
// rowVisitsPerExample.
func (w *newton) settle(rounds int) {
	if w.solvable() {
		w.solveAll()
		return
	}
	w.settling = true
	steps := rounds * w.mostBlocks(w.window.rows) * int(w.visits) / rowVisitsPerExample
	for range max(1, steps) {
		w.step()
	}
	w.resetDiverged(nil)
	w.settling = false
}

// heldOutShares returns shares of the members, like those of mixture, or nil if it has none for w.
// Progressive losses are those of members that had learned little yet: they do not tell which member
// is best once it has settled, and small differences between them decide. Therefore a model with
// the same members learns the rows without every fifth, from the beginning, and its members are
// mixed so that their squared error in those rows is least (stacking: Breiman 1996).
//
// It does so for numbers, while the trees are young: later trees grow from rows that are held out as
// well, and with classes the error is no smaller (docs/forest.md).
func (w *newton) heldOutShares() []float64 {
	v, n := &w.window, w.Head.Parts()
	if !w.Options.HeldOut || w.Head.Loss != (loss.Square{}) || v.rows >= youngRows || v.rows/heldOut < leastHeldOut {
		return nil
	}
	learned, held := v.split(w.Dim, n)
	p := w.Problem
	p.Before, p.Prior = nil, make([]float64, w.Head.Scores()) // that of a restored w is another one
	m := newPlanned(p, w.plan)
	m.put(learned.x, learned.targets, learned.weights, m.intercept, 0)
	if len(w.forest.members) > 0 && w.forest.trees != nil {
		m.growFirst()
	}
	m.settle(heldOutRounds)
	m.serve()
	return m.leastSquares(held)
}

// split returns the rows of v in order, without those that are held out, and these. v is not full.
func (v *window) split(dim, parts int) (learned, held window) {
	for i := range v.rows {
		to := &learned
		if i%heldOut == heldOut-1 {
			to = &held
		}
		to.x = append(to.x, v.x[i*dim:(i+1)*dim]...)
		to.targets = append(to.targets, v.targets[i*parts:(i+1)*parts]...)
		to.weights = append(to.weights, v.weights[i])
	}
	return learned, held
}

// leastSquares returns the shares of the members, like those of mixture, with the least weighted sum
// of squared errors in the given rows. An error of a row is bounded like a loss in grade.
func (w *newton) leastSquares(rows window) []float64 {
	e, n, columns, most := len(w.members), w.Head.Parts(), w.Columns(), math.Sqrt(2*maxGradedLoss)
	f := w.Score(nil, rows.x, len(rows.weights))
	shares, errors, products := make([]float64, len(w.loss)), make([]float64, e), make([]float64, e*e)
	for j := range n {
		clear(products)
		for i, weight := range rows.weights {
			for m := range e {
				errors[m] = max(-most, min(most, f[i*columns+(1+m)*n+j]-rows.targets[i*n+j]))
			}
			for m, a := range errors {
				vec.Axpy(float64(weight*a), errors, products[m*e:(m+1)*e])
			}
		}
		for m, share := range leastsquares.Convex(products) {
			shares[m*n+j] = share
		}
	}
	return shares
}
