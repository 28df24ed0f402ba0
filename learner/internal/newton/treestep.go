package newton

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// treeSolver is the memory of steps in trees.
type treeSolver struct {
	workers []*treeWorker
	panels  []panelScratch         // of each member with leaves
	do      func(worker, task int) // the step of one of them
}

// treeWorker changes the trees for one score of one member.
type treeWorker struct {
	gradient, curvature, change []float64 // of each row of the window, in whole panels
	sums                        []leafSums
	step                        []float64 // of each leaf of a tree
}

// leafSums are those of the rows of a leaf.
type leafSums struct{ slope, hessian float64 }

// stepForest changes the next trees, and those of pairs. All rows have the parabola that
// majorises the loss where it is now: in it, a tree's Hessian is diagonal, and its minimum
//
//	δ_ℓ = -(Σ g_i + nλ u_ℓ) / (Σ c_i + nλ), over the rows i of the leaf ℓ
//
// for the coefficients u = v·√((1-ρ)/R) of leaves of norm 1, whose penalty is R/(1-ρ)
// times that of v. The shares of the rows are those of the step in random features.
func (w *newton) stepForest() {
	l, k := &w.forest, w.Head.Scores()
	if l.trees == nil || len(l.members) == 0 {
		return
	}
	own, s := len(l.members), &l.solver
	s.prepare(own, k)
	count := min(treesPerStep, w.Options.Forest)
	if s.do == nil {
		s.do = func(_, c int) { w.stepMember(c, min(treesPerStep, w.Options.Forest)) }
	}
	w.scratch.team.Run(own, s.do)
	w.staleTrees(count)
	l.next = (l.next + count) % w.Options.Forest
}

// staleTrees marks the candidates of the next trees, and those of pairs, which have changed.
func (w *newton) staleTrees(count int) {
	l := &w.forest
	if len(l.stale) != l.trees.Leaves() { // they have no candidates yet
		return
	}
	for i := range count + l.pairs {
		from, to := l.trees.Tree(w.treeAt(i, count))
		for leaf := from; leaf < to; leaf++ {
			l.stale[leaf] = true
		}
	}
}

// treeAt returns tree i of a step that changes count of them and those of pairs.
func (w *newton) treeAt(i, count int) int {
	if i < count {
		return (w.forest.next + i) % w.Options.Forest
	}
	return w.Options.Forest + i - count
}

// prepare has memory for that many members with a number of scores each.
func (s *treeSolver) prepare(members, scores int) {
	for len(s.workers) < members*scores {
		s.workers = append(s.workers, new(treeWorker))
	}
	for len(s.panels) < members {
		s.panels = append(s.panels, panelScratch{})
	}
}

// stepMember changes the trees for member c of those with leaves.
func (w *newton) stepMember(c, count int) {
	l, k := &w.forest, w.Head.Scores()
	workers := l.solver.workers[c*k : (c+1)*k]
	w.leafGradient(l.members[c], workers, &l.solver.panels[c])
	for j := range workers {
		w.stepTrees(c, j, count)
	}
	w.changeScores(c, workers)
}

// changeScores adds the changes of the workers to the scores of the rows in member c of those
// with leaves.
func (w *newton) changeScores(c int, workers []*treeWorker) {
	k, e, m, n := w.Head.Scores(), len(w.members), w.forest.members[c], w.window.rows
	for j, t := range workers {
		for from := 0; from < n; from += vec.Lanes {
			f := w.window.f[place(from, m*k+j, e*k):]
			for i, d := range t.change[from:min(from+vec.Lanes, n)] {
				f[i] += d
			}
		}
	}
}

