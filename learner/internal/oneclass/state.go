package oneclass

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Save writes e. The names of its arrays are part of the snapshot format.
func (e *oneClass) Save(a *state.Arrays) {
	state.Put(a, "oneclass.counters", 2, []int64{e.rows, int64(e.cursor)})
	state.Put(a, "oneclass.scalars", 4, []float64{e.bound, e.offset, e.spread, e.threshold})
	state.Put(a, "oneclass.w", 1, e.w)
	state.Put(a, "window.x", e.Dim, e.x)
	state.Put(a, "window.alpha", 1, e.alpha)
	state.Put(a, "window.weights", 1, e.weights)
	state.Put(a, "window.cosines", 1, e.cosines)
}

// maxScalar bounds the numbers of a State, which may come from anywhere.
const maxScalar = 1e15

func (e *oneClass) Load(s *state.Reader, v engine.Served, steps int64) {
	counters := state.Take[int64](s, "oneclass.counters", 1, 2)
	scalars := state.Take[float64](s, "oneclass.scalars", 1, 4)
	e.w = state.Take[float64](s, "oneclass.w", e.width(), 1)
	if s.Err != nil {
		return
	}
	rows, cursor := counters[0], counters[1]
	n := int(max(0, min(rows, windowRows)))
	s.Require(rows >= 0 && rows <= steps*int64(e.Options.Minibatch), "the window has had %d rows after %d mini-batches", rows, steps)
	s.Require(cursor >= 0 && (cursor == 0 || cursor < int64(n)), "row %d of a window of %d is next", cursor, n)
	e.rows, e.cursor = rows, int(cursor)
	e.bound, e.offset, e.spread, e.threshold = scalars[0], scalars[1], scalars[2], scalars[3]
	s.Require(e.bound > 0 && e.bound < maxScalar && e.spread >= 0 && e.spread < maxScalar && math.Abs(e.offset) <= 2 && math.Abs(e.threshold) < 4,
		"bound %v, offset %v, spread %v, threshold %v", e.bound, e.offset, e.spread, e.threshold)
	e.x = state.Take[float32](s, "window.x", n, e.Dim)
	e.alpha = state.Take[float64](s, "window.alpha", n, 1)
	e.weights = state.Take[float64](s, "window.weights", n, 1)
	e.cosines = state.Take[float64](s, "window.cosines", n, 1)
	if s.Err != nil {
		return
	}
	for i, a := range e.alpha {
		s.Require(a >= 0 && a < maxScalar && e.weights[i] >= 0 && math.Abs(e.cosines[i]) < 4, "row %d of the window: coefficient %v, weight %v, cosine %v", i, a, e.weights[i], e.cosines[i])
	}
	for _, c := range e.w {
		s.Require(math.Abs(c) < maxScalar, "a coefficient is %v", c)
	}
	if s.Err != nil {
		return
	}
	e.phi = make([]float64, n*e.width())
	const atOnce = 256
	for at := 0; at < n; at += atOnce {
		e.expand(at, min(atOnce, n-at))
	}
	e.setCoefficients()
	v.Check(s, e)
}
