package newton

import (
	"math"
	"sync"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// treeSolver is the memory of steps in trees.
type treeSolver struct {
	f, g    []float64 // rows × members with leaves × scores
	workers []*treeWorker
}

// treeWorker changes the trees for one score of one member.
type treeWorker struct {
	gradient, curvature, change []float64 // of each row of the window
	slope, hessian, step        []float64 // of each leaf of a tree
	diverged                    bool
}

// stepForest changes the next trees. Those of all rows have the parabola that majorises
// the loss where it is now: in it, a tree's Hessian is diagonal, and its minimum
//
//	δ_ℓ = -(Σ g_i + nλ u_ℓ) / (Σ c_i + nλ), over the rows i of the leaf ℓ
//
// for the coefficients u = v·√((1-ρ)/R) of leaves of norm 1, whose penalty is R/(1-ρ)
// times that of v.
func (w *newton) stepForest() {
	l, v, n, k := &w.forest, &w.window, w.window.rows, w.Head.Scores()
	if l.trees == nil {
		return
	}
	e, own, targets := len(w.members), len(l.members), w.Head.Parts()
	s := &l.solver
	s.f, s.g = state.Extend(s.f[:0], n*own*k), state.Extend(s.g[:0], n*own*k)
	for i := range n {
		for c, m := range l.members {
			for j := range k {
				s.f[(i*own+c)*k+j] = v.f[place(i, m*k+j, e*k)]
			}
		}
	}
	w.Head.Grads(s.g, s.f, v.targets[:n*targets], own)
	for len(s.workers) < own*k {
		s.workers = append(s.workers, new(treeWorker))
	}
	count := min(treesPerStep, l.trees.Trees())
	var wait sync.WaitGroup
	for part := range 2 {
		wait.Go(func() {
			for c := part * own * k / 2; c < (part+1)*own*k/2; c++ {
				w.stepTrees(c/k, c%k, count)
			}
		})
	}
	wait.Wait()
	l.next = (l.next + count) % l.trees.Trees()
	for c, t := range s.workers[:own*k] {
		m := l.members[c/k]
		for i, d := range t.change[:n] {
			v.f[place(i, m*k+c%k, e*k)] += d
		}
		l.diverged[m] = l.diverged[m] || t.diverged
	}
}

// stepTrees changes the trees for score j of member c of those with leaves.
func (w *newton) stepTrees(c, j, count int) {
	l, v, n, k := &w.forest, &w.window, w.window.rows, w.Head.Scores()
	t, who, own := l.solver.workers[c*k+j], w.members[l.members[c]], len(l.members)
	penalty := w.leafPenalty(l.members[c])
	t.gradient, t.curvature, t.change = state.Extend(t.gradient[:0], n), state.Extend(t.curvature[:0], n), state.Extend(t.change[:0], n)
	clear(t.change)
	t.diverged = false
	h, probabilities := w.curvature(), w.Head.Probabilities()
	for i := range n {
		t.gradient[i], t.curvature[i] = 0, 0
		share := v.weights[i] / w.scratch.total[l.members[c]]
		if v.age(i) >= who.rows || share == 0 {
			continue
		}
		g, curvature := l.solver.g[(i*own+c)*k+j], h
		if probabilities {
			curvature = majorant(math.Abs(g), h)
		}
		t.gradient[i] = float64(share * max(-target.MaxResidual, min(target.MaxResidual, g)))
		t.curvature[i] = float64(share * curvature)
	}
	for tree := range count {
		tree = (l.next + tree) % l.trees.Trees()
		from, to := l.trees.Tree(tree)
		leaf := l.of[tree*windowRows : tree*windowRows+n]
		t.sum(leaf, to-from)
		for i, slope := range t.slope {
			u := &l.coef[((from+i)*own+c)*k+j]
			d := -(slope + float64(penalty*(*u))) / (t.hessian[i] + penalty)
			if !(math.Abs(*u+d) < engine.MaxCoefficient/10) {
				d, t.diverged = 0, true
			}
			*u += d
			t.step[i] = d
		}
		for i, at := range leaf {
			t.change[i] += t.step[at]
		}
	}
}

// leafPenalty returns the weight of half the squared coefficients of the leaves of a
// member, which sum to its score without a factor.
func (w *newton) leafPenalty(m int) float64 {
	rho, features := w.members[m].rho, float64(w.Options.MaxBlocks()*w.Options.BlockSize)
	return w.penalty(m, float64(w.window.rows)) * rho / (1 - rho) * float64(w.forest.trees.Trees()) / features
}

// sum computes slope and hessian of the leaves of a tree.
func (t *treeWorker) sum(leaf []uint16, leaves int) {
	t.slope, t.hessian, t.step = state.Extend(t.slope[:0], leaves), state.Extend(t.hessian[:0], leaves), state.Extend(t.step[:0], leaves)
	clear(t.slope)
	clear(t.hessian)
	g, c, d := t.gradient[:len(leaf)], t.curvature[:len(leaf)], t.change[:len(leaf)]
	for i, at := range leaf {
		t.slope[at] += g[i] + float64(c[i]*d[i])
		t.hessian[at] += c[i]
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
