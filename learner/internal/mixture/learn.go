package mixture

import (
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/sparse"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Last returns the last label of a key among the rows learned.
func (m *Mixture) Last(key string) target.Label { return m.memory.of(key) }

// Remember records y as the last label of a key.
func (m *Mixture) Remember(key string, y target.Label) { m.memory.push(key, y) }

// Push takes the next labelled row: its scaled inputs x (nil before the first fit), its sparse
// part, the last label of its key before it, and its own label y. n is the number of labelled rows
// up to this one. warming says that a later fit may scale the row again. Push reports whether Learn
// is due.
func (m *Mixture) Push(x []float32, of sparse.Row, last, y target.Label, weight float64, n int64, warming bool) bool {
	if warming {
		m.early = append(m.early, last)
	}
	m.chunk.X = append(m.chunk.X, x...)
	m.chunk.Labels, m.chunk.Weights, m.chunk.Last = append(m.chunk.Labels, y), append(m.chunk.Weights, weight), append(m.chunk.Last, last)
	if m.sparse != nil {
		m.chunk.Sparse.Append(of)
	}
	return n%ChunkRows == 0
}

// Finish learns the rows since the last ChunkRows, and reports whether there are any.
func (m *Mixture) Finish(h *target.Head) bool {
	if len(m.chunk.Labels) == 0 {
		return false
	}
	m.Learn(h)
	return true
}

// Learn has the members and the stacks learn the last rows. It does not depend on what the
// engine learns, which may learn at the same time.
func (m *Mixture) Learn(h *target.Head) {
	m.thinMachines()
	for _, o := range m.members {
		o.Learn(&m.chunk)
	}
	if m.extrapolates && m.factors != nil {
		m.span.add(m.chunk.X, m.chunk.Weights)
	}
	m.chunk.Clear()
	for i := range m.now.stacks {
		m.now.stacks[i].solve()
	}
	for i := range m.now.combined.stacks {
		m.now.combined.stacks[i].solve()
	}
	m.solveFactor()
	m.setStatic(h)
}

// Start begins again after a new fit. columnFactors are the square roots of its column weights, and
// margin is that of its kernel: see Margin. x has the rows so far as this fit scales them, with their
// labels and weights.
func (m *Mixture) Start(h *target.Head, columnFactors []float64, margin float32, x []float32, labels []target.Label, weights []float64) {
	m.factors, m.scaler = slices.Clone(columnFactors), nil
	if m.extrapolates {
		m.span = span{margin: margin}
		m.span.add(x, weights)
	}
	d := len(columnFactors)
	whole := len(labels) - len(labels)%ChunkRows
	for _, o := range m.members {
		if !o.Start(*h, columnFactors) {
			continue
		}
		for from := 0; from < whole; from += ChunkRows {
			to := from + ChunkRows
			o.Learn(&member.Chunk{X: x[from*d : to*d], Labels: labels[from:to], Weights: weights[from:to], Last: m.early[from:to], Again: true, More: to < whole})
		}
	}
	m.chunk.X = append(m.chunk.X[:0], x[whole*d:]...)
	m.setStatic(h)
}

// EndWarmup forgets what only another fit of the warm-up would need.
func (m *Mixture) EndWarmup() { m.early = nil }

// Widen adds a class, for the new head h.
func (m *Mixture) Widen(h *target.Head, total float64) {
	for _, o := range m.members {
		o.Widen(*h, total)
	}
	m.setStatic(h)
}
