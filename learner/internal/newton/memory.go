package newton

import (
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// take reuses the memory of the engine that w replaces, which is not used any more. During the first
// rows, allocating memory for new blocks would take about as long as their steps.
func (w *newton) take(from engine.Engine) {
	w.Before = nil
	if old, ok := from.(*newton); ok {
		w.spare = append(old.spare, old.grams...)
		w.cache.Take(&old.cache)
		w.coef, w.averageCoef = old.coef[:0], old.averageCoef[:0]
		*old = newton{}
	}
}

// grown returns v with n more coefficients, which are 0. It has room for half as many
// again, so that they are seldom copied.
func grown(v []float64, n int) []float64 {
	if cap(v)-len(v) < n {
		v = slices.Grow(v, max(n, len(v)/2))
	}
	at := len(v)
	v = v[:at+n]
	clear(v[at:])
	return v
}
