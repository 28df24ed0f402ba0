package mixture

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// combined is the stacks of the mixture of a scorer. They are those of the mixture, but of the scores
// of the experts that need no labels alone: what they predict is a sum of these scores with constant
// shares, which a scorer has as one set of coefficients. Without them, a scorer would predict a
// weighted mean of experts that may all be too cautious.
type combined struct {
	stacks []stack   // targets × stackForgetting
	outer  []Weights // of the weighted mean and of its stacks, for each target
}

// mostShare bounds the share of an expert in the combination: beyond it, the weighted mean alone is
// used.
const mostShare = 100

// combinedSize returns the size of the state of the combination, without the factors of its stacks.
func (m *Mixture) combinedSize() int {
	if !m.combines {
		return 0
	}
	return m.targets * (len(stackForgetting)*stackSize(1+len(m.static)) + WeightsSize(len(outerPrior)))
}

// newCombined returns the combination with that state, and with these factors.
func (m *Mixture) newCombined(theta, of []float64) (v combined) {
	if !m.combines {
		return v
	}
	inputs := 1 + len(m.static)
	size, weights := stackSize(inputs), WeightsSize(len(outerPrior))
	for range m.targets {
		for _, forget := range stackForgetting {
			v.stacks = append(v.stacks, newStack(forget, theta[:inputs:inputs], of[:size:size]))
			theta, of = theta[inputs:], of[size:]
		}
		v.outer = append(v.outer, NewWeights(outerPrior, of[:weights:weights]))
		of = of[weights:]
	}
	return v
}

func (v *combined) start() {
	for i := range v.stacks {
		v.stacks[i].start()
	}
	for j := range v.outer {
		v.outer[j].Start()
	}
}

// stacksOf returns the stacks of target j.
func (v *combined) stacksOf(j int) []stack {
	return v.stacks[j*len(stackForgetting) : (j+1)*len(stackForgetting)]
}

// learnCombinedNumber learns the number y of target j. mean and deviation are those of scale, and loss is
// that of a prediction.
func (m *Mixture) learnCombinedNumber(j int, y, mean, deviation, weight float64, loss func(v float64) (loss, square float64)) {
	if !m.combines {
		return
	}
	r, size := m.ahead, m.targets
	shares, x := m.staticShares(r, j), resized(m.combinedX, 1+len(m.static))
	m.combinedX = x
	inner := 0.0
	for i, e := range m.static {
		if m.staticAwake[i] {
			inner += float64(shares[i] * m.p[e*size+j])
		}
	}
	x[0] = bounded((inner - mean) / deviation)
	for i, e := range m.static {
		x[1+i] = 0
		if m.staticAwake[i] {
			x[1+i] = bounded((m.p[e*size+j] - inner) / deviation)
		}
	}
	losses := m.w[:len(outerPrior)]
	l, _ := loss(inner)
	losses[0] = float64(weight * l)
	lo, hi := r.bounds[j].reach()
	one, zero := [1]float64{1}, [1]float64{}
	for s, stack := range r.combined.stacksOf(j) {
		var f [1]float64
		stack.score(f[:], x)
		l, _ = loss(max(lo, min(hi, mean+float64(deviation*f[0]))))
		losses[1+s] = float64(weight * l)
		g := [1]float64{max(-target.MaxResidual, min(target.MaxResidual, f[0]-bounded((y-mean)/deviation)))}
		stack.learn(x, g[:], one[:], zero[:], weight*tailWeight(g[0]))
	}
	r.combined.outer[j].Update(losses, m.outerAwake)
}

// learnCombinedClass learns a class, once a scorer has the experts.
func (m *Mixture) learnCombinedClass(h *target.Head, class int, weight float64) {
	if !m.combines || len(m.Static.Engine) == 0 {
		return
	}
	r, k := m.ahead, h.Scores()
	m.combinedF, m.combinedP = resized(m.combinedF, k), resized(m.combinedP, h.PredictionSize())
	f, p, losses := m.combinedF, m.combinedP, m.w[:len(outerPrior)]
	shares := m.staticShares(r, 0)
	clear(f)
	for i, e := range m.static {
		if m.staticAwake[i] {
			vec.Axpy(shares[i], m.f[e*k:(e+1)*k], f)
		}
	}
	h.Predict(p, f)
	losses[0] = -float64(weight * logOf(p[class]))
	m.combinedX = resized(m.combinedX, (1+len(m.static))*k)
	x := m.combinedX
	m.baseInput(x[:k], p)
	for i, e := range m.static {
		m.expertInput(h, x[(1+i)*k:(2+i)*k], x[:k], e, m.staticAwake[i])
	}
	for s, stack := range r.combined.stacksOf(0) {
		stack.score(f, x)
		h.Predict(p, f)
		losses[1+s] = -float64(weight * logOf(p[class]))
		m.slopes(h, f, p, class)
		stack.learn(x, m.gradient, m.diagonal, m.outerP, weight)
	}
	r.combined.outer[0].Update(losses, m.outerAwake)
}

// staticShares returns the shares of the experts of a scorer in the weighted mean for target j.
func (m *Mixture) staticShares(r *rows, j int) []float64 {
	m.combinedShares = resized(m.combinedShares, len(m.static))
	r.served[j].Mix(m.combinedShares, m.staticAwake)
	keepEngine(m.combinedShares, m.engineFloor(r, j))
	return m.combinedShares
}

// combine replaces the shares of the experts of a scorer in the weighted mean for target j by those
// in the combination, and returns what the combination adds to the sum: predictions of numbers are
// Σ share × prediction + added, and nothing is added to the scores of classes.
func (m *Mixture) combine(shares []float64, j int) (added float64) {
	if !m.combines {
		return 0
	}
	r := m.now
	weights := make([]float64, len(outerPrior))
	r.combined.outer[j].Mix(weights, m.outerAwake)
	mean, of := r.labels[3*j+1], make([]float64, len(shares))
	for i, v := range shares {
		of[i] = float64(weights[0] * v)
	}
	for s, stack := range r.combined.stacksOf(j) {
		w, theta := weights[1+s], stack.theta
		rest := theta[0]
		for i, awake := range m.staticAwake {
			if awake {
				rest -= theta[1+i]
			}
		}
		for i, awake := range m.staticAwake {
			if awake {
				of[i] += float64(w * (theta[1+i] + float64(shares[i]*rest)))
			}
		}
		added += float64(w * float64(mean*(1-theta[0])))
	}
	for _, v := range of {
		if !(math.Abs(v) <= mostShare) {
			return 0
		}
	}
	if !(math.Abs(added) < target.MaxMagnitude) {
		return 0
	}
	copy(shares, of)
	return added
}

// intercept returns what a score with the unit u has beside the scores of the experts, of which each
// predicts u.Mean + u.Deviation × its score: added is that of combine.
func (m *Mixture) intercept(u target.Scale, shares []float64, added float64) float64 {
	rest := -1.0
	for i, v := range shares {
		if m.staticAwake[i] {
			rest += v
		}
	}
	return (float64(rest*u.Mean) + added) / u.Deviation
}
