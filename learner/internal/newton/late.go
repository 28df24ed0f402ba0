package newton

import "slices"

// While the window grows, an average of the iterates lags behind them: they become better with
// each row. Once it is full, the average knows more rows than it has.

// late returns by with the averages of its members later, once the window is full.
func (by plan) late() plan {
	by.averaged, by.later = 0, by.averaged
	return by
}

// discardFollowers discards the members that learn from fewer rows than the window has. It does so
// with the first mini-batch, in models of many classes with a mixture, whose machines follow changes.
func (w *newton) discardFollowers(before int) {
	if before > 0 || w.window.rows == 0 || !w.Options.Late || !w.Options.Lean || !w.discarding || w.Head.Scores() < discardScores {
		return
	}
	w.discard(w.which(member.whole))
	w.serve() // there may be more rows before the first step
}

// beginAverages sets the averages to their members, with the mini-batch that fills the window.
func (w *newton) beginAverages() {
	if w.later == 0 || w.window.rows < w.length {
		return
	}
	k, n, e := w.Head.Scores(), w.Head.Parts(), len(w.members)
	w.averagesBegun()
	w.averageCoef = keepGroups(w.coef, k, firstOf(w.averaged, e))
	w.averageIntercept = slices.Clone(w.intercept[:w.averaged*k])
	w.loss = append(w.loss, w.loss[:w.averaged*n]...)
	l := &w.forest
	l.averageCoef = keepGroups(l.coef, k, firstOf(l.averaged, len(l.members)))
	if len(l.since) > 0 {
		l.since = append(l.since, l.since[:w.averaged*n]...)
	}
	w.changed.all = true
}

// loadAverages prepares w, which has nothing yet, for the averages of a State of some rows.
func (w *newton) loadAverages(rows int64) {
	if w.later > 0 && rows == int64(w.length) {
		w.averagesBegun()
	}
}

// averagesBegun counts the averages that come later among those that there are.
func (w *newton) averagesBegun() {
	w.averaged, w.later = w.later, 0
	w.forest.averaged = w.newLeaves().averaged
}

// firstOf returns of each of n whether it is one of the first.
func firstOf(first, n int) []bool {
	of := make([]bool, n)
	for i := range first {
		of[i] = true
	}
	return of
}
