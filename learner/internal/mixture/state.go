package mixture

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

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

// Save adds the arrays of the serving part.
func (s *Static) Save(a *state.Arrays) {
	k := max(1, len(s.Engine))
	if s.Early != nil {
		state.Put(a, "mixture.scaler", len(s.Early.Center), slices.Concat(s.Early.Center, s.Early.Scale))
	}
	state.Put(a, "mixture.engine", k, s.Engine)
	state.Put(a, "mixture.linear", max(1, len(s.Linear)/k), s.Linear)
	state.Put(a, "mixture.coefficients", k, s.Coef)
	if len(s.Engine) > 0 && s.Factor != 1 {
		state.Put(a, "mixture.factor", 1, []float64{s.Factor})
	}
	if s.Sparse != nil {
		state.Put(a, "sparse.shares", k, s.Sparse)
		state.Put(a, "sparse.coefficients", k, s.SparseCoef)
	}
	if s.Limits != nil {
		state.Put(a, "mixture.limits", limitFields, s.Limits)
	}
	s.saveRange(a)
}

// loadScaler reads the scaler of the rows before the first fit, of dim raw values, if it is there.
func (s *Static) loadScaler(from *state.Reader, dim int) {
	if from.In[0].Name != "mixture.scaler" {
		return
	}
	of := state.Take[float64](from, "mixture.scaler", 2, dim)
	if from.Err != nil {
		return
	}
	s.Early = &warmup.Scaler{Center: of[:dim:dim], Scale: of[dim:], ColumnWeights: warmup.Ones(dim)}
	for i, v := range s.Early.Scale {
		from.Require(v >= 0 && math.Abs(of[i]) <= target.MaxMagnitude, "mixture.scaler: a column has the centre %v and the scale %v", of[i], v)
	}
}

// loadLimits reads the limits of that many scores, if they are there.
func (s *Static) loadLimits(from *state.Reader, scores int) {
	if from.Err != nil || len(from.In) == 0 || from.In[0].Name != "mixture.limits" {
		return
	}
	s.Limits = state.Take[float64](from, "mixture.limits", scores, limitFields)
	for i := 1; i < len(s.Limits); i += 2 {
		from.Require(s.Limits[i-1] <= s.Limits[i], "mixture.limits: from %v to %v", s.Limits[i-1], s.Limits[i])
	}
}

// loadSparse reads the coefficients of the sparse member, if there are any, for that many
// scores.
func (s *Static) loadSparse(from *state.Reader, scores int) {
	if from.Err != nil || len(from.In) == 0 || from.In[0].Name != "sparse.shares" {
		return
	}
	s.Sparse = state.Take[float64](from, "sparse.shares", 1, scores)
	s.SparseCoef = state.Take[float32](from, "sparse.coefficients", state.AnySize, scores)
	if from.Err != nil {
		return
	}
	slots := len(s.SparseCoef) / scores
	from.Require(slots > 0 && slots&(slots-1) == 0, "sparse.coefficients: %d slots, want a power of 2", slots)
	for _, v := range s.Sparse {
		from.Require(s.isShare(v), "sparse.shares: a share is %v", v)
	}
	for _, v := range s.SparseCoef {
		from.Require(math.Abs(float64(v)) < mostStatic, "sparse.coefficients: a coefficient is %v", v)
	}
}

// isShare reports whether v may be the share of an expert, which in a combination may be negative.
func (s *Static) isShare(v float64) bool {
	return v >= 0 && v <= 1.001*s.Factor || s.Factor == 1 && math.Abs(v) <= mostShare
}

// mostStatic bounds a coefficient of a scorer's mixture, and mostBlocks the memory that a
// state can ask for.
const (
	mostStatic = 1e30
	mostBlocks = 1 << 12
)

// LoadStatic reads what Save wrote for a model with these numbers of scores, of inputs (0 before
// the first fit), of raw values in a row and of random features in a block. It returns nil if the
// next array is another one.
func LoadStatic(s *state.Reader, scores, inputs, raw, blockSize int) *Static {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "mixture.engine" && s.In[0].Name != "mixture.scaler" {
		return nil
	}
	m := &Static{}
	if m.loadScaler(s, raw); m.Early != nil {
		s.Require(inputs == 0, "mixture.scaler: there is a fit")
		inputs = raw
	}
	if s.Err != nil || len(s.In) == 0 {
		return m
	}
	if s.In[0].Shape[0] == 0 {
		state.Take[float64](s, "mixture.engine", 0, 1)
		state.Take[float32](s, "mixture.linear", 0, 1)
		state.Take[float32](s, "mixture.coefficients", 0, 1)
		return m
	}
	m.Engine = state.Take[float64](s, "mixture.engine", 1, scores)
	m.Linear = state.Take[float32](s, "mixture.linear", scores, inputs+1)
	m.Coef = state.Take[float32](s, "mixture.coefficients", state.AnySize, scores)
	m.loadFactor(s)
	m.loadSparse(s, scores)
	m.loadLimits(s, scores)
	m.loadRange(s, scores, inputs)
	if s.Err != nil {
		return m
	}
	size := 2 * blockSize * scores
	s.Require(len(m.Coef)%size == 0 && len(m.Coef)/size <= mostBlocks, "mixture.coefficients: %d of them", len(m.Coef))
	s.Require(len(m.Coef) == 0 || inputs > 0 && m.Early == nil, "mixture: random features without inputs")
	for _, v := range m.Engine {
		s.Require(m.isShare(v), "mixture.engine: a share is %v", v)
	}
	for _, v := range m.Linear {
		s.Require(math.Abs(float64(v)) < mostStatic, "mixture.linear: a coefficient is %v", v)
	}
	for _, v := range m.Coef {
		s.Require(math.Abs(float64(v)) < engine.MaxCoefficient, "mixture.coefficients: a coefficient is %v", v)
	}
	return m
}
