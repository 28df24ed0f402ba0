package newton

import (
	"math"

	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// regrowths are the numbers of rows in the window at which trees that grow again are judged, by the
// losses since they grew last: they are discarded unless the loss of the best member with leaves is
// less than a share of that of the best without. At some of them, trees that are not discarded grow
// again, because more rows tell better where to split. Chosen by trial: docs/forest.md.
var regrowths = []regrowth{{trial{2560, 1.1}, true}, {trial{3584, 1.015}, false}, {trial{5120, 1.015}, true}, {trial{7168, 0.99}, false}}

// lateRegrowths stands in for regrowths in models whose averages begin with a full window. The
// first limits are wide, because the first trees say little about those that replace them. Chosen
// by trial: docs/forest.md.
var lateRegrowths = []regrowth{{trial{2560, 1.5}, true}, {trial{3584, 1.06}, false}, {trial{5120, 1.014}, true}, {trial{7168, 0.989}, false}}

// regrowths returns the regrowths of w.
func (w *newton) regrowths() []regrowth {
	switch {
	case w.Options.Early:
		return earlyRegrowths
	case w.Options.Late:
		return lateRegrowths
	}
	return regrowths
}

// regrowth is a trial, and whether the trees grow again if they pass it.
type regrowth struct {
	trial
	again bool
}

const (
	// regrowthThresholds is the number of thresholds that trees which grow again draw in a column.
	// Chosen by trial: docs/forest.md.
	regrowthThresholds = 4

	// regrowthRest is the share of these trees that grow from the errors of the random features
	// instead of the labels. Chosen by trial: docs/forest.md.
	regrowthRest = 0.5
)

// regrows reports whether the trees grow again. If there are trees of pairs, all trees stay: most
// of what members learn from leaves, they then learn from those of the pairs.
func (w *newton) regrows() bool {
	return w.Options.ForestRegrow && w.forest.trees != nil && w.forest.pairs == 0
}

// regrow judges the trees, and discards or replaces them, if the last mini-batch has brought the
// rows of the window from before to those of one of regrowths.
func (w *newton) regrow(before, rows int) {
	if !w.regrows() {
		return
	}
	for _, r := range w.regrowths() {
		switch {
		case before >= r.rows || r.rows > rows:
		case len(w.forest.members) == 0 || !w.pays(w.forest.since, r.share):
			w.keepLasting(r)
			return
		case r.again && w.shares():
			w.replace(w.regrown(r.rows, w.Options.Forest))
			return
		}
	}
}

// regrown returns n trees that grow from the present rows of the window. Their number goes into the
// seed.
func (w *newton) regrown(rows, n int) *forest.Forest {
	shared := new(forest.Shared)
	var labels, rest forest.Sample
	w.scratch.team.Resize(2)
	w.scratch.team.Run(2, func(_, task int) {
		if task == 0 {
			labels = w.guided(w.sample(), shared)
		} else {
			rest = w.guided(w.rest(), shared)
		}
	})
	seed := w.Options.Seed + uint64(rows)
	ofRest := int(regrowthRest * float64(n))
	return forest.Join(forest.Grow(labels, n-ofRest, seed), forest.Grow(rest, ofRest, seed+1))
}

// guided returns the sample s of the window with what trees that grow again need besides. The rows
// that have come since the present trees grew, about half of the window, tell which columns matter.
func (w *newton) guided(s forest.Sample, shared *forest.Shared) forest.Sample {
	s.Shared = shared
	s.Thresholds = regrowthThresholds
	s.Gains = w.forest.trees.Gains(s, w.window.rows/2, w.forest.leavesOf)
	if w.Options.Early {
		s.Splits = earlySplits
	}
	return s
}

// sample returns the rows of the window and their labels.
func (w *newton) sample() forest.Sample {
	v := &w.window
	s := forest.Sample{X: v.x, Dim: w.Dim, Weights: v.weights, Varying: w.Options.Varying, Targets: make([]float64, len(v.targets))}
	for i, y := range v.targets {
		s.Targets[i] = max(-target.MaxResidual, min(target.MaxResidual, y))
	}
	if w.Head.Task == target.Classification {
		s.Classes = w.Head.Classes
	}
	return s
}

// rest returns the rows of the window with the errors of the best member without leaves as targets:
// the negative gradient of the loss in each of its scores (Friedman 2001).
func (w *newton) rest() forest.Sample {
	v, k, e, n := &w.window, w.Head.Scores(), len(w.members), w.Head.Parts()
	m := w.bestWithout()
	s := forest.Sample{X: v.x, Dim: w.Dim, Weights: v.weights, Varying: w.Options.Varying, Targets: make([]float64, v.rows*k)}
	f := v.scores(e * k)
	for i := range v.rows {
		scores, gradient := f[(i*e+m)*k:(i*e+m+1)*k], s.Targets[i*k:(i+1)*k]
		for j := range n {
			y := v.targets[i*n+j]
			if w.Head.Task == target.Regression {
				y = max(-target.MaxResidual, min(target.MaxResidual, y))
			}
			w.Head.LossOf(j).Grad(w.Head.Part(gradient, j), w.Head.Part(scores, j), y)
		}
		for j, g := range gradient {
			gradient[j] = max(-target.MaxResidual, min(target.MaxResidual, -g))
		}
	}
	return s
}

// bestWithout returns the member without leaves that has the least loss, summed over the targets.
func (w *newton) bestWithout() int {
	n, best, least := w.Head.Parts(), 0, math.Inf(1)
	for m, who := range w.members {
		sum := 0.0
		for _, l := range w.loss[m*n : (m+1)*n] {
			sum += l
		}
		if who.rho == 1 && sum < least {
			best, least = m, sum
		}
	}
	return best
}

// replace replaces the trees, one after the other. Each takes the place of an old one, and its
// leaves take the step of stepForest from the scores that the other trees lead to. Then all trees
// take one more step. So the scores of the members move as they do with the steps of a mini-batch,
// instead of jumping to those of new trees without coefficients. The averages of the members with
// leaves begin again with these members. The caller must have computed the shares of the rows.
func (w *newton) replace(trees *forest.Forest) {
	l, k, e := &w.forest, w.Head.Scores(), len(w.members)
	old := leaves{trees: l.trees, of: l.of, length: l.length, coef: l.coef}
	l.scored = l.scored[:0]
	w.plant(trees)
	w.beginLasting()
	own := len(l.members)
	l.coef = make([]float64, trees.Leaves()*own*k)
	l.averageCoef = make([]float64, trees.Leaves()*l.averaged*k)
	l.next = 0
	w.scratch.team.Resize(own)
	l.solver.prepare(own, k, w.scratch.team.Size())
	w.scratch.team.Run(own, func(_, c int) {
		for from := 0; from < w.Options.Forest; from += treesPerStep {
			w.replaceSome(&old, c, from, min(from+treesPerStep, w.Options.Forest))
		}
	})
	for range vec.Panels(w.Options.Forest, treesPerStep) {
		w.stepForest()
	}
	for i := range trees.Leaves() {
		copy(l.averageCoef[i*l.averaged*k:(i+1)*l.averaged*k], l.coef[i*own*k:])
	}
	for _, m := range l.members[:l.averaged] {
		copy(w.averageIntercept[m*k:(m+1)*k], w.intercept[m*k:])
		for i := range len(w.coef) / (e * k) {
			copy(w.averageCoef[(i*w.averaged+m)*k:(i*w.averaged+m+1)*k], w.coef[(i*e+m)*k:])
		}
	}
	w.judgeFromHere()
}

// judgeFromHere begins the losses by which trees that grow again are judged: only rows to come
// count.
func (w *newton) judgeFromHere() {
	if w.regrows() {
		w.forest.since = make([]float64, len(w.loss))
	}
}

// replaceSome replaces the trees [from, to) for member c of those with leaves.
func (w *newton) replaceSome(old *leaves, c, from, to int) {
	l, n, k, own := &w.forest, w.window.rows, w.Head.Scores(), len(w.forest.members)
	workers := l.solver.workersOf(c, k)
	w.resize(workers)
	w.leafGradient(l.members[c], workers, &l.solver.panels[c], 0, n)
	penalty := w.leafPenalties(c).trees
	for number, t := range workers {
		j := number * t.by
		scores := min(t.by, k-j)
		t.begin(n)
		t.diverged = false
		for tree := from; tree < to; tree++ {
			first, end := old.trees.Tree(tree)
			t.rest(end - first)
			for i := range end - first {
				for s, u := range old.coef[((first+i)*own+c)*k+j:][:scores] {
					t.step[i*t.by+s] = -u
				}
			}
			before := old.leavesOf(tree)[:n]
			first, end = l.trees.Tree(tree)
			leaf := l.leavesOf(tree)[:n]
			t.sum(leaf, before, end-first)
			w.stepLeaves(t, c, j, first, penalty)
			l.change(t.by, t.step, c, j, first, k)
			t.apply(leaf)
		}
		l.diverged[l.members[c]] = l.diverged[l.members[c]] || t.diverged
	}
	w.changeScores(c, workers, 0, n)
}