// leafGradient computes the gradient and the curvature of the loss of member m in the scores
// of the rows, and one worker for each score has them. They are 0 where it learns nothing.
func (w *newton) leafGradient(m int, workers []*treeWorker, s *panelScratch) {
	n, k, e := w.window.rows, w.Head.Scores(), len(w.members)
	g, panels := &w.scratch.gradient, vec.Panels(n, vec.Lanes)
	s.lines = state.Extend(s.lines[:0], k*vec.Lanes)
	for _, t := range workers {
		t.gradient, t.curvature = state.Extend(t.gradient[:0], panels*vec.Lanes), state.Extend(t.curvature[:0], panels*vec.Lanes)
	}
	h, probabilities := w.curvature(), w.Head.Probabilities()
	for r := range panels {
		from := r * vec.Lanes
		if !g.active[m*panels+r] {
			for _, t := range workers {
				clear(t.gradient[from : from+vec.Lanes])
				clear(t.curvature[from : from+vec.Lanes])
			}
			continue
		}
		lines, rows := s.lines, min(vec.Lanes, n-from)
		w.lossGradient(lines, w.window.f[(r*e+m)*k*vec.Lanes:(r*e+m+1)*k*vec.Lanes], r, rows, s)
		share := g.share[m*panels*vec.Lanes+from:][:vec.Lanes]
		for j, t := range workers {
			gradient, curvature := t.gradient[from:from+vec.Lanes], t.curvature[from:from+vec.Lanes]
			for i, v := range lines[j*vec.Lanes : (j+1)*vec.Lanes] {
				if gradient[i], curvature[i] = 0, 0; share[i] == 0 {
					continue
				}
				bound := h
				if probabilities {
					bound = majorant(math.Abs(v), h)
				}
				gradient[i] = float64(share[i] * max(-target.MaxResidual, min(target.MaxResidual, v)))
				curvature[i] = float64(share[i] * bound)
			}
		}
	}
}

// stepTrees changes the trees for score j of member c of those with leaves.
func (w *newton) stepTrees(c, j, count int) {
	l, n, k := &w.forest, w.window.rows, w.Head.Scores()
	t := l.solver.workers[c*k+j]
	penalties := w.leafPenalties(c)
	t.begin(n)
	var last []uint16 // leaves of the tree before, whose step is not in the changes yet
	for i := range count + l.pairs {
		tree, penalty := w.treeAt(i, count), penalties.pairs
		if i < count {
			penalty = penalties.trees
		}
		if math.IsInf(penalty, 1) {
			continue
		}
		from, to := l.trees.Tree(tree)
		leaf := l.of[tree*windowRows : tree*windowRows+n]
		t.sum(leaf, last, to-from)
		w.stepLeaves(t, c, j, from, penalty)
		last = leaf
	}
	t.apply(last)
}

// stepLeaves takes the step of the leaves from the number from on whose sums t has.
func (w *newton) stepLeaves(t *treeWorker, c, j, from int, penalty float64) {
	l, k, own := &w.forest, w.Head.Scores(), len(w.forest.members)
	t.step = state.Extend(t.step[:0], len(t.sums))
	for i, sums := range t.sums {
		u := &l.coef[((from+i)*own+c)*k+j]
		d := -(sums.slope + float64(penalty*(*u))) / (sums.hessian + penalty)
		if !(math.Abs(*u+d) < engine.MaxCoefficient/10) {
			d, l.diverged[l.members[c]] = 0, true
		}
		*u += d
		t.step[i] = d
	}
}

// begin clears the changes of n rows.
func (t *treeWorker) begin(n int) {
	t.change = state.Extend(t.change[:0], n)
	clear(t.change)
}

// apply adds the step in a tree to the rows, of which leaf has the leaves.
func (t *treeWorker) apply(leaf []uint16) {
	for i, at := range leaf {
		t.change[i] += t.step[at]
	}
}

// sum computes the sums of the leaves of a tree. The rows have changed by the step in the
// tree before, if there was one.
func (t *treeWorker) sum(leaf, last []uint16, leaves int) {
	t.sums = state.Extend(t.sums[:0], leaves)
	clear(t.sums)
	sums := t.sums
	g, c, d := t.gradient[:len(leaf)], t.curvature[:len(leaf)], t.change[:len(leaf)]
	if last == nil {
		for i, at := range leaf {
			s := &sums[at]
			s.slope += g[i]
			s.hessian += c[i]
		}
		return
	}
	last = last[:len(leaf)]
	for i, at := range leaf {
		now := d[i] + t.step[last[i]]
		d[i] = now
		s := &sums[at]
		s.slope += g[i] + float64(c[i]*now)
		s.hessian += c[i]
	}
}

// majorant returns the curvature of a parabola above the logarithmic loss, from where its
// gradient in a score is ±q, and at most bound: about that of Jaakkola and Jordan (2000),
// tanh(u/2)/2u at the logarithm u of the odds, times 2 if all of several scores change.
func majorant(q, bound float64) float64 {
	return min(bound, float64(bound*math.Sqrt(2*math.Sqrt(max(0, q*(1-q)))))+majorantFloor)
}

// majorantFloor keeps the parabola above the loss of rows that are all but certain.
// Chosen by trial.
const majorantFloor = 0.02
