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
	by      int // scores of a worker
	workers []*treeWorker
	panels  []panelScratch // of each member with leaves, and of each core

	member                           int                    // number, among those with leaves, of the member whose step is divided
	step, coef, gradient, one, apply func(worker, task int) // a task of stepForest or divideStep
}

// treeWorker changes the trees for some scores of one member. If fewer are left, the numbers of the
// others do not matter.
type treeWorker struct {
	by                          int       // scores
	gradient, curvature, change []float64 // of each row of the window, in whole panels: [rows][by]
	sums                        []float64 // of each leaf of a tree, see vec.SumLeaves
	step                        []float64 // likewise, [leaves][by]
	steps                       []float64 // those of several trees
	first                       []int     // of each of them: where its steps begin; -1: it has none
	diverged                    bool      // a coefficient has
}

// stepForest changes the next trees, and those of pairs. The loss of each row is replaced by the
// parabola that majorises it at the present score. For the leaves of one tree the Hessian of these
// parabolas is diagonal, and the step to their minimum is
//
//	δ_ℓ = -(Σ g_i + nλ u_ℓ) / (Σ c_i + nλ), over the rows i of the leaf ℓ
//
// for the coefficients u = v·√((1-ρ)/R) of leaves of norm 1, whose penalty is R/(1-ρ) times that of
// v. The shares of the rows are those of the step in random features.
func (w *newton) stepForest() {
	l, k := &w.forest, w.Head.Scores()
	if l.trees == nil || len(l.members) == 0 {
		return
	}
	own, s := len(l.members), &l.solver
	s.prepare(own, k, w.scratch.team.Size())
	count := w.treesNow()
	if s.step == nil {
		w.setTasks()
	}
	if k > s.by && w.scratch.team.Size() > 1 {
		for s.member = range own {
			w.divideStep()
		}
	} else {
		w.scratch.team.Run(own, s.step)
	}
	w.scratch.team.Run(count+l.pairs, s.coef)
	for c, m := range l.members {
		for _, t := range s.workersOf(c, k) {
			l.diverged[m] = l.diverged[m] || t.diverged
		}
	}
	w.staleTrees(count)
	l.next = (l.next + count) % w.Options.Forest
}

// setTasks sets the tasks of the solver.
func (w *newton) setTasks() {
	l := &w.forest
	s := &l.solver
	s.step = func(_, c int) { w.stepMember(c) }
	s.coef = func(_, i int) { w.changeCoefficients(i) }
	s.gradient = func(worker, task int) {
		w.leafGradient(l.members[s.member], s.workersOf(s.member, w.Head.Scores()), &s.panels[worker], task*vec.Run, (task+1)*vec.Run)
	}
	s.one = func(_, task int) {
		w.stepTrees(s.workersOf(s.member, w.Head.Scores())[task], s.member, task*s.by)
	}
	s.apply = func(_, task int) {
		w.changeScores(s.member, s.workersOf(s.member, w.Head.Scores()), task*vec.Run, (task+1)*vec.Run)
	}
}

// divideStep is stepMember on several cores, each of which computes the gradient of some rows, the
// steps for some scores, and the changes of some rows.
func (w *newton) divideStep() {
	s, team := &w.forest.solver, w.scratch.team
	workers, runs := s.workersOf(s.member, w.Head.Scores()), vec.Panels(w.window.rows, vec.Run)
	w.resize(workers)
	team.RunNear(runs, w.runsTogether(), s.gradient)
	team.Run(len(workers), s.one)
	team.RunNear(runs, w.runsTogether(), s.apply)
}

// staleTrees marks the candidates of the trees that a step of count trees has changed as stale.
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

// treeAt returns the number of tree i of a step: the first count of these are the next trees, and
// the others those of pairs.
func (w *newton) treeAt(i, count int) int {
	if i < count {
		return (w.forest.next + i) % w.Options.Forest
	}
	return w.Options.Forest + i - count
}

// prepare makes room for that many members with that many scores each, on that many cores. Workers
// have as many scores as possible, unless fewer workers than cores would be left.
func (s *treeSolver) prepare(members, scores, cores int) {
	s.by = vec.LeafScores[0]
	for _, by := range vec.LeafScores[1:] {
		if scores > s.by && vec.Panels(scores, by) >= cores {
			s.by = by
		}
	}
	for len(s.workers) < members*vec.Panels(scores, s.by) {
		s.workers = append(s.workers, new(treeWorker))
	}
	for len(s.panels) < max(members, cores) {
		s.panels = append(s.panels, panelScratch{})
	}
}

