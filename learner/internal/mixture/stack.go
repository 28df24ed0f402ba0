package mixture

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// stackPenalty is that on the squared distance of a factor from its start, as a
	// multiple of the loss of one row.
	stackPenalty = 1

	// leastLog and mostOdds bound what a stack sees: the logarithm of a probability of
	// several, and that of the odds of one of two.
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
	forget         float64
	theta          []float64 // of the mixture, and of each expert
	moment, gram   []float64 // without the penalty; gram is a lower triangle
	factor, change []float64 // scratch
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

// learn adds the parabola of a row with the inputs x: gradient is that of its loss in
// the scores, whose curvatures are the matrix diagonal - outer·outerᵀ.
func (s *stack) learn(x, gradient, diagonal, outer []float64, weight float64) {
	k, n := len(gradient), len(s.theta)
	if len(s.change) != 2*n {
		s.change = make([]float64, 2*n)
	}
	dots, slope := s.change[:n], s.change[n:]
	scale(s.gram, s.forget)
	scale(s.moment, s.forget)
	along := 0.0 // outer · the scores
	for e := range n {
		of := x[e*k : (e+1)*k]
		dots[e], slope[e] = vec.Dot(of, outer), vec.Dot(of, gradient)
		along += float64(s.theta[e] * dots[e])
	}
	at := 0
	for e := range n {
		a := x[e*k : (e+1)*k]
		for o := range e + 1 {
			b, h := x[o*k:(o+1)*k], -float64(dots[e]*dots[o])
			for c, d := range diagonal {
				h += float64(float64(d*a[c]) * b[c])
			}
			h = float64(h * weight)
			s.gram[at] += h
			s.moment[e] += float64(h * s.theta[o])
			if o != e {
				s.moment[o] += float64(h * s.theta[e])
			}
			at++
		}
		s.moment[e] -= float64(weight * slope[e])
	}
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
	base := x[:k]
	if k == 1 {
		base[0] = max(-mostOdds, min(mostOdds, logOdds(p)))
	} else {
		for c := range base {
			base[c] = max(leastLog, logOf(p[c]))
		}
	}
	for e := range m.experts {
		to := x[(1+e)*k : (2+e)*k]
		clear(to)
		if !m.awake[e] {
			continue
		}
		f := m.f[e*k : (e+1)*k]
		if k == 1 {
			to[0] = max(-mostOdds, min(mostOdds, f[0])) - base[0]
			continue
		}
		norm := h.Loss.Value(f, 0) + f[0]
		for c := range to {
			to[c] = max(leastLog, f[c]-norm) - base[c]
		}
	}
}

// leastProbability keeps logarithms finite.
const leastProbability = 1e-300

func logOf(p float64) float64 { return vec.Log(max(p, leastProbability)) }

// logOdds returns the logarithm of the odds of the second of two classes.
func logOdds(p []float64) float64 { return logOf(p[1]) - logOf(p[0]) }
