package mixture

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Update takes the label of the row of the last Predict. served is what a scorer would
// have predicted for it. Update reports whether the label is an outlier.
func (m *Mixture) Update(r *Row, p, served []float64, y target.Label, weight float64) (outlier bool) {
	h := r.Head
	if weight == 0 || h.Task == target.Classification && (h.Classes < 2 || y.Class >= h.Classes) {
		return false // all experts are equally wrong
	}
	weight = m.ahead.weigh(weight)
	if h.Task == target.Classification {
		m.updateClass(h, p, served, y.Class, weight)
		return false
	}
	m.resizeStacks(len(p), len(p))
	for j := range m.targets {
		m.updateNumber(j, p, served, target.Bounded(y.At(j)), weight)
		outlier = outlier || m.ahead.bounds[j].outside(target.Bounded(y.At(j)))
	}
	if outlier {
		m.ahead.bounds[0].head[boundOutside]++
	}
	return outlier
}

// tally returns the tally of expert e for target j. The tallies after those of the experts are
// those of the mixture and of the mixture of a scorer.
func (m *Mixture) tally(r *rows, j, e int) []float64 {
	at := (j*(m.experts+others) + e) * tallyFields
	return r.tallies[at : at+tallyFields]
}

// graded adds to a tally.
func (m *Mixture) graded(j, e int, loss, err, weight float64) {
	t := m.tally(m.ahead, j, e)
	for i, v := range [...]float64{loss, err} {
		t[tallyLoss+i] = target.Finite(t[tallyLoss+i] + float64(weight*v))
		t[tallyRecentLoss+i] = target.Finite(float64(t[tallyRecentLoss+i]*recentForget) + float64(weight*v))
	}
	t[tallyWeight] += weight
	t[tallyRecentWeight] = float64(t[tallyRecentWeight]*recentForget) + weight
}

func wrong(p []float64, class int) float64 {
	if target.Best(p) == class {
		return 0
	}
	return 1
}

func (m *Mixture) updateClass(h *target.Head, p, served []float64, class int, weight float64) {
	r, j, k, size := m.ahead, 0, h.Scores(), len(p)
	for e := range m.experts {
		m.losses[e] = math.Inf(1)
		if m.awake[e] {
			l := m.loss(h, e, m.f[e*k:(e+1)*k], class)
			m.losses[e] = float64(weight * l)
			m.graded(j, e, l, wrong(m.p[e*size:(e+1)*size], class), weight)
		}
		m.awake[e] = m.awake[e] || m.broken[e]
	}
	m.graded(j, m.experts, -logOf(p[class]), wrong(p, class), weight)
	m.graded(j, m.experts+1, -logOf(served[class]), wrong(served, class), weight)
	m.setStaticAwake()
	m.learnCombinedClass(h, class, weight)
	m.updateStatic(0)
	r.inner[0].Update(m.losses, m.awake)
	for i, of := range m.twins {
		if h.Classes == 2 && m.awake[of] && !m.broken[of] {
			r.bins[i].learn(m.f[of], weight, class == 1)
		}
	}
	m.learnFactor(h, served, class, weight)
	losses := m.w[:len(outerPrior)]
	losses[0] = -float64(weight * logOf(m.inner[class]))
	for s := range stackForgetting {
		losses[1+s] = -float64(weight * logOf(m.stackP[s][class]))
	}
	r.outer[0].Update(losses, m.outerAwake)
	for s := range stackForgetting {
		m.slopes(h, m.stackF[s], m.stackP[s], class)
		r.stacks[s].learn(m.x, m.gradient, m.diagonal, m.outerP, weight)
	}
}

// slopes sets the gradient and the second derivatives of the loss of a class, as a stack learns
// them, at the scores f that predict p.
func (m *Mixture) slopes(h *target.Head, f, p []float64, class int) {
	k := len(f)
	m.gradient, m.diagonal, m.outerP = resized(m.gradient, k), resized(m.diagonal, k), resized(m.outerP, k)
	if k == 1 {
		h.Loss.Grad(m.gradient, f, float64(class))
		m.diagonal[0], m.outerP[0] = target.CurvatureAt(m.gradient, h.Loss.Smoothness()), 0
		return
	}
	copy(m.diagonal, p)
	copy(m.outerP, p)
	copy(m.gradient, p) // of loss.Softmax, as its link has them
	m.gradient[class]--
}

