package newton

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// newtonFields are the columns of the array "newton".
const (
	fieldNext = iota
	fieldCredit
	fieldRows
	fieldAt
	fieldBatches
	fields
)

// Save writes w. The names of its arrays are part of the snapshot format, whatever
// the fields are called.
func (w *newton) Save(a *state.Arrays) {
	k, e, v := w.Head.Scores(), len(w.members), &w.window
	w.trackers.save(a)
	state.Put(a, "newton", fields, []int64{int64(w.next), w.credit, int64(v.rows), int64(v.at), w.batches})
	w.saveAlone(a)
	if w.discarding {
		state.Put(a, "members.discarded", 1, []int64{w.discarded})
	}
	state.Put(a, "members.intercepts", k, w.intercept)
	state.Put(a, "members.w", e*k, w.coef)
	if w.averaged > 0 {
		state.Put(a, "averages.intercepts", k, w.averageIntercept)
		state.Put(a, "averages.w", w.averaged*k, w.averageCoef)
	}
	state.Put(a, "members.loss", w.Head.Parts(), w.loss)
	state.Put(a, "window.x", w.Dim, v.x)
	state.Put(a, "window.targets", w.Head.Parts(), v.targets)
	state.Put(a, "window.weights", 1, v.weights)
	state.Own(a, "window.f", e*k, v.scores(e*k))
	size := 2 * w.Options.BlockSize
	triangle := size * (size + 1) / 2
	rows, values := make([]float64, 0, 2*len(w.grams)), make([]float64, len(w.grams)*triangle)
	for i, g := range w.grams {
		rows = append(rows, g.rows, g.visits)
		copy(values[i*triangle:], g.values)
	}
	state.Put(a, "gram.rows", 2, rows)
	state.Own(a, "gram", triangle, values)
	w.forest.save(a)
	if w.servedEvery() > 1 {
		state.Put(a, "members.shares", w.Head.Parts(), w.mix)
	}
}

func (w *newton) Load(s *state.Reader, v engine.Served, steps int64) {
	w.trackers.load(s)
	counters := state.Take[int64](s, "newton", 1, fields)
	if s.Err != nil {
		return
	}
	n := counters[fieldRows]
	alone := w.loadAlone(s, n, v.Forest != nil)
	if s.Err != nil {
		return
	}
	w.loadPlan(s, n, v.Forest != nil && !alone)
	w.loadAverages(n)
	k, e, size, blocks := w.Head.Scores(), len(w.members), 2*w.Options.BlockSize, v.Blocks
	s.Require(n >= 0 && n <= int64(w.length), "the window has %d rows", n)
	s.Require(counters[fieldNext] >= 0 && counters[fieldNext] <= int64(blocks) && counters[fieldNext] < int64(w.Options.MaxBlocks()), "the next block is %d of %d", counters[fieldNext], blocks)
	s.Require(blocks == w.Options.MaxBlocks() || w.frugal() || counters[fieldNext] == int64(blocks), "the next block is %d, want %d: the model is not full", counters[fieldNext], blocks)
	s.Require(counters[fieldCredit] >= 0 && counters[fieldCredit] <= int64(w.length), "the credit of row visits is %d", counters[fieldCredit])
	s.Require(counters[fieldAt] >= 0 && (counters[fieldAt] == 0 || n == int64(w.length) && counters[fieldAt] < n), "the window ends at %d", counters[fieldAt])
	if s.Err != nil {
		return
	}
	w.next, w.credit, w.batches = int(counters[fieldNext]), counters[fieldCredit], counters[fieldBatches]
	s.Require(w.batches >= 0 && w.batches <= steps, "%d mini-batches in the averages, want at most %d", w.batches, steps)
	w.intercept = state.Take[float64](s, "members.intercepts", e, k)
	w.coef = state.Take[float64](s, "members.w", blocks*size, e*k)
	if w.averaged > 0 {
		w.averageIntercept = state.Take[float64](s, "averages.intercepts", w.averaged, k)
		w.averageCoef = state.Take[float64](s, "averages.w", blocks*size, w.averaged*k)
	}
	w.loss = state.Take[float64](s, "members.loss", w.candidates(), w.Head.Parts())
	w.window = window{
		rows: int(n), at: int(counters[fieldAt]),
		x:       state.Take[float32](s, "window.x", int(n), w.Dim),
		targets: state.Take[float64](s, "window.targets", int(n), w.Head.Parts()),
		weights: state.Take[float64](s, "window.weights", int(n), 1),
	}
	f := state.Take[float64](s, "window.f", int(n), e*k)
	triangle := size * (size + 1) / 2
	rows := state.Take[float64](s, "gram.rows", blocks, 2)
	values := state.Take[float64](s, "gram", blocks, triangle)
	if s.Err != nil {
		return
	}
	w.window.setScores(f, e*k)
	w.window.packed = make([]float32, vec.Panels(int(n), vec.Lanes)*vec.Lanes*w.Dim)
	vec.PackRows(w.window.packed, w.window.x, w.Dim)
	w.window.of = make([]vec.Coordinates, vec.Panels(int(n), vec.Lanes))
	for i := range w.window.of {
		w.window.of[i].Set(w.window.packed[i*vec.Lanes*w.Dim:], w.Dim)
	}
	w.loadGrams(s, rows, values, triangle)
	for _, t := range w.window.targets {
		s.Require(w.Head.Task == target.Regression || t >= 0 && t < float64(w.Head.Classes) && t == math.Trunc(t), "the window has class %v", t)
	}
	for _, v := range w.window.weights {
		s.Require(v >= 0, "the window has a weight of %v", v)
		if v != 1 {
			w.window.weighted++
		}
	}
	for _, l := range w.loss {
		s.Require(l >= 0, "the loss of a member is %v", l)
	}
	for _, c := range slices.Concat(w.coef, w.averageCoef) {
		s.Require(math.Abs(c) < engine.MaxCoefficient/10, "a coefficient is %v", c)
	}
	if s.Err != nil {
		return
	}
	w.loadLeaves(s, v)
	if s.Err != nil {
		return
	}
	w.bank.Grow(v.Blocks)
	w.trackers.share(w.Head.Task)
	if w.loadShares(s); s.Err == nil {
		v.Check(s, w)
	}
}

// loadGrams sets the Gram matrices of w to those of a State, where each has a triangle of values.
func (w *newton) loadGrams(s *state.Reader, rows, values []float64, triangle int) {
	for i := range len(rows) / 2 {
		r, visits := rows[2*i], rows[2*i+1]
		s.Require(r >= 0 && r <= gramRows && visits >= 0 && visits <= w.gramVisits(), "a Gram matrix has %v rows and %v row visits", r, visits)
		w.grams = append(w.grams, gram{rows: r, visits: visits, values: values[i*triangle : (i+1)*triangle : (i+1)*triangle]})
	}
}

// loadShares lets predictions use the shares of a State. A State has none if they change with every
// mini-batch: without a mixture, while the window is small, or in an earlier version of the
// arithmetic.
func (w *newton) loadShares(s *state.Reader) {
	if w.servedEvery() == 1 || len(s.In) == 0 || s.In[0].Name != "members.shares" {
		w.serve()
		return
	}
	w.mix = state.Take[float64](s, "members.shares", w.candidates(), w.Head.Parts())
	for _, share := range w.mix {
		s.Require(share >= 0 && share <= 1, "the share of a member is %v", share)
	}
	if s.Err == nil {
		w.serveAll(func(from, to int) {})
	}
}