// workersOf returns the workers of member c of those with leaves.
func (s *treeSolver) workersOf(c, scores int) []*treeWorker {
	n := vec.Panels(scores, s.by)
	return s.workers[c*n : (c+1)*n]
}

// stepMember changes the trees for member c of those with leaves.
func (w *newton) stepMember(c int) {
	l, k := &w.forest, w.Head.Scores()
	workers := l.solver.workersOf(c, k)
	w.resize(workers)
	w.leafGradient(l.members[c], workers, &l.solver.panels[c], 0, w.window.rows)
	for i, t := range workers {
		w.stepTrees(t, c, i*t.by)
	}
	w.changeScores(c, workers, 0, w.window.rows)
}

// changeScores adds the changes of the workers to the scores of the rows [from, to) of the window,
// as far as it has them, in member c of those with leaves. from is the first row of a panel.
func (w *newton) changeScores(c int, workers []*treeWorker, from, to int) {
	k, e, m, n := w.Head.Scores(), len(w.members), w.forest.members[c], min(to, w.window.rows)
	for j := range k {
		t := workers[j/w.forest.solver.by]
		for from := from; from < n; from += vec.Lanes {
			f := w.window.f[place(from, m*k+j, e*k):]
			change := t.change[from*t.by+j%t.by:]
			for i := range min(vec.Lanes, n-from) {
				f[i] += change[i*t.by]
			}
		}
	}
}

// resize makes room for the rows of the window in the workers of a member.
func (w *newton) resize(workers []*treeWorker) {
	rows := vec.Panels(w.window.rows, vec.Lanes) * vec.Lanes
	by := w.forest.solver.by
	for _, t := range workers {
		t.by = by
		t.gradient, t.curvature = state.Extend(t.gradient[:0], rows*by), state.Extend(t.curvature[:0], rows*by)
	}
}

// leafGradient computes the gradient and the curvature of the loss of member m in the scores of the
// rows [from, to) of the window, as far as it has them, and stores those of each score in the
// worker of that score. Both are 0 for rows that the member does not learn from. from is the first
// row of a panel, and to the end of one.
func (w *newton) leafGradient(m int, workers []*treeWorker, s *panelScratch, from, to int) {
	n, k, e := w.window.rows, w.Head.Scores(), len(w.members)
	g, panels := &w.scratch.gradient, vec.Panels(n, vec.Lanes)
	s.lines = state.Extend(s.lines[:0], k*vec.Lanes)
	h := w.curvature()
	floor := h // of losses that are no logarithm of probabilities
	if w.Head.Probabilities() {
		floor = majorantFloor
	}
	for r := from / vec.Lanes; r < min(panels, vec.Panels(to, vec.Lanes)); r++ {
		from := r * vec.Lanes
		if !g.active[m*panels+r] {
			for _, t := range workers {
				clear(t.gradient[from*t.by : (from+vec.Lanes)*t.by])
				clear(t.curvature[from*t.by : (from+vec.Lanes)*t.by])
			}
			continue
		}
		lines, rows := s.lines, min(vec.Lanes, n-from)
		w.lossGradient(lines, w.window.f[(r*e+m)*k*vec.Lanes:(r*e+m+1)*k*vec.Lanes], r, rows, s)
		share := g.share[m*panels*vec.Lanes+from:][:vec.Lanes]
		s.g = state.Extend(s.g[:0], len(lines))
		vec.MajorantLines(lines, share, target.MaxResidual, h, floor, s.g)
		for c := range k {
			t, line := workers[c/w.forest.solver.by], c*vec.Lanes
			at := from*t.by + c%t.by
			gradient, curvature := t.gradient[at:], t.curvature[at:]
			for i, v := range lines[line : line+vec.Lanes] {
				gradient[i*t.by] = v
			}
			for i, v := range s.g[line : line+vec.Lanes] {
				curvature[i*t.by] = v
			}
		}
	}
}

