package newton

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// leafScores is the memory of the scores of rows by their leaves.
type leafScores struct {
	scores  []float64
	scored  []float32              // the rows that were scored last
	numbers []int32                // and their leaves, trees × rows
	found   bool                   // the leaves of the rows are known already
	do      func(worker, task int) // finds the leaves in some trees
}

const (
	// treesPerTask is the number of trees in which one core finds leaves at a time.
	treesPerTask = 4

	// leavesPerCore is the number of leaves to find that justify another core. They take about 50
	// microseconds, because most nodes are not in the cache. The core does not have to begin: it
	// has just computed scores.
	leavesPerCore = 128
)

// leafCores returns the number of cores that the leaves of n rows justify.
func (w *newton) leafCores(n int) int {
	if w.alone {
		return 1
	}
	return n * w.forest.trees.Trees() / leavesPerCore
}

// find finds the leaves of the rows x, if they are not those that were scored last: rows
// are learned right after they are predicted.
func (l *leaves) find(x []float32) {
	if l.trees == nil || l.look(x) {
		return
	}
	l.trees.Leaf(l.numbers, x)
}

// look reports whether the leaves of the rows x are known. If they are not, it makes room for them.
func (l *leaves) look(x []float32) bool {
	if slices.Equal(l.scored, x) {
		return true
	}
	l.scored = append(l.scored[:0], x...)
	l.numbers = state.Extend(l.numbers[:0], len(x)/l.trees.Dim()*l.trees.Trees())
	return false
}

// scoreLeaves adds to the scores f of the rows x those of their leaves. Each core finds the
// leaves in some of the trees, and computes their candidates.
func (w *newton) scoreLeaves(f []float64, x []float32) {
	l, columns := &w.forest, w.Columns()
	if l.trees == nil {
		return
	}
	l.found = l.look(x)
	if l.do == nil {
		l.do = func(_, task int) {
			w.forest.findSome(task*treesPerTask, min((task+1)*treesPerTask, w.forest.trees.Trees()))
		}
	}
	team := w.scratch.team
	team.Resize(w.leafCores(len(x) / w.Dim))
	team.Run(vec.Panels(l.trees.Trees(), treesPerTask), l.do)
	n, size := len(x)/l.trees.Dim(), len(l.candidates)/l.trees.Leaves()
	k := size / (1 + len(l.columns))
	l.scores = state.Extend(l.scores[:0], n*size)
	clear(l.scores)
	l.trees.Add(l.scores, l.numbers, l.candidates, size)
	for i := range n {
		from, to := l.scores[i*size:(i+1)*size], f[i*columns:(i+1)*columns]
		for j, v := range from[:k] {
			to[j] += v
		}
		for c, at := range l.columns {
			for j, v := range from[(1+c)*k : (2+c)*k] {
				to[at+j] += v
			}
		}
	}
}

// findSome finds the leaves of the rows in the trees [from, to), unless they are known, and computes
// the candidates of these leaves that are not computed yet. No two trees share a leaf.
func (l *leaves) findSome(from, to int) {
	n := len(l.scored) / l.trees.Dim()
	numbers := l.numbers[from*n : to*n]
	if !l.found {
		l.trees.LeafOf(numbers, l.scored, from, to)
	}
	for _, leaf := range numbers {
		if l.stale[leaf] {
			l.serve(int(leaf), int(leaf)+1)
		}
	}
}
