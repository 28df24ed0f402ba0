package mixture

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// stackPenalty is the penalty on the squared distance of a factor from its start, as a multiple
	// of the loss of one row.
	stackPenalty = 1

	// leastLog and mostOdds bound what a stack sees: the logarithm of a probability if there are
	// more than two classes, and the log-odds if there are two.
	leastLog, mostOdds = -10, 10

	// mostDeviations bounds a difference of predictions likewise.
	mostDeviations = 100
)

// stackForgetting is the factor for each row of each stack.
var stackForgetting = [...]float64{0.998, 0.9995}

// stack adds the scores of the mixture and the differences of the experts from it, each
// times a factor: like Linear on these inputs, it is a step of Newton's method for every
// solution. Its factors begin with 1 for the mixture and 0 for the others. It corrects
// what a mixture cannot: experts that agree and are all too sure, or not sure enough,
// and experts whose errors cancel.
type stack struct {
	forget          float64
	theta           []float64 // of the mixture, and of each expert
	moment, gram    []float64 // without the penalty; gram is a lower triangle
	factor, change  []float64 // scratch
	product, scaled []float64 // likewise
}

// stackSize returns the size of the state of a stack of that many inputs, without theta.
func stackSize(inputs int) int { return inputs + inputs*(inputs+1)/2 }

func newStack(forget float64, theta, of []float64) stack {
	n := len(theta)
	return stack{forget: forget, theta: theta, moment: of[:n:n], gram: of[n:]}
}

// start sets the factors to those of the mixture alone.
func (s *stack) start() {
	clear(s.theta)
	clear(s.moment)
	clear(s.gram)
	s.theta[0] = 1
}

// score sets f to the scores for the inputs x, which are inputs × scores.
func (s *stack) score(f, x []float64) {
	k := len(f)
	clear(f)
	for e, v := range s.theta {
		vec.Axpy(v, x[e*k:(e+1)*k], f)
	}
}

// learn adds the parabola of a row with the inputs x. gradient is the gradient of its loss with
// respect to the scores, and diagonal - outer·outerᵀ is the matrix of the second derivatives.
func (s *stack) learn(x, gradient, diagonal, outer []float64, weight float64) {
	k, n := len(gradient), len(s.theta)
	if len(s.change) != 2*n {
		s.change = make([]float64, 2*n)
	}
	dots, slope := s.change[:n], s.change[n:]
	scale(s.gram, s.forget)
	scale(s.moment, s.forget)
	n = used(x, k)
	x, dots, slope = x[:n*k], dots[:n], slope[:n]
	if k == 1 {
		for e, v := range x {
			dots[e], slope[e] = float64(v*outer[0]), float64(v*gradient[0])
		}
	} else {
		vec.Dots(dots, outer, x)
		vec.Dots(slope, gradient, x)
	}
	h := s.products(x, diagonal)
	at := 0
	for e := range n {
		gram, h, moment, theta := s.gram[at:at+e+1], h[at:at+e+1], s.moment[:e+1], s.theta[:e+1]
		m, te := moment[e], theta[e]
		for o, t := range theta[:e] {
			v := float64(h[o] * weight)
			gram[o] += v
			m += float64(v * t)
			moment[o] += float64(v * te)
		}
		v := float64(h[e] * weight)
		gram[e] += v
		m += float64(v * te)
		moment[e] = m - float64(weight*slope[e])
		at += e + 1
	}
}

// used returns the number of inputs in x without the last ones, if those are 0. These belong to
// experts that are asleep, such as the calibrated ones with three classes, and add nothing.
func used(x []float64, k int) int {
	n := len(x)
	for n > k && x[n-1] == 0 {
		n--
	}
	return (n + k - 1) / k
}

