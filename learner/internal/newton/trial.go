package newton

import "math"

// trials are the numbers of rows in the window at which a forest on trial is discarded, unless the
// loss of the best member with leaves is less than a share of that of the best without. At the
// first one, leaves have learned from too few rows for more than the clear cases. Chosen by trial:
// docs/forest.md has the losses of data sets at both.
var trials = []trial{{4096, 1.02}, {8000, 0.99}}

type trial struct {
	rows  int
	share float64
}

// trialEnsemble is the members of a model with a forest on trial: ensemble, and two with leaves,
// which share its factors. Chosen by trial: with a third that learns from 1,024 rows, as in
// forestEnsemble, the errors are the same.
var trialEnsemble = []member{{0.3, windowRows, 1}, {0.03, windowRows, 1}, {0.003, windowRows, 1}, {0.15, windowRows, 0.5}, {0.015, windowRows, 0.5}, {0.3, 1024, 1}}

// trialScores is the maximum number of scores of a model with a forest on trial: the memory and the
// time that a forest takes are in proportion to it. Chosen by trial.
const trialScores = 10

// judge discards a forest on trial that does not pay, if the last mini-batch has brought the rows
// of the window from before to those of a trial. Trees that grow again have trials of their own:
// see regrow.
func (w *newton) judge(before int) {
	if !w.Options.ForestTrial || w.forest.trees == nil || w.regrows() {
		return
	}
	rows := w.window.rows
	for _, t := range trials {
		if before < t.rows && t.rows <= rows && !w.pays(w.loss, t.share) {
			w.discardForest()
			return
		}
	}
}

// pays reports whether the loss of the best member with leaves is less than a share of that of the
// best of the others, summed over the targets.
func (w *newton) pays(loss []float64, share float64) bool {
	n, e := w.Head.Parts(), len(w.members)
	with, without := 0.0, 0.0
	for j := range n {
		leaves, none := math.Inf(1), math.Inf(1)
		for c := range w.candidates() {
			if l := loss[c*n+j]; w.members[c%e].rho < 1 { // averages are those of the first members
				leaves = min(leaves, l)
			} else {
				none = min(none, l)
			}
		}
		with, without = with+leaves, without+none
	}
	return with < float64(share*without)
}

// discardForest discards the trees, and with them the members that have leaves. The others
// continue as they are.
func (w *newton) discardForest() {
	discarded := w.discarded
	if len(w.forest.members) > 0 {
		discarded = w.discardedWithoutLeaves()
	}
	w.keep(w.withoutLeaves())
	w.discarded = discarded
	w.forest = w.newLeaves() // trees without members as well
}

// discardedWithoutLeaves returns the value of newton.discarded for the members without leaves
// alone, which are then numbered among themselves.
func (w *newton) discardedWithoutLeaves() int64 {
	discarded, at := w.discarded&keepsAll, 0
	for m, who := range trialEnsemble {
		if who.rho == 1 {
			discarded |= w.discarded >> m & 1 << at
			at++
		}
	}
	return discarded
}

// withoutForest removes the members with leaves from w, which has learned nothing yet.
func (w *newton) withoutForest() {
	w.plan = w.plan.of(w.withoutLeaves())
	w.replanned()
}

// withoutLeaves reports for each member whether it has no leaves.
func (w *newton) withoutLeaves() []bool {
	return w.which(func(who member) bool { return who.rho == 1 })
}

// which reports for each member whether it satisfies the predicate of.
func (w *newton) which(of func(member) bool) []bool {
	stays := make([]bool, len(w.members))
	for m, who := range w.members {
		stays[m] = of(who)
	}
	return stays
}
