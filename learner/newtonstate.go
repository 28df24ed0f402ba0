package learner

import (
	"math"
	"slices"
)

// newtonFields are the columns of the array "newton".
const (
	newtonNext = iota
	newtonCredit
	newtonRows
	newtonAt
	newtonBatches
	newtonFields
)

func (w *newton) save(a *arrays) {
	k, e, v := w.head.sums(), len(w.members), &w.window
	w.trackers.save(a)
	put(a, "newton", newtonFields, []int64{int64(w.next), w.credit, int64(v.rows), int64(v.at), w.batches})
	put(a, "members.intercepts", k, w.intercept)
	put(a, "members.w", e*k, w.w)
	put(a, "averages.intercepts", k, w.level)
	put(a, "averages.w", averages*k, w.mean)
	put(a, "members.loss", w.head.targets(), w.loss)
	put(a, "window.x", w.dim, v.x)
	put(a, "window.targets", w.head.targets(), v.targets)
	put(a, "window.weights", 1, v.weights)
	put(a, "window.f", e*k, v.f)
	size := 2 * w.config.Width
	triangle := size * (size + 1) / 2
	rows, values := make([]float64, 0, 2*len(w.grams)), make([]float64, len(w.grams)*triangle)
	for i, g := range w.grams {
		rows = append(rows, g.rows, g.visits)
		copy(values[i*triangle:], g.values)
	}
	put(a, "gram.rows", 2, rows)
	own(a, "gram", triangle, values)
}

func (w *newton) load(s *source, v served, steps int64) {
	w.trackers.load(s)
	counters := take[int64](s, "newton", 1, newtonFields)
	if s.err != nil {
		return
	}
	k, e, size, blocks := w.head.sums(), len(w.members), 2*w.config.Width, v.blocks
	n := counters[newtonRows]
	s.want(n >= 0 && n <= windowRows, "a window of %d rows", n)
	s.want(counters[newtonNext] >= 0 && counters[newtonNext] <= int64(blocks) && counters[newtonNext] < int64(w.config.maxBlocks()), "the next block is %d of %d", counters[newtonNext], blocks)
	s.want(blocks == w.config.maxBlocks() || counters[newtonNext] == int64(blocks), "block %d is next after %d", counters[newtonNext], blocks)
	s.want(counters[newtonCredit] >= 0 && counters[newtonCredit] <= windowRows, "credit is %d", counters[newtonCredit])
	s.want(counters[newtonAt] >= 0 && (counters[newtonAt] == 0 || n == windowRows && counters[newtonAt] < n), "the window ends at %d", counters[newtonAt])
	if s.err != nil {
		return
	}
	w.next, w.credit, w.batches = int(counters[newtonNext]), counters[newtonCredit], counters[newtonBatches]
	s.want(w.batches >= 0 && w.batches <= steps, "averages of %d mini-batches of %d", w.batches, steps)
	w.intercept = take[float64](s, "members.intercepts", e, k)
	w.w = take[float64](s, "members.w", blocks*size, e*k)
	w.level = take[float64](s, "averages.intercepts", averages, k)
	w.mean = take[float64](s, "averages.w", blocks*size, averages*k)
	w.loss = take[float64](s, "members.loss", w.candidates(), w.head.targets())
	w.window = window{
		rows: int(n), at: int(counters[newtonAt]),
		x:       take[float32](s, "window.x", int(n), w.dim),
		targets: take[float64](s, "window.targets", int(n), w.head.targets()),
		weights: take[float64](s, "window.weights", int(n), 1),
		f:       take[float64](s, "window.f", int(n), e*k),
	}
	triangle := size * (size + 1) / 2
	rows := take[float64](s, "gram.rows", blocks, 2)
	values := take[float64](s, "gram", blocks, triangle)
	if s.err != nil {
		return
	}
	for i := range blocks {
		r, visits := rows[2*i], rows[2*i+1]
		s.want(r >= 0 && r <= gramRows && visits >= 0 && visits <= gramVisits, "a Gram matrix of %v rows and %v visits", r, visits)
		w.grams = append(w.grams, gram{rows: r, visits: visits, values: values[i*triangle : (i+1)*triangle : (i+1)*triangle]})
	}
	for _, t := range w.window.targets {
		s.want(w.head.task == Regression || t >= 0 && t < float64(w.head.classes) && t == math.Trunc(t), "the window has class %v", t)
	}
	for _, v := range w.window.weights {
		s.want(v >= 0, "the window has a weight of %v", v)
	}
	for _, l := range w.loss {
		s.want(l >= 0, "the loss of a member is %v", l)
	}
	for _, c := range slices.Concat(w.w, w.mean) {
		s.want(math.Abs(c) < farthest/10, "a coefficient is %v", c)
	}
	if s.err != nil {
		return
	}
	w.features.Grow(v.blocks)
	w.trackers.share(w.head.task)
	w.serve()
	v.check(s, w)
}
