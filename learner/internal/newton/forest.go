package newton

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// leaves is the second family of features, beside the random ones: the leaves of a forest of
// extremely randomised trees. They grow from the first rows and, with Options.ForestRegrow, again
// from more. The kernel of a member with the share ρ is ρ times that of the random features plus
// 1-ρ times that of the trees, which is the share of the trees in which two rows fall into the same
// leaf.
type leaves struct {
	trees       *forest.Forest // nil until it grows
	pairs       int            // how many of the trees, the last ones, are of pairs of categories
	members     []int          // of the ensemble: those with leaves
	averaged    int            // how many of these, the first ones, have averages
	length      int            // of the window
	of          []uint16       // trees × length: leaf of each row of the window, counted in its tree
	coef        []float64      // leaves × members × scores
	averageCoef []float64      // leaves × averaged × scores
	candidates  []float32      // leaves × (mixture, members, averages) × scores
	stale       []bool         // of each leaf: its candidates are not computed yet
	shares      []float64      // of the members and averages among the candidates, in the scores of the mixture
	columns     []int          // of the scores of each candidate
	next        int            // tree to change
	diverged    []bool         // of the ensemble
	lasting     lasting
	since       []float64 // for trees that grow again: newton.loss since they grew last, but not decayed

	leafScores
	solver treeSolver
}

const (
	// growRows is the number of rows of the window from which the trees grow: those that
	// the warm-up keeps. Not chosen by trial yet: a first guess.
	growRows = 1250

	// treesPerStep is the number of trees that change in a step, after a block of random
	// features. Not chosen by trial yet: a first guess.
	treesPerStep = 8
)

// forestEnsemble is the members of a model with a forest. The mixture decides on ρ, by rows that
// come after the growth: the rows that the trees have grown from would choose too small a ρ.
// Members with the same λ/ρ share the factors of the blocks. Not chosen by trial yet: a first
// guess.
var forestEnsemble = []member{{0.3, windowRows, 1}, {0.03, windowRows, 1}, {0.003, windowRows, 1}, {0.15, windowRows, 0.5}, {0.015, windowRows, 0.5}, {0.3, 1024, 1}, {0.15, 1024, 0.5}}

// newLeaves returns the leaves of a model that has no trees yet.
func (w *newton) newLeaves() leaves {
	l := leaves{length: w.length, diverged: make([]bool, len(w.members))}
	for m, who := range w.members {
		if who.rho < 1 {
			l.members = append(l.members, m)
			if m < w.averaged {
				l.averaged++
			}
		}
	}
	return l
}

// grow grows the trees, once there are enough rows.
func (w *newton) grow() {
	if len(w.forest.members) == 0 || w.forest.trees != nil || w.window.rows < w.growsFrom() {
		return
	}
	single := w.Head.Task == target.Classification && w.Head.Classes < 2
	if w.Options.ForestTrial && (single || w.Head.Scores() > trialScores) {
		w.discardForest()
		return
	}
	if single {
		return
	}
	w.growFirst()
}

// growFirst grows the first trees from the rows of the window.
func (w *newton) growFirst() {
	s := w.sample()
	trees := forest.Grow(s, w.Options.Forest, w.Options.Seed)
	if w.Options.ForestPairs {
		trees = trees.WithPairs(s)
	}
	w.plant(trees)
	k, l := w.Head.Scores(), &w.forest
	l.coef = make([]float64, l.trees.Leaves()*len(l.members)*k)
	l.averageCoef = make([]float64, l.trees.Leaves()*l.averaged*k)
	w.beginLasting()
	w.judgeFromHere()
}

// plant takes trees, and the leaves of the rows of the window.
func (w *newton) plant(trees *forest.Forest) {
	l := &w.forest
	w.changed.all = true
	l.trees = trees
	if trees == nil {
		return
	}
	w.plantPairs(max(0, trees.Trees()-w.Options.Forest))
	l.of = make([]uint16, trees.Trees()*l.length)
	for from := 0; from < w.window.rows; from += plantRows {
		rows := min(plantRows, w.window.rows-from)
		l.find(w.window.x[from*w.Dim : (from+rows)*w.Dim])
		for i := range rows {
			l.arrive(from+i, i)
		}
	}
}

