package mixture

import (
	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// setStatic sets the mixture of a scorer from the current weights and members.
func (m *Mixture) setStatic(h *target.Head) {
	m.Static = Static{}
	if h.Task == target.Classification && h.Classes < 2 {
		return
	}
	k, n := h.Scores(), len(m.factors)+1
	if m.factors == nil {
		if m.scaler == nil || h.Task == target.Classification || m.sparse != nil {
			return
		}
		m.Static.Early, n = m.scaler, len(m.scaler.Center)+1
	}
	m.setSteady(h)
	m.staticAwake = m.staticAwake[:0]
	for _, e := range m.static {
		m.staticAwake = append(m.staticAwake, e == 0 || m.members[e-1].(member.Static).Ready())
	}
	m.Static.Factor = 1
	if len(m.factor) > 0 {
		m.Static.Factor = m.factor[0]
	}
	m.Static.Engine, m.Static.Linear = make([]float64, k), make([]float32, k*n)
	if m.sparse != nil {
		m.Static.Sparse, m.Static.SparseCoef = make([]float64, k), m.sparse.Coef
	}
	all, sum := make([]float64, k*len(m.static)), make([]float64, n) // scores × static experts
	for c := range k {
		shares := all[c*len(m.static) : (c+1)*len(m.static)]
		m.now.served[c*m.targets/k].Mix(shares, m.staticAwake)
		keepEngine(shares, m.engineFloor(m.now, c*m.targets/k))
		scale(shares, m.Static.Factor)
		added := m.combine(shares, c*m.targets/k)
		clear(sum)
		var linear [2]float64 // sums of the shares that are negative, and of the others
		intercept := 0.0      // what machines add
		curved := shares[0]   // of the engine and the machines together
		for i, e := range m.static {
			if e == 0 || !m.staticAwake[i] {
				continue
			}
			switch o := m.members[e-1].(type) {
			case member.Affine:
				o.AddTo(sum, c, shares[i], h)
				if shares[i] < 0 {
					linear[0] += shares[i]
				} else {
					linear[1] += shares[i]
				}
			case member.Machine:
				sum[n-1] += float64(shares[i] * o.Intercept(c))
				intercept += float64(shares[i] * o.Intercept(c))
				curved += shares[i]
			case *member.Sparse:
				sum[n-1] += float64(shares[i] * o.Intercept(c))
				m.Static.Sparse[c] = shares[i]
			}
		}
		if h.Task == target.Regression && m.combines {
			intercept += m.intercept(h.Scales[c], shares, added)
			sum[n-1] += m.intercept(h.Scales[c], shares, added)
		}
		m.Static.Engine[c] = shares[0]
		m.setRange(c, curved)
		for i, v := range sum {
			m.Static.Linear[c*n+i] = float32(v)
		}
		if h.Task == target.Regression {
			m.addLimits(h, c, linear, intercept)
		}
	}
	m.mixMachines(all, k)
}

// addLimits adds the limits of score c, in which the linear members have shares, see setStatic, and
// there is an intercept beside them.
func (m *Mixture) addLimits(h *target.Head, c int, linear [2]float64, intercept float64) {
	lo, hi := m.now.bounds[c].limits()
	u := h.Scales[c]
	lo, hi = (lo-u.Mean)/u.Deviation, (hi-u.Mean)/u.Deviation
	m.Static.Limits = append(m.Static.Limits, float64(linear[1]*lo)+float64(linear[0]*hi)+intercept, float64(linear[1]*hi)+float64(linear[0]*lo)+intercept, lo, hi)
}

// mixMachines sets the coefficients of the random features, given the shares of all experts
// in each score.
func (m *Mixture) mixMachines(shares []float64, k int) {
	m.features = m.features[:0]
	of := make([]float64, k) // shares of a machine
	for i, e := range m.static {
		if e == 0 || !m.staticAwake[i] {
			continue
		}
		if o, ok := m.members[e-1].(member.Machine); ok {
			for c := range of {
				of[c] = shares[c*len(m.static)+i]
			}
			m.features = o.AddServed(m.features, of)
		}
	}
	m.Static.Coef = make([]float32, len(m.features))
	for j, v := range m.features {
		m.Static.Coef[j] = float32(v)
	}
}

// leastEngine is the least share of the engine in the mixture of a scorer. After an abrupt change
// the engine is confident but wrong, and loses its weight. This lowers the loss of the mixture. But
// once the engine has learned again, the mixture would decide for the wrong class more often than
// the engine does. Chosen by trial.
const leastEngine = 0.25

// worseEngine is the largest squared error of the engine, as a multiple of that of the best member,
// at which the engine still has leastEngine in full. Chosen by trial.
const worseEngine = 4

// engineFloor returns the least share of the engine in target j after the rows r. It is 0 if the
// rows have a sparse part, so that the engine sees little of the inputs, or if there is no fit yet.
// In a regression it is lower if the engine predicts far worse than another member, as in a trend:
// there is no decision that could be right in spite of a wrong number.
func (m *Mixture) engineFloor(r *rows, j int) float64 {
	if m.sparse != nil || m.factors == nil {
		return 0
	}
	if m.task == target.Classification {
		return leastEngine
	}
	squares := r.squares[j*m.experts : (j+1)*m.experts]
	least := squares[0]
	for _, e := range m.static {
		least = min(least, squares[e])
	}
	if worseEngine*least >= squares[0] {
		return leastEngine
	}
	return leastEngine * worseEngine * (least / squares[0])
}

// keepEngine turns weights into shares, of which the engine has at least floor.
func keepEngine(shares []float64, floor float64) {
	for i, v := range shares {
		shares[i] = float64((1 - floor) * v)
	}
	shares[0] += floor
}
