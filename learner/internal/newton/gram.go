package newton

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// gram is the matrix ΦᵀΦ/n of the features of a block on n rows of the window.
type gram struct {
	rows    float64   // n
	visits  float64   // steps in the block since it was computed
	values  []float64 // lower triangle of (2 × block size)², row by row
	factors []float64 // Cholesky factor for each penalty of members; empty until they are needed
}

// newGram returns a Gram matrix of no rows, with the memory of a spare one if there is one.
func (w *newton) newGram() (g gram) {
	if last := len(w.spare) - 1; last >= 0 {
		g, w.spare = w.spare[last], w.spare[:last]
		g = gram{values: g.values, factors: g.factors[:0]}
	}
	return g
}

// refresh computes the Gram matrix of a block again from rows of the window, if it is
// due, and the factors that depend on it.
func (w *newton) refresh(b int) {
	g := &w.grams[b]
	if w.due(g) {
		w.makeGram(b)
		g.visits, g.factors = 0, g.factors[:0]
	}
	if g.visits < w.gramVisits() {
		g.visits++
	}
	if len(g.factors) == 0 {
		w.factorise(g)
	}
}

// gramVisits returns the number of steps in a block after which its Gram matrix is computed again.
func (w *newton) gramVisits() float64 {
	if w.Options.Fitting {
		return fittingVisits
	}
	return maxGramVisits
}

// due reports whether the Gram matrix of a block is to be computed again before its next step. In a
// plain model the number of visits is no reason: until the window has grown, the matrix is of most
// of its rows.
func (w *newton) due(g *gram) bool {
	return w.grown(g, float64(min(w.window.rows, gramRows))) || g.visits >= w.gramVisits() && !w.isPlain()
}

// grown reports whether the Gram matrix of a block is to be computed again because it can be one of
// n rows now.
func (w *newton) grown(g *gram, n float64) bool {
	if !w.Options.Lean || n == gramRows {
		return g.rows < n
	}
	return g.rows == 0 || float64(g.rows*gramGrowth) < n
}

// factorise computes the Cholesky factors of the members' Hessians, with the bound of
// the curvature. Members with the same penalty share theirs.
func (w *newton) factorise(g *gram) {
	s, size := &w.scratch.gram, 2*w.Options.BlockSize
	g.factors = state.Extend(g.factors[:0], w.factors*size*size)
	if s.factorise == nil {
		s.factorise = func(_, f int) { w.factoriseFor(s.of, f) }
	}
	s.of = g
	w.scratch.team.Run(w.factors, s.factorise)
	s.of = nil
}

// factoriseFor is factorise for one of the factors.
func (w *newton) factoriseFor(g *gram, f int) {
	size, h := 2*w.Options.BlockSize, w.curvature()
	factor := g.factors[f*size*size : (f+1)*size*size]
	ridge := float64(w.penalty(slices.Index(w.factorOf, f), g.rows)) + float64(w.Options.BlockSize)/2/g.rows
	at := 0
	for i := range size {
		row := factor[i*size : i*size+i+1]
		for j, v := range g.values[at : at+i+1] {
			row[j] = gramMargin * h * v
		}
		at += i + 1
		row[i] += ridge
	}
	if !vec.Cholesky(factor, size) { // not with finite features
		for i := range size {
			clear(factor[i*size : (i+1)*size])
			factor[i*size+i] = 1
		}
	}
}

// gramScratch is the memory of Gram matrices.
type gramScratch struct {
	gramRun // of the whole
	runs    []run
	workers []*gramRun // of each core
	before  int        // see addRuns
	sums    []float64  // of each run

	of        *gram                  // whose factors are computed, or which is computed
	factorise func(worker, task int) // for one of the factors
	sum       func(worker, task int) // of a run
	add       func(worker, task int) // some rows of the sums
}

// gramRun is the sum of some rows.
type gramRun struct {
	phi    []float32 // their features
	values []float64 // (2 × block size)², of which the lower triangle counts
	vec    vec.Scratch
}

// run is rows of the window.
type run struct{ from, rows int }

