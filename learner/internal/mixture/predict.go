package mixture

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/member"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Row is what is predicted.
type Row struct {
	member.Row
	Engine []float64 // scores of the engine
}

// Begin begins a batch of n rows x that follows the rows learned. x is as in member.Row, but within
// the range: see Static.Within.
func (m *Mixture) Begin(x []float32, n int) {
	copy(m.ahead.all, m.now.all)
	for _, o := range m.machines {
		o.Ahead(x, n)
	}
}

// Commit makes what Update has done since Begin part of what was learned.
func (m *Mixture) Commit() { m.now, m.ahead = m.ahead, m.now }

// Predict sets f to the scores and p to the values of the prediction for r, after the
// rows of Update since Begin.
func (m *Mixture) Predict(f, p []float64, r *Row) {
	h := r.Head
	if h.Task == target.Classification && h.Classes < 2 {
		copy(f, r.Engine)
		h.Predict(p, f)
		return
	}
	m.ask(r)
	k, size := h.Scores(), len(p)
	m.inner = resized(m.inner, size)
	m.mixInner(m.inner, size)
	m.resizeStacks(k, size)
	for j := range m.targets {
		m.predictStacks(h, j)
		m.ahead.outer[j].Mix(m.w[:len(outerPrior)], m.outerAwake)
		lo, hi := j, j+1
		if m.task == target.Classification {
			lo, hi = 0, size
		}
		for c := lo; c < hi; c++ {
			p[c] = float64(m.w[0] * m.inner[c])
			for s := range stackForgetting {
				p[c] += float64(m.w[1+s] * m.stackP[s][c])
			}
		}
	}
	ScoresOf(h, f, p)
}

// ScoresOf sets f to the scores at which the head predicts p.
func ScoresOf(h *target.Head, f, p []float64) {
	switch {
	case h.Task == target.Regression:
		for j, u := range h.Scales {
			f[j] = (p[j] - u.Mean) / u.Deviation
		}
	case len(f) == 1:
		f[0] = logOdds(p)
	default:
		logsOf(f, p)
	}
}

// ask sets the scores and values of all experts for r, and which of them are awake.
func (m *Mixture) ask(r *Row) {
	h := r.Head
	k, size := h.Scores(), h.PredictionSize()
	m.f, m.p = resized(m.f, m.experts*k), resized(m.p, m.experts*size)
	ask := func(e int, awake bool) {
		f := m.f[e*k : (e+1)*k]
		m.awake[e], m.broken[e] = awake, false
		for _, v := range f {
			if awake && !(math.Abs(v) < math.MaxFloat64) {
				m.awake[e], m.broken[e] = false, true
			}
		}
		if m.awake[e] {
			p := m.p[e*size : (e+1)*size]
			m.predict(h, e, p, f)
			m.limit(p)
		}
	}
	for e := range m.rests {
		m.rests[e] = 1
	}
	m.reach = m.reach[:0]
	for j := range m.ahead.bounds {
		lo, hi := m.ahead.bounds[j].reach()
		m.reach = append(m.reach, lo, hi)
	}
	copy(m.f, r.Engine)
	for c, v := range r.Beyond {
		m.f[c] += v
	}
	ask(0, true)
	for i, o := range m.members {
		e := 1 + i
		ask(e, o.Score(m.f[e*k:(e+1)*k], &r.Row))
	}
	for i, of := range m.twins {
		e := 1 + len(m.members) + i
		if h.Classes != 2 || !m.awake[of] {
			ask(e, false)
			continue
		}
		p := m.ahead.bins[i].of(m.f[of], m.p[of*size+1])
		m.f[e] = logOf(p) - logOf(1-p)
		ask(e, true)
	}
	if !slices.Contains(m.awake, true) { // nothing is left to predict with
		clear(m.f[:k])
		ask(0, true)
	}
	if _, ok := h.Loss.(loss.Softmax); ok {
		vec.Logs(m.rests, m.rests)
	}
}

// limit keeps the values of a regression within the limits of what is predicted.
func (m *Mixture) limit(p []float64) {
	for j := range m.ahead.bounds {
		p[j] = max(m.reach[2*j], min(m.reach[2*j+1], p[j]))
	}
}

// mixInner sets p to the mixture of the values of the experts.
func (m *Mixture) mixInner(p []float64, size int) {
	clear(p)
	for j := range m.targets {
		m.ahead.inner[j].Mix(m.w, m.awake)
		for e, w := range m.w {
			if !m.awake[e] {
				continue
			}
			if m.task == target.Regression {
				p[j] += float64(w * m.p[e*size+j])
				continue
			}
			for c, v := range m.p[e*size : (e+1)*size] {
				p[c] += float64(w * v)
			}
		}
	}
}

func (m *Mixture) resizeStacks(k, size int) {
	m.x = resized(m.x, (1+m.experts)*k)
	if len(m.stackF) == 0 {
		m.stackF, m.stackP = make([][]float64, len(stackForgetting)), make([][]float64, len(stackForgetting))
	}
	for s := range m.stackF {
		m.stackF[s], m.stackP[s] = resized(m.stackF[s], k), resized(m.stackP[s], size)
	}
}

// predictStacks sets the scores and values of the stacks of target j.
func (m *Mixture) predictStacks(h *target.Head, j int) {
	inputs := 1 + m.experts
	if m.task == target.Classification {
		m.stackInputs(h, m.x, m.inner)
		for s := range stackForgetting {
			m.ahead.stacks[s].score(m.stackF[s], m.x)
			h.Predict(m.stackP[s], m.stackF[s])
		}
		return
	}
	x := m.x[j*inputs : (j+1)*inputs]
	mean, deviation := m.scale(j)
	m.numberInputs(x, j, mean, deviation)
	for s := range stackForgetting {
		f := m.stackF[s][j : j+1]
		m.ahead.stacks[j*len(stackForgetting)+s].score(f, x)
		lo, hi := m.ahead.bounds[j].reach()
		m.stackP[s][j] = max(lo, min(hi, mean+float64(deviation*f[0])))
	}
}

// numberInputs sets the inputs of the stacks of target j, in the standard deviation of
// the best expert.
func (m *Mixture) numberInputs(x []float64, j int, mean, deviation float64) {
	size := m.targets
	x[0] = bounded((m.inner[j] - mean) / deviation)
	for e := range m.experts {
		x[1+e] = 0
		if m.awake[e] {
			x[1+e] = bounded((m.p[e*size+j] - m.inner[j]) / deviation)
		}
	}
}

func bounded(v float64) float64 { return max(-mostDeviations, min(mostDeviations, v)) }

// scale returns the mean of the recent labels of target j, and the standard deviation of
// the errors of the expert with the smallest recent errors. Before the first label it returns
// the prediction of the mixture as the mean, so that the stacks predict the same.
func (m *Mixture) scale(j int) (mean, deviation float64) {
	l := m.ahead.labels[3*j : 3*j+3]
	if l[0] == 0 {
		return m.inner[j], 1
	}
	// The variance of the labels counts as one more squared error, with a weight that falls
	// with the number of labels: the first few errors of an expert may be small by luck.
	variance := l[2] / l[0]
	least := (slices.Min(m.ahead.squares[j*m.experts:(j+1)*m.experts]) + variance/l[0]) / l[0]
	least = max(least, float64(leastShare*variance))
	if least = min(least, m.ahead.bounds[j].mostVariance()); least == 0 {
		least = 1
	}
	return l[1], math.Sqrt(least)
}

// resized returns a slice of n elements, with the memory of x if that suffices.
func resized(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}
