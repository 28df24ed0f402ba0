package mixture

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Static is the mixture of a scorer, which sees no labels: a sum of scores with constant
// shares, and so one set of coefficients. Its zero value is the engine alone.
type Static struct {
	Engine []float64 // share of the engine in each score
	Linear []float32 // scores × (inputs + 1): what is added, the last is the intercept
}

// Apply turns the scores f of the engine for rows x into those of the mixture.
func (s *Static) Apply(f []float64, x []float32) {
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
			f[i*k+c] = float64(share*f[i*k+c]) + sum
		}
	}
}

// setStatic sets the mixture of a scorer to what the weights are.
func (m *Mixture) setStatic(h *target.Head) {
	m.Static = Static{}
	if m.factors == nil || h.Task == target.Classification && h.Classes < 2 {
		return
	}
	k, n := h.Scores(), len(m.factors)+1
	m.staticAwake = m.staticAwake[:0]
	for _, e := range m.static {
		m.staticAwake = append(m.staticAwake, e == 0 || m.affine(e).Ready())
	}
	m.Static.Engine, m.Static.Linear = make([]float64, k), make([]float32, k*n)
	shares, sum := make([]float64, len(m.static)), make([]float64, n)
	for c := range k {
		m.now.served[c*m.targets/k].Mix(shares, m.staticAwake)
		clear(sum)
		for i, e := range m.static {
			if e > 0 && m.staticAwake[i] {
				m.affine(e).AddTo(sum, c, shares[i])
			}
		}
		m.Static.Engine[c] = shares[0]
		for i, v := range sum {
			m.Static.Linear[c*n+i] = float32(v)
		}
	}
}

func (m *Mixture) affine(e int) member.Affine { return m.members[e-1].(member.Affine) }

// Save adds the arrays of the serving part.
func (s *Static) Save(a *state.Arrays) {
	k := len(s.Engine)
	state.Put(a, "mixture.engine", max(1, k), s.Engine)
	state.Put(a, "mixture.linear", max(1, len(s.Linear)/max(1, k)), s.Linear)
}

// mostStatic bounds a coefficient of a scorer's mixture.
const mostStatic = 1e30

// LoadStatic reads what Save wrote for a head with that many scores, and inputs. It
// returns nil if the next array is another one.
func LoadStatic(s *state.Reader, scores, inputs int) *Static {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "mixture.engine" {
		return nil
	}
	m := &Static{}
	if s.In[0].Shape[0] == 0 {
		state.Take[float64](s, "mixture.engine", 0, 1)
		state.Take[float32](s, "mixture.linear", 0, 1)
		return m
	}
	m.Engine = state.Take[float64](s, "mixture.engine", 1, scores)
	m.Linear = state.Take[float32](s, "mixture.linear", scores, inputs+1)
	for _, v := range m.Engine {
		s.Require(v >= 0 && v <= 1.001, "mixture.engine: a share is %v", v)
	}
	for _, v := range m.Linear {
		s.Require(math.Abs(float64(v)) < mostStatic, "mixture.linear: a coefficient is %v", v)
	}
	return m
}
