package mixture

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// factorForget is the factor of the earlier rows for each new row. factorPenalty is the penalty
	// on the squared distance of the factor of a scorer from 1, as a multiple of the loss of one
	// row. Chosen by trial, see docs/constants.md.
	factorForget  = 0.998
	factorPenalty = 20

	// mostCalibrated bounds that factor from above, and its inverse from below.
	mostCalibrated = 2
)

// factor is the number that multiplies the scores of a scorer for classes, so that its
// probabilities are as sure as they are right (temperature scaling: Guo, Pleiss, Sun and
// Weinberger 2017). It is a stack of a single input, learned from what the scorer would have
// predicted for each row before its label. A mixture that combines has none.
type factor struct {
	stack
	x []float64 // scratch: scores
}

// factorSize returns the size of the state of a factor.
func (m *Mixture) factorSize() int {
	if m.task != target.Classification || m.combines {
		return 0
	}
	return stackSize(1)
}

func newFactor(theta, of []float64) factor {
	if len(of) == 0 {
		return factor{}
	}
	return factor{stack: newStack(factorForget, theta, of)}
}

// takeRows reads the numbers of m.now. States of models of arithmetic 4 lack the factor of a
// scorer, and those of models of arithmetic 9 lack the bounds. What is missing begins without rows.
func (m *Mixture) takeRows(s *state.Reader) []float64 {
	n, lacks := len(m.now.all), m.factorSize()
	if more := m.boundsSize(); s.Err == nil && len(s.In) > 0 && more > 0 && s.In[0].Shape[1] == n-more {
		all := state.Take[float64](s, "mixture.rows", 1, n-more)
		return append(all, make([]float64, more)...)
	}
	if s.Err != nil || len(s.In) == 0 || lacks == 0 || s.In[0].Shape[1] != n-lacks {
		return state.Take[float64](s, "mixture.rows", 1, n)
	}
	all := state.Take[float64](s, "mixture.rows", 1, n-lacks)
	if s.Err != nil {
		return nil
	}
	return slices.Insert(all, len(all)-len(m.now.tallies), make([]float64, lacks)...)
}

// loadFactor reads the factor, which is 1 if it is not there.
func (s *Static) loadFactor(from *state.Reader) {
	s.Factor = 1
	if from.Err != nil || len(from.In) == 0 || from.In[0].Name != "mixture.factor" {
		return
	}
	if v := state.Take[float64](from, "mixture.factor", 1, 1); from.Err == nil {
		s.Factor = v[0]
	}
	from.Require(s.Factor >= 1.0/mostCalibrated && s.Factor <= mostCalibrated, "mixture.factor: %v", s.Factor)
}

// learnFactor learns from the prediction p of a scorer, whose scores had the factor.
func (m *Mixture) learnFactor(h *target.Head, p []float64, class int, weight float64) {
	if len(m.factor) == 0 || len(m.Static.Engine) == 0 {
		return // before the first fit, the prediction is that of the engine alone
	}
	r, k := &m.ahead.factor, h.Scores()
	r.x, m.gradient, m.diagonal, m.outerP = resized(r.x, k), resized(m.gradient, k), resized(m.diagonal, k), resized(m.outerP, k)
	m.baseInput(r.x, p)
	h.Loss.Grad(m.gradient, r.x, float64(class))
	if k == 1 {
		m.diagonal[0], m.outerP[0] = target.CurvatureAt(m.gradient, h.Loss.Smoothness()), 0
	} else {
		copy(m.diagonal, p)
		copy(m.outerP, p)
	}
	for c := range r.x {
		r.x[c] /= m.factor[0]
	}
	r.learn(r.x, m.gradient, m.diagonal, m.outerP, weight)
}

// solveFactor sets the factor to the solution.
func (m *Mixture) solveFactor() {
	if len(m.factor) == 0 {
		return
	}
	s := &m.now.factor
	v := (s.moment[0] + factorPenalty) / (s.gram[0] + factorPenalty)
	if !(math.Abs(v) < math.MaxFloat64) {
		s.start()
		v = 1
	}
	m.factor[0] = max(1.0/mostCalibrated, min(mostCalibrated, v))
}