// stepTrees computes the steps of the trees in the scores of t, which begin with score j, for
// member c of those with leaves.
func (w *newton) stepTrees(t *treeWorker, c, j int) {
	l, n, count := &w.forest, w.window.rows, w.treesNow()
	penalties := w.leafPenalties(c)
	t.begin(n)
	t.steps, t.first, t.diverged = t.steps[:0], t.first[:0], false
	var last []uint16 // leaves of the tree before, whose step is not in the changes yet
	for i := range count + l.pairs {
		tree, penalty := w.treeAt(i, count), penalties.pairs
		if i < count {
			penalty = penalties.trees
		}
		if math.IsInf(penalty, 1) {
			t.first = append(t.first, -1)
			continue
		}
		from, to := l.trees.Tree(tree)
		leaf := l.leavesOf(tree)[:n]
		if last == nil {
			last = leaf
			t.rest(to - from)
		}
		t.sum(leaf, last, to-from)
		w.stepLeaves(t, c, j, from, penalty)
		t.first, t.steps = append(t.first, len(t.steps)), append(t.steps, t.step...)
		last = leaf
	}
	t.apply(last)
}

// changeCoefficients adds the steps of all workers to the coefficients of tree i of a step. One
// core does so for all workers, because their coefficients of a leaf are next to each other.
func (w *newton) changeCoefficients(i int) {
	l, k, own := &w.forest, w.Head.Scores(), len(w.forest.members)
	from, to := l.trees.Tree(w.treeAt(i, w.treesNow()))
	for c := range own {
		for number, t := range l.solver.workersOf(c, k) {
			if t.first[i] >= 0 {
				l.change(t.by, t.steps[t.first[i]:][:(to-from)*t.by], c, number*t.by, from, k)
			}
		}
	}
}

// change adds steps to the coefficients of consecutive leaves, the first of which is leaf from. The
// steps, [leaves][by], are those of member c of those with leaves, for up to by of its k scores, the
// first of which is score j.
func (l *leaves) change(by int, steps []float64, c, j, from, k int) {
	own, scores := len(l.members), min(by, k-j)
	for i := range len(steps) / by {
		coef, step := l.coef[((from+i)*own+c)*k+j:][:scores], steps[i*by:][:scores]
		for s, d := range step {
			coef[s] += d
		}
	}
}

// stepLeaves computes the step of the leaves whose sums t has, the first of which is leaf from, in
// the scores from j on of member c of those with leaves.
func (w *newton) stepLeaves(t *treeWorker, c, j, from int, penalty float64) {
	l, k, own := &w.forest, w.Head.Scores(), len(w.forest.members)
	leaves, scores := len(t.sums)/(2*t.by), min(t.by, k-j)
	t.rest(leaves)
	for i := range leaves {
		sums, step, coef := t.sums[i*2*t.by:(i+1)*2*t.by], t.step[i*t.by:][:scores], l.coef[((from+i)*own+c)*k+j:][:scores]
		slopes, hessians := sums[:scores], sums[t.by:][:scores]
		for s, u := range coef {
			d := -(slopes[s] + float64(penalty*u)) / (hessians[s] + penalty)
			if !(math.Abs(u+d) < engine.MaxCoefficient/10) {
				d, t.diverged = 0, true
			}
			step[s] = d
		}
	}
}

// begin clears the changes of n rows.
func (t *treeWorker) begin(n int) {
	t.change = state.Extend(t.change[:0], n*t.by)
	clear(t.change)
}

// rest sets the step of a tree with that many leaves to 0.
func (t *treeWorker) rest(leaves int) {
	t.step = state.Extend(t.step[:0], leaves*t.by)
	clear(t.step)
}

// apply adds the step in a tree to the changes of the rows. leaf has the leaf of each row.
func (t *treeWorker) apply(leaf []uint16) {
	for i, at := range leaf {
		step, change := t.step[int(at)*t.by:][:t.by], t.change[i*t.by:][:t.by]
		for j, d := range step {
			change[j] += d
		}
	}
}

// sum computes the sums of the leaves of a tree. Before, it adds the step in the previous tree, of
// which last has the leaves, to the changes of the rows.
func (t *treeWorker) sum(leaf, last []uint16, leaves int) {
	t.sums = state.Extend(t.sums[:0], leaves*2*t.by)
	clear(t.sums)
	vec.SumLeaves(t.by, t.sums, leaf, last, t.step, t.change, t.gradient, t.curvature)
}

// majorantFloor keeps the parabolas above the loss of rows that are all but certain. The parabola
// of vec.MajorantLines is about that of Jaakkola and Jordan (2000), with the curvature tanh(u/2)/2u
// for the log odds u, times 2 if all of several scores change. Chosen by trial.
const majorantFloor = 0.02