// plantRows is the number of rows of the window whose leaves are found together.
const plantRows = 64

// arrive notes the leaves of the row that has come into the window at index at. It is row i of
// those for which leaves were found last.
func (l *leaves) arrive(at, i int) {
	if l.trees == nil {
		return
	}
	n := len(l.scored) / l.trees.Dim()
	for t := range l.trees.Trees() {
		first, _ := l.trees.Tree(t)
		l.of[t*l.length+at] = uint16(int(l.numbers[t*n+i]) - first)
	}
}

// leavesOf returns the leaves of the rows of the window in a tree, counted in it.
func (l *leaves) leavesOf(tree int) []uint16 { return l.of[tree*l.length : (tree+1)*l.length] }

// serveLeaves lets predictions use the coefficients as they are now, mixed with the shares in mix.
// The candidates of a leaf are computed only when a row falls into it.
func (w *newton) serveLeaves(mix []float64) {
	l, k, e, n := &w.forest, w.Head.Scores(), len(w.members), w.Head.Parts()
	if l.trees == nil {
		return
	}
	l.columns, l.shares = l.columns[:0], l.shares[:0]
	add := func(candidate int) {
		l.columns = append(l.columns, (1+candidate)*k)
		for j := range k {
			l.shares = append(l.shares, mix[candidate*n+j*n/k])
		}
	}
	for _, m := range l.members {
		add(m)
	}
	for _, m := range l.members[:l.averaged] {
		add(e + m)
	}
	size := k + len(l.shares)
	l.candidates = state.Extend(l.candidates[:0], l.trees.Leaves()*size)
	l.stale = state.Extend(l.stale[:0], l.trees.Leaves())
	for i := range l.stale {
		l.stale[i] = true
	}
}

// serve computes the candidates of the leaves [from, to) from their coefficients.
func (l *leaves) serve(from, to int) {
	own, averaged := len(l.coef)/l.trees.Leaves(), len(l.averageCoef)/l.trees.Leaves()
	size := len(l.candidates) / l.trees.Leaves()
	k := size - own - averaged
	if len(l.members) == 0 {
		clear(l.candidates[from*size : to*size])
	} else {
		vec.MixRows(l.candidates[from*size:to*size], l.coef[from*own:to*own], l.averageCoef[from*averaged:to*averaged], l.shares, k, len(l.members), l.averaged)
	}
	l.lasting.serve(l.candidates, from, to, size, k)
	clear(l.stale[from:to])
}

// serving returns the coefficients of the mixture, leaves × scores.
func (l *leaves) serving(k int) []float32 {
	if l.trees == nil {
		return nil
	}
	l.serve(0, l.trees.Leaves())
	size := len(l.candidates) / l.trees.Leaves()
	coef := make([]float32, 0, l.trees.Leaves()*k)
	for i := 0; i < len(l.candidates); i += size {
		coef = append(coef, l.candidates[i:i+k]...)
	}
	return coef
}

// average moves the averages towards the members by a share.
func (l *leaves) average(share float64) {
	if l.trees == nil || l.averaged == 0 {
		return
	}
	if l.averaged == len(l.members) {
		vec.Towards(l.averageCoef, l.coef, share)
		return
	}
	own, averaged := len(l.coef)/l.trees.Leaves(), len(l.averageCoef)/l.trees.Leaves()
	for i := range l.trees.Leaves() {
		vec.Towards(l.averageCoef[i*averaged:(i+1)*averaged], l.coef[i*own:], share)
	}
}

// widen adds a class to the coefficients of from scores.
func (l *leaves) widen(h target.Head, from int) {
	if l.trees != nil {
		l.coef, l.averageCoef = h.Widen(l.coef, from), h.Widen(l.averageCoef, from)
		l.lasting.coef = h.Widen(l.lasting.coef, from)
	}
}