// makeGram computes the Gram matrix of block b.
func (w *newton) makeGram(b int) {
	size, s, g := 2*w.Options.BlockSize, &w.scratch.gram, &w.grams[b]
	n := min(w.window.rows, gramRows)
	s.values = state.Extend(s.values[:0], size*size)
	clear(s.values)
	divided := w.bank.Holds() && w.scratch.team.Size() > 1
	if n == gramRows && w.Options.Fitting {
		s.runs = appendSpread(s.runs[:0], w.window.rows)
	} else {
		s.runs = appendLast(s.runs[:0], &w.window, n, divided)
	}
	g.values = state.Extend(g.values[:0], size*(size+1)/2)
	g.rows = float64(n)
	if divided {
		w.addRuns(g)
	} else {
		for _, r := range s.runs {
			w.sumGram(&s.gramRun, b, r)
		}
		g.mean(s.values, size, 0, size)
	}
}

// appendSpread appends runs of gramRows rows that are spread evenly over those of a window.
func appendSpread(runs []run, rows int) []run {
	const few = gramRows / vec.Run
	for i := range few {
		runs = append(runs, run{i * (rows / vec.Run) / few * vec.Run, vec.Run})
	}
	return runs
}

// appendLast appends the runs of the last n rows of a window, which are one or two parts of the ring
// if they are not divided.
func appendLast(runs []run, v *window, n int, divided bool) []run {
	for from, to := range v.last(n) {
		rows := to - from
		if divided {
			rows = vec.Run
		}
		for ; from < to; from += rows {
			runs = append(runs, run{from, min(rows, to-from)})
		}
	}
	return runs
}

// mean sets the rows [from, to) of g, of size columns, to those of sums over its rows.
func (g *gram) mean(sums []float64, size, from, to int) {
	for i := from; i < to; i++ {
		mean := g.values[i*(i+1)/2:]
		for j, d := range sums[i*size : i*size+i+1] {
			mean[j] = d / g.rows
		}
	}
}

// sumGram adds the products of the features of some rows to the values of to.
func (w *newton) sumGram(to *gramRun, b int, r run) {
	size := 2 * w.Options.BlockSize
	to.phi = state.Extend(to.phi[:0], r.rows*size)
	if w.bank.Holds() {
		w.scratch.held.Rows(to.phi, r.from)
	} else {
		w.bank.Features(to.phi, b, w.window.x[r.from*w.Dim:(r.from+r.rows)*w.Dim])
	}
	vec.Gram(to.values, to.phi, size, &to.vec)
}

// gramRowsPerTask is the number of rows of a Gram matrix that one core adds at a time.
const gramRowsPerTask = 16

// addRuns computes the sums of the runs of held features on several cores. Then each core adds some
// rows of these sums, in the order of the runs, as vec.Gram does.
func (w *newton) addRuns(g *gram) {
	s, size, team := &w.scratch.gram, 2*w.Options.BlockSize, w.scratch.team
	for len(s.workers) < team.Size() {
		s.workers = append(s.workers, new(gramRun))
	}
	if s.sum == nil {
		s.sum, s.add = w.sumRun, w.addRows
	}
	s.of, s.sums = g, state.Extend(s.sums[:0], len(s.runs)*size*size)
	// Most rows of a run are those that the core has held: see Team.RunNear.
	together := w.runsTogether()
	s.before = s.runs[0].from / vec.Run % (together * team.Size())
	team.RunNear(s.before+len(s.runs), together, s.sum)
	team.Run(vec.Panels(size, gramRowsPerTask), s.add)
	s.of = nil
}

// sumRun is a task of addRuns: the sum of a run. The first s.before tasks have no run; they shift
// the others to the cores that hold their rows.
func (w *newton) sumRun(worker, task int) {
	s := &w.scratch.gram
	if task -= s.before; task < 0 {
		return
	}
	r, n := s.workers[worker], len(s.values)
	r.values = s.sums[task*n : (task+1)*n]
	clear(r.values)
	w.sumGram(r, 0, s.runs[task]) // of the block that is held
}

// addRows adds some rows of the sums of the runs.
func (w *newton) addRows(_, task int) {
	s, size := &w.scratch.gram, 2*w.Options.BlockSize
	first, end := task*gramRowsPerTask, min((task+1)*gramRowsPerTask, size)
	from, to := first*size, end*size
	for at := 0; at < len(s.sums); at += len(s.values) {
		vec.Axpy(1, s.sums[at+from:at+to], s.values[from:to])
	}
	s.of.mean(s.values, size, first, end)
}