// updateStatic updates the weights of the scorer's experts for target j.
func (m *Mixture) updateStatic(j int) {
	m.setStaticAwake()
	m.staticLosses = m.staticLosses[:0]
	for _, e := range m.static {
		m.staticLosses = append(m.staticLosses, m.losses[e])
	}
	m.ahead.served[j].Update(m.staticLosses, m.staticAwake)
}

// setStaticAwake sets which of the scorer's experts are awake.
func (m *Mixture) setStaticAwake() {
	m.staticAwake = m.staticAwake[:0]
	for _, e := range m.static {
		m.staticAwake = append(m.staticAwake, m.awake[e])
	}
}

// tailFreedom is the number of degrees of freedom of the t distributions by which errors of numbers
// are judged. With a normal distribution, the first jump of a series by a hundred standard
// deviations would leave all experts but one, the luckiest, without any weight. Chosen by trial.
const tailFreedom = 4

// tailLoss returns the loss of an error of √q standard deviations: the negative logarithm of
// the density of a t distribution, up to a constant.
func tailLoss(q float64) float64 {
	return float64(0.5*(tailFreedom+1)) * vec.Log1p(min(q, math.MaxFloat64)/tailFreedom)
}

// tailWeight returns the weight of a row in least squares if its error is d standard
// deviations: the slope of tailLoss divided by d. Weighted least squares then fit a t
// distribution (Lange, Little and Taylor 1989).
func tailWeight(d float64) float64 { return (tailFreedom + 1) / (tailFreedom + float64(d*d)) }

// updateNumber updates target j. Its losses are those of t distributions with the scale of the
// best expert.
func (m *Mixture) updateNumber(j int, p, served []float64, y, weight float64) {
	r, size := m.ahead, m.targets
	mean, deviation := m.scale(j)
	first := r.labels[3*j] == 0
	r.addLabel(j, y, weight)
	if first {
		return // nothing says how large an error is
	}
	loss := func(v float64) (loss, square float64) {
		d := target.Bounded(v) - y
		z := d / deviation
		return tailLoss(float64(z * z)), float64(d * d)
	}
	outlier, most := r.bounds[j].outside(y), r.bounds[j].mostVariance()
	squares := r.squares[j*m.experts : (j+1)*m.experts]
	for e := range m.experts {
		m.losses[e] = math.Inf(1)
		awake := m.awake[e]
		of := m.inner[j] // as if it were as good as the mean of the others
		if awake {
			of = m.p[e*size+j]
		}
		l, square := loss(of)
		if awake {
			m.losses[e] = float64(weight * l)
			m.graded(j, e, l, square, weight)
		}
		if outlier { // the scale is that of the others
			square = squares[e] / r.labels[3*j]
		}
		squares[e] = min(float64(squares[e]*recentForget)+float64(weight*square), target.Finite(r.labels[3*j]*most))
		m.awake[e] = awake || m.broken[e]
	}
	l, square := loss(p[j])
	m.graded(j, m.experts, l, square, weight)
	l, square = loss(served[j])
	m.graded(j, m.experts+1, l, square, weight)
	m.setStaticAwake()
	m.learnCombinedNumber(j, y, mean, deviation, weight, loss)
	m.updateStatic(j)
	r.inner[j].Update(m.losses, m.awake)
	losses := m.w[:len(outerPrior)]
	l, _ = loss(m.inner[j])
	losses[0] = float64(weight * l)
	for s := range stackForgetting {
		l, _ = loss(m.stackP[s][j])
		losses[1+s] = float64(weight * l)
	}
	r.outer[j].Update(losses, m.outerAwake)
	inputs := 1 + m.experts
	x, one, zero := m.x[j*inputs:(j+1)*inputs], [1]float64{1}, [1]float64{}
	for s := range stackForgetting {
		g := [1]float64{max(-target.MaxResidual, min(target.MaxResidual, m.stackF[s][j]-bounded((y-mean)/deviation)))}
		r.stacks[j*len(stackForgetting)+s].learn(x, g[:], one[:], zero[:], weight*tailWeight(g[0]))
	}
	for e := range m.experts { // the next target asks the same
		m.awake[e] = m.awake[e] && !m.broken[e]
	}
}
