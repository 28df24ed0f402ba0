package mixture

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Static is the mixture of a scorer, which sees no labels: a sum of scores with constant
// shares, and so one set of coefficients. Its zero value is the engine alone.
type Static struct {
	Engine []float64 // share of the engine in each score
	Linear []float32 // scores × (inputs + 1): what is added, the last is the intercept

	// Short is what the member of that kind predicts with, and Share its share in each
	// score.
	Share []float64
	Short engine.Served
}

// Apply turns the scores f of the engine for rows x into those of the mixture. short are
// those of Short.
func (s *Static) Apply(f []float64, x []float32, short []float64) {
	k := len(s.Engine)
	if k == 0 {
		return
	}
	n := len(s.Linear) / k
	for i := range len(f) / k {
		row := x[i*(n-1) : (i+1)*(n-1)]
		for c, share := range s.Engine {
			w := s.Linear[c*n : (c+1)*n]
			sum := float64(w[n-1])
			for j, v := range row {
				sum += float64(float64(w[j]) * float64(v))
			}
			f[i*k+c] = float64(share*f[i*k+c]) + sum + float64(s.Share[c]*short[i*k+c])
		}
	}
}

// setStatic sets the mixture of a scorer to what the weights are.
func (m *Mixture) setStatic(h *target.Head) {
	m.Static = Static{}
	if m.short != nil {
		m.Static.Short = m.short.Serving()
	}
	if m.factors == nil || h.Task == target.Classification && h.Classes < 2 {
		return
	}
	k, n := h.Scores(), len(m.factors)+1
	m.staticAwake = m.staticAwake[:0]
	for _, e := range m.static {
		m.staticAwake = append(m.staticAwake, e == 0 || m.ready(e))
	}
	m.Static.Engine, m.Static.Linear, m.Static.Share = make([]float64, k), make([]float32, k*n), make([]float64, k)
	shares, sum := make([]float64, len(m.static)), make([]float64, n)
	for c := range k {
		m.now.served[c*m.targets/k].Mix(shares, m.staticAwake)
		keepEngine(shares)
		clear(sum)
		for i, e := range m.static {
			switch {
			case e == 0 || !m.staticAwake[i]:
			case e == m.shortAt:
				m.Static.Share[c] = shares[i]
			default:
				m.members[e-1].(member.Affine).AddTo(sum, c, shares[i])
			}
		}
		m.Static.Engine[c] = shares[0]
		for i, v := range sum {
			m.Static.Linear[c*n+i] = float32(v)
		}
	}
}

// leastEngine is the least share of the engine in the mixture of a scorer. After an abrupt
// change the engine is sure and wrong, and loses its weight: the loss of the mixture is then
// the less, but it decides for the wrong class more often than the engine once that has
// learned again. Chosen by trial.
const leastEngine = 0.25

// keepEngine turns weights into the shares that a scorer has.
func keepEngine(shares []float64) {
	for i, v := range shares {
		shares[i] = float64((1 - leastEngine) * v)
	}
	shares[0] += leastEngine
}

// ready reports whether member e, which a scorer has, has coefficients.
func (m *Mixture) ready(e int) bool {
	if e == m.shortAt {
		return m.short.Ready()
	}
	return m.members[e-1].(member.Affine).Ready()
}

// Save adds the arrays of the serving part.
func (s *Static) Save(a *state.Arrays) {
	k := len(s.Engine)
	state.Put(a, "mixture.engine", max(1, k), s.Engine)
	state.Put(a, "mixture.linear", max(1, len(s.Linear)/max(1, k)), s.Linear)
	state.Put(a, "mixture.share", max(1, k), s.Share)
	scores := max(1, len(s.Short.Intercept))
	state.Put(a, "mixture.intercept", scores, s.Short.Intercept)
	state.Put(a, "mixture.coefficients", scores, s.Short.Coef)
}

// mostStatic bounds a coefficient of a scorer's mixture.
const mostStatic = 1e30

// LoadStatic reads what Save wrote for a head with that many scores, inputs, and random
// features in a block. It returns nil if the next array is another one.
func LoadStatic(s *state.Reader, scores, inputs, blockSize int) *Static {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "mixture.engine" {
		return nil
	}
	m := &Static{}
	if s.In[0].Shape[0] == 0 {
		state.Take[float64](s, "mixture.engine", 0, 1)
		state.Take[float32](s, "mixture.linear", 0, 1)
		state.Take[float64](s, "mixture.share", 0, 1)
		m.loadShort(s, scores, inputs, blockSize)
		return m
	}
	m.Engine = state.Take[float64](s, "mixture.engine", 1, scores)
	m.Linear = state.Take[float32](s, "mixture.linear", scores, inputs+1)
	m.Share = state.Take[float64](s, "mixture.share", 1, scores)
	m.loadShort(s, scores, inputs, blockSize)
	s.Require(m.Short.Intercept != nil, "mixture.intercept is missing")
	for _, v := range slices.Concat(m.Engine, m.Share) {
		s.Require(v >= 0 && v <= 1.001, "mixture.engine: a share is %v", v)
	}
	for _, v := range m.Linear {
		s.Require(math.Abs(float64(v)) < mostStatic, "mixture.linear: a coefficient is %v", v)
	}
	return m
}

// loadShort reads what the short member predicts with.
func (m *Static) loadShort(s *state.Reader, scores, inputs, blockSize int) {
	if s.Err != nil || len(s.In) == 0 {
		s.Require(false, "mixture.intercept is missing")
		return
	}
	if s.In[0].Shape[0] == 0 {
		state.Take[float64](s, "mixture.intercept", 0, 1)
		state.Take[float32](s, "mixture.coefficients", 0, 1)
		return
	}
	s.Require(inputs > 0, "mixture: random features without inputs")
	v := engine.Served{Intercept: state.Take[float64](s, "mixture.intercept", 1, scores)}
	v.Coef = state.Take[float32](s, "mixture.coefficients", state.AnySize, scores)
	if s.Err != nil {
		return
	}
	size := 2 * blockSize * scores
	v.Blocks = len(v.Coef) / size
	s.Require(len(v.Coef)%size == 0 && v.Blocks <= mostBlocks, "mixture.coefficients: %d of them", len(v.Coef))
	for _, c := range v.Coef {
		s.Require(math.Abs(float64(c)) < engine.MaxCoefficient, "mixture.coefficients: a coefficient is %v", c)
	}
	for _, b := range v.Intercept {
		s.Require(math.Abs(b) < engine.MaxCoefficient, "mixture.intercept: %v", b)
	}
	m.Short = v
}

// mostBlocks bounds the memory that a state can ask for.
const mostBlocks = 1 << 12