// products returns the lower triangle of the products of the inputs under the matrix of learn.
// change has the products of the inputs with outer. Four sums are computed at a time, so that they
// do not wait for each other.
func (s *stack) products(x, diagonal []float64) []float64 {
	k := len(diagonal)
	n := len(x) / k
	dots := s.change[:n]
	s.product, s.scaled = resized(s.product, len(s.gram)+3), resized(s.scaled, k)
	at := 0
	if k == 1 {
		for e, v := range x {
			to, x, v := s.product[at:at+e+1], x[:e+1], diagonal[0]*v
			for o, dot := range dots[:e+1] {
				to[o] = float64(v*x[o]) - float64(dots[e]*dot)
			}
			at += e + 1
		}
		return s.product
	}
	for e := range n {
		for c, v := range x[e*k : (e+1)*k] {
			s.scaled[c] = diagonal[c] * v
		}
		for o := 0; o <= e; o += 4 {
			to := s.product[at+o : at+o+4] // those beyond the row are overwritten
			last := n - 1
			b0, b1 := x[o*k:][:k], x[min(o+1, last)*k:][:k]
			b2, b3 := x[min(o+2, last)*k:][:k], x[min(o+3, last)*k:][:k]
			h0, h1 := -float64(dots[e]*dots[o]), -float64(dots[e]*dots[min(o+1, last)])
			h2, h3 := -float64(dots[e]*dots[min(o+2, last)]), -float64(dots[e]*dots[min(o+3, last)])
			for c, v := range s.scaled {
				h0 += float64(v * b0[c])
				h1 += float64(v * b1[c])
				h2 += float64(v * b2[c])
				h3 += float64(v * b3[c])
			}
			to[0], to[1], to[2], to[3] = h0, h1, h2, h3
		}
		at += e + 1
	}
	return s.product
}

func scale(x []float64, f float64) {
	for i := range x {
		x[i] *= f
	}
}

// solve sets the factors to the solution. Where there is none, it begins again.
func (s *stack) solve() {
	n := len(s.theta)
	s.factor = state.Extend(s.factor[:0], n*n)
	at := 0
	for i := range n {
		copy(s.factor[i*n:], s.gram[at:at+i+1])
		at += i + 1
		s.factor[i*n+i] += stackPenalty
	}
	if !vec.Cholesky(s.factor, n) {
		s.start()
		return
	}
	copy(s.theta, s.moment)
	s.theta[0] += stackPenalty
	vec.CholeskySolve(s.factor, n, s.theta)
	for _, v := range s.theta {
		if !(math.Abs(v) < mostFactor) {
			s.start()
			return
		}
	}
}

// mostFactor is the largest factor of a stack that has not gone astray.
const mostFactor = 1e6

// stackInputs sets x, inputs × scores, to the scores of the mixture and the differences
// of the experts from it. f are the scores of the experts, and p the prediction of the
// mixture, for classes.
func (m *Mixture) stackInputs(h *target.Head, x, p []float64) {
	k := h.Scores()
	m.baseInput(x[:k], p)
	for e := range m.experts {
		m.expertInput(h, x[(1+e)*k:(2+e)*k], x[:k], e, m.awake[e])
	}
}

// baseInput sets base to the first input of a stack for classes: the scores of the prediction p.
func (m *Mixture) baseInput(base, p []float64) {
	if len(base) == 1 {
		base[0] = max(-mostOdds, min(mostOdds, logOdds(p)))
		return
	}
	logsOf(base, p)
	for c, v := range base {
		base[c] = max(leastLog, v)
	}
}

// expertInput sets to to the input of expert e: by how much its scores differ from base.
func (m *Mixture) expertInput(h *target.Head, to, base []float64, e int, awake bool) {
	clear(to)
	if !awake {
		return
	}
	k := len(to)
	f := m.f[e*k : (e+1)*k]
	if k == 1 {
		to[0] = max(-mostOdds, min(mostOdds, f[0])) - base[0]
		return
	}
	norm := m.loss(h, e, f, 0) + f[0]
	for c := range to {
		to[c] = max(leastLog, f[c]-norm) - base[c]
	}
}

// leastProbability keeps logarithms finite.
const leastProbability = 1e-300

func logOf(p float64) float64 { return vec.Log(max(p, leastProbability)) }

// logsOf sets dst to logOf each number of p.
func logsOf(dst, p []float64) {
	for c := range dst {
		dst[c] = max(p[c], leastProbability)
	}
	vec.Logs(dst, dst)
}

// logOdds returns the logarithm of the odds of the second of two classes.
func logOdds(p []float64) float64 { return logOf(p[1]) - logOf(p[0]) }
