package newton

import "slices"

// While the window grows, an average of the iterates is worse than the last of them, because they
// improve with each row. Once the window is full, the average knows more rows than the window has.

// late returns by with averages that begin only once the window is full.
func (by plan) late() plan {
	by.averaged, by.later = 0, by.averaged
	return by
}

// discardFollowers discards the members that learn only from recent rows. It does so with the first
// mini-batch, in models of many classes in a mixture, whose kernel machines follow changes.
func (w *newton) discardFollowers(before int) {
	if before > 0 || w.window.rows == 0 || !w.Options.Late || !w.Options.Lean || !w.discarding || w.Head.Scores() < discardScores {
		return
	}
	w.discard(w.which(member.whole))
	w.serve() // there may be more rows before the first step
}

// beginAverages sets the averages to their members when a mini-batch has filled the window.
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

// loadAverages prepares w, which has learned nothing yet, for the averages of a State with that
// many rows in its window.
func (w *newton) loadAverages(rows int64) {
	if w.later > 0 && rows == int64(w.length) {
		w.averagesBegun()
	}
}

// averagesBegun counts the averages that were to begin later as averages that there are.
func (w *newton) averagesBegun() {
	w.averaged, w.later = w.later, 0
	w.forest.averaged = w.newLeaves().averaged
}

// firstOf returns n values, of which the given number of first ones is true.
func firstOf(first, n int) []bool {
	of := make([]bool, n)
	for i := range first {
		of[i] = true
	}
	return of
}
