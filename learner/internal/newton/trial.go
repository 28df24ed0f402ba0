package newton

import (
	"math"
	"slices"
)

// trials are the rows of the window at which a forest on trial is discarded, unless the best
// member with leaves has less than a share of the loss of the best without. At the first one
// leaves have been learned from too few rows for more than the clear cases. Chosen by trial:
// docs/forest.md has the losses of sets at both.
var trials = []trial{{4096, 1.02}, {8000, 0.99}}

type trial struct {
	rows  int
	share float64
}

// trialEnsemble is the members of a model with a forest on trial: ensemble, and two with leaves,
// which share its factors. Chosen by trial: with a third that learns from 1,024 rows, as in
// forestEnsemble, the errors are the same.
var trialEnsemble = []member{{0.3, windowRows, 1}, {0.03, windowRows, 1}, {0.003, windowRows, 1}, {0.15, windowRows, 0.5}, {0.015, windowRows, 0.5}, {0.3, 1024, 1}}

// trialScores is the maximum of scores of a forest on trial: its memory and its time are in
// proportion to them. Chosen by trial.
const trialScores = 10

// judge discards a forest on trial that does not pay, with the mini-batch that brings the
// window, which had some rows before it, to those of a trial. Trees that grow again have trials
// of their own, see regrow.
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

// pays reports whether the best member with leaves has less than a share of the loss of the
// best of the others, in the sum of the targets.
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
	k, n, e := w.Head.Scores(), w.Head.Parts(), len(w.members)
	stays := func(m int) bool { return w.members[m].rho == 1 }
	f := keepGroups(w.window.scores(e*k), k, e, stays)
	losses := slices.Concat(keepGroups(w.loss[:e*n], n, e, stays), keepGroups(w.loss[e*n:], n, w.averaged, stays))
	w.coef, w.intercept, w.loss = keepGroups(w.coef, k, e, stays), keepGroups(w.intercept, k, e, stays), losses
	w.averageCoef, w.averageIntercept = keepGroups(w.averageCoef, k, w.averaged, stays), keepGroups(w.averageIntercept, k, w.averaged, stays)
	w.withoutForest()
	w.window.setScores(f, len(w.members)*k)
	for i := range w.grams {
		w.grams[i].factors = w.grams[i].factors[:0] // of other penalties
	}
}

// withoutForest makes w one of members without leaves.
func (w *newton) withoutForest() {
	members, averaged := w.members, w.averaged
	w.members, w.averaged = nil, 0
	for m, who := range members {
		if who.rho < 1 {
			continue
		}
		w.members = append(w.members, who)
		if m < averaged {
			w.averaged++
		}
	}
	w.factorOf, w.factors = sharedFactors(w.members)
	w.forest = w.newLeaves()
}

// keepGroups returns those of the groups of k numbers that stay, where v repeats count
// groups.
func keepGroups(v []float64, k, count int, stays func(int) bool) []float64 {
	var kept []float64
	for i := 0; i < len(v); i += k {
		if stays(i / k % count) {
			kept = append(kept, v[i:i+k]...)
		}
	}
	return kept
}