// reset clears the coefficients of a member.
func (l *leaves) reset(m int) {
	l.diverged[m] = false
	if l.trees == nil || len(l.members) == 0 {
		return
	}
	own, averaged := len(l.coef)/l.trees.Leaves(), len(l.averageCoef)/l.trees.Leaves()
	k := own / len(l.members)
	for c, who := range l.members {
		if who != m {
			continue
		}
		for i := range l.trees.Leaves() {
			clear(l.coef[i*own+c*k : i*own+(c+1)*k])
			if c < l.averaged {
				clear(l.averageCoef[i*averaged+c*k : i*averaged+(c+1)*k])
			}
		}
	}
}

// keep takes over the trees of before, and the coefficients of those of its members that stay, with
// k scores and n targets. It takes no trees if before has members with leaves and none of them
// stays.
func (l *leaves) keep(before *leaves, stays []bool, k, n int) {
	if before.trees == nil || len(l.members) == 0 && len(before.members) > 0 {
		return
	}
	var of []bool
	for _, m := range before.members {
		of = append(of, stays[m])
	}
	members, averaged, diverged := l.members, l.averaged, l.diverged
	*l = *before
	l.members, l.averaged, l.diverged = members, averaged, diverged
	l.coef = keepGroups(before.coef, k, of)
	l.averageCoef = keepGroups(before.averageCoef, k, of[:before.averaged])
	if e := len(stays); len(before.since) > 0 {
		averages := len(before.since)/n - e
		l.since = slices.Concat(keepGroups(before.since[:e*n], n, stays), keepGroups(before.since[e*n:], n, stays[:averages]))
	}
}

// save writes the coefficients. The trees are in the serving part.
func (l *leaves) save(a *state.Arrays) {
	if l.trees == nil {
		return
	}
	n := l.trees.Leaves()
	if len(l.members) == 0 {
		l.lasting.save(a, n)
		return
	}
	state.Put(a, "forest.next", 1, []int64{int64(l.next)})
	state.Put(a, "forest.w", len(l.coef)/n, l.coef)
	if l.averaged > 0 {
		state.Put(a, "forest.averages.w", len(l.averageCoef)/n, l.averageCoef)
	}
	l.lasting.save(a, n)
	if len(l.since) > 0 {
		state.Put(a, "forest.since", 1, l.since)
	}
}

func (w *newton) loadLeaves(s *state.Reader, v engine.Served) {
	pairs := v.Forest.Trees() - w.Options.Forest
	if alone := min(w.Options.Forest, lastingTrees); len(w.forest.members) == 0 && v.Forest != nil && v.Forest.Trees() == alone {
		pairs = 0
	}
	s.Require(v.Forest == nil || (pairs == 0 || w.Options.ForestPairs && pairs > 0 && pairs <= forest.MaxPairs) && v.Forest.Dim() == w.Dim, "the forest has %d trees, configured are %d", v.Forest.Trees(), w.Options.Forest)
	if s.Err != nil || v.Forest == nil {
		return
	}
	l, k, n := &w.forest, w.Head.Scores(), v.Forest.Leaves()
	if len(l.members) == 0 {
		l.lasting.load(s, n, k, w.lastingParts())
		if s.Err == nil {
			w.plant(v.Forest)
		}
		return
	}
	next := state.Take[int64](s, "forest.next", 1, 1)
	l.coef = state.Take[float64](s, "forest.w", n, len(l.members)*k)
	if l.averaged > 0 {
		l.averageCoef = state.Take[float64](s, "forest.averages.w", n, l.averaged*k)
	}
	if w.lastsOnceGrown() {
		l.lasting.load(s, n, k, w.lastingParts())
	}
	if w.Options.ForestRegrow && pairs == 0 {
		l.since = state.Take[float64](s, "forest.since", len(w.loss), 1)
	}
	if s.Err != nil {
		return
	}
	s.Require(next[0] >= 0 && next[0] < int64(w.Options.Forest), "the next tree is %d of %d", next[0], w.Options.Forest)
	for _, sum := range l.since {
		s.Require(sum >= 0, "the loss of a member since the trees grew is %v", sum)
	}
	for _, coef := range [][]float64{l.coef, l.averageCoef} {
		for _, c := range coef {
			s.Require(math.Abs(c) < engine.MaxCoefficient/10, "a coefficient of a leaf is %v", c)
		}
	}
	if s.Err == nil {
		l.next = int(next[0])
		w.plant(v.Forest)
	}
}
