package mixture

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/sparse"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Last returns the last label of a key among the rows learned.
func (m *Mixture) Last(key string) target.Label { return m.memory.of(key) }

// Remember has y be the last label of a key.
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

// Save adds the state without Static.
func (m *Mixture) Save(a *state.Arrays) {
	state.Put(a, "mixture.rows", len(m.now.all), m.now.all)
	state.Put(a, "mixture.theta", 1+m.experts, m.theta)
	if m.combines {
		state.Put(a, "mixture.combined", 1+len(m.static), m.combinedBy)
	}
	if m.extrapolates {
		m.span.save(a)
	}
	state.Put(a, "mixture.chunk.x", max(1, len(m.factors)), m.chunk.X)
	target.PutLabels(a, "mixture.chunk", m.chunk.Labels, m.targets, m.chunk.Weights)
	putLast(a, "mixture.last", m.chunk.Last, m.targets)
	putLast(a, "mixture.early", m.early, m.targets)
	m.memory.save(a, m.targets)
	if m.sparse != nil {
		m.chunk.Sparse.Save(a, "sparse.chunk")
		m.sparse.Served = len(m.Static.Engine) > 0
	}
	for i, o := range m.members {
		o.Save(a, fmt.Sprintf("mixture.%d", i))
	}
}

// Load reads what Save wrote into a new Mixture, after n labelled rows of which early
// may be scaled again. columnFactors is nil before the first fit; they and margin are as in Start.
func (m *Mixture) Load(s *state.Reader, h *target.Head, columnFactors []float64, margin float32, n int64, early int, v Static) {
	all := m.takeRows(s)
	theta := state.Take[float64](s, "mixture.theta", len(m.theta)/(1+m.experts), 1+m.experts)
	var combinedBy []float64
	if m.combines {
		combinedBy = state.Take[float64](s, "mixture.combined", m.targets*len(stackForgetting), 1+len(m.static))
	}
	if m.extrapolates {
		m.span.margin = margin
		m.span.load(s, len(columnFactors))
	}
	waiting := int(n % ChunkRows)
	rows := waiting
	if columnFactors == nil {
		rows = 0
	}
	m.chunk.X = state.Take[float32](s, "mixture.chunk.x", rows, max(1, len(columnFactors)))
	m.chunk.Labels, m.chunk.Weights = target.TakeLabels(s, "mixture.chunk", waiting, h)
	m.chunk.Last = takeLast(s, "mixture.last", waiting, h)
	m.early = takeLast(s, "mixture.early", early, h)
	m.memory.load(s, h)
	if m.sparse != nil {
		m.chunk.Sparse.Load(s, "sparse.chunk", waiting)
	}
	if s.Err != nil {
		return
	}
	copy(m.now.all, all)
	copy(m.theta, theta)
	copy(m.combinedBy, combinedBy)
	m.now.check(s)
	m.Static = v
	if len(m.factor) > 0 && v.Factor > 0 {
		m.factor[0] = v.Factor
	}
	if columnFactors != nil {
		m.factors = slices.Clone(columnFactors)
	}
	if m.sparse != nil && len(v.Engine) > 0 {
		s.Require(len(v.SparseCoef) == len(m.sparse.Coef), "sparse.coefficients: %d of them, want %d", len(v.SparseCoef), len(m.sparse.Coef))
		if s.Err != nil {
			return
		}
		m.sparse.Coef, m.sparse.Served = v.SparseCoef, true
	}
	for i, o := range m.members {
		if columnFactors != nil {
			o.Start(*h, columnFactors)
		}
		o.Load(s, fmt.Sprintf("mixture.%d", i))
	}
	if s.Err == nil {
		m.setSteady(h)
	}
}
