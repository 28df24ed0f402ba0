package newton

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// step changes the next block. A caller has made sure that the window has rows.
func (w *newton) step() {
	n, k, e, most := w.window.rows, w.Head.Scores(), len(w.members), w.Options.MaxBlocks()
	size := 2 * w.Options.BlockSize
	s, v := &w.scratch, &w.window
	b := w.next % most
	w.next = (b + 1) % most
	if b == w.bank.Blocks() {
		w.bank.Grow(b + 1)
		w.coef = append(w.coef, make([]float64, size*e*k)...)
		w.averageCoef = append(w.averageCoef, make([]float64, size*w.averaged*k)...)
		w.grams = append(w.grams, gram{})
	}
	if !w.gradient() {
		return
	}
	s.slope = state.Extend(s.slope[:0], size*e*k)
	w.bank.Gradient(s.slope, b, v.x, s.g, e*k)
	w.refresh(b)

	g := &w.grams[b]
	coef := w.coef[b*size*e*k : (b+1)*size*e*k]
	s.step = state.Extend(s.step[:0], size*e*k)
	s.size = state.Extend(s.size[:0], e*k)
	s.v = state.Extend(s.v[:0], size)
	for m := range w.members {
		penalty := w.penalty(m, float64(n))
		factor := g.factors[w.factorOf[m]*size*size : (w.factorOf[m]+1)*size*size]
		for j := range k {
			c := m*k + j
			for i := range size {
				s.slope[i*e*k+c] += float64(penalty * coef[i*e*k+c])
				s.v[i] = s.slope[i*e*k+c]
			}
			vec.CholeskySolve(factor, size, s.v)
			gain, square := 0.0, 0.0
			for i, d := range s.v {
				d32 := float32(d)
				s.step[i*e*k+c] = d32
				d = float64(d32)
				gain += float64(d * s.slope[i*e*k+c])
				square += float64(d * d)
			}
			s.size[c] = gain
			s.slope[c] = float64(penalty * square) // done with
		}
	}
	s.scores = state.Extend(s.scores[:0], n*e*k)
	w.bank.SumBlocks(s.scores, b, v.x, s.step, e*k)
	w.lengths()
	for i, d := range s.step {
		coef[i] -= float64(s.size[i%(e*k)] * float64(d))
	}
	for i := range n {
		f, d := v.f[i*e*k:(i+1)*e*k], s.scores[i*e*k:(i+1)*e*k]
		for c, t := range s.size {
			f[c] -= float64(t * d[c])
		}
	}
	w.resetDiverged(coef)
	w.stepForest()
}

// penalty returns the weight of half the squared coefficients of a member for a
// window of some rows. The multiple of a member is right from gramRows on; with
// fewer, the noise in the mean loss is larger, by the root of their number.
func (w *newton) penalty(m int, rows float64) float64 {
	shortWindow := math.Sqrt(max(1, gramRows/rows))
	return shortWindow * w.Fit.Lambda * w.members[m].lambda * float64(w.Options.MaxBlocks()*w.Options.BlockSize) / w.members[m].rho
}

// maxCurvature stands for the second derivative of a loss that has no bound for
// it, or a larger one. Chosen by trial.
const maxCurvature = 10

// curvature returns the bound of the second derivative of the loss that steps use.
func (w *newton) curvature() float64 { return min(maxCurvature, w.Head.Loss.Smoothness()) }

const (
	// minTotalWeight is the weight of the rows of a member below which there is
	// nothing to learn; sums can be divided by it.
	minTotalWeight = 1e-100

	// chunkRows is a number of rows whose gradients stay in the cache.
	chunkRows = 64

	// interceptStep is the part of its own Newton step that the intercept takes, at
	// the same time as the features, which can also shift all scores.
	interceptStep = 0.5
)

// gradient computes the gradient of each member's weighted mean loss in the scores
// of each row of the window, and updates the intercepts. It returns false if the rows
// have no weight.
func (w *newton) gradient() bool {
	n, k, e, targets := w.window.rows, w.Head.Scores(), len(w.members), w.Head.Parts()
	s, v := &w.scratch, &w.window
	s.g = state.Extend(s.g[:0], n*e*k)
	s.total = state.Extend(s.total[:0], e)
	total := s.total
	clear(total)
	for i, weight := range v.weights[:n] {
		age := v.age(i)
		for m, who := range w.members {
			if age < who.rows {
				total[m] += weight
			}
		}
	}
	for _, t := range total {
		if !(t > minTotalWeight) {
			return false
		}
	}
	mean := make([]float64, e*k)
	for from := 0; from < n; from += chunkRows {
		end := min(from+chunkRows, n)
		w.Head.Grads(s.g[from*e*k:end*e*k], v.f[from*e*k:end*e*k], v.targets[from*targets:end*targets], e)
		for i := from; i < end; i++ {
			age := v.age(i)
			for m, who := range w.members {
				g := s.g[(i*e+m)*k : (i*e+m+1)*k]
				share := v.weights[i] / total[m]
				if age >= who.rows || share == 0 {
					clear(g)
					continue
				}
				for j, d := range g {
					g[j] = float64(share * max(-target.MaxResidual, min(target.MaxResidual, d)))
					mean[m*k+j] += g[j]
				}
			}
		}
	}
	// The intercepts change before the block does, but its gradient is that from
	// before: it takes them into account at the next step.
	h := w.curvature()
	for c, d := range mean {
		mean[c] = d * interceptStep / h
		w.intercept[c] -= mean[c]
	}
	for i := 0; i < n*e*k; i += e * k {
		for c, d := range mean {
			v.f[i+c] -= d
		}
	}
	return true
}

// lengths turns the gain of the direction in each score into the step size: to the
// minimum of a parabola along it, whatever rows the Gram matrix is of. The parabola
// has the bound of the loss's curvature, so that no step increases the loss of the
// window; for losses of probabilities, that of target.CurvatureAlong.
func (w *newton) lengths() {
	n, k, e, h := w.window.rows, w.Head.Scores(), len(w.members), w.curvature()
	s, v := &w.scratch, &w.window
	probabilities := w.Head.Probabilities()
	curvature := make([]float64, e*k)
	for i := range n {
		weight, age := v.weights[i], v.age(i)
		for m, who := range w.members {
			if age >= who.rows || weight == 0 {
				continue
			}
			share := weight / s.total[m]
			at := (i*e + m) * k
			for j, d := range s.scores[at : at+k] {
				c := h
				if probabilities {
					c = target.CurvatureAlong(math.Abs(s.g[at+j])/share, h)
				}
				curvature[m*k+j] += float64(share * float64(c*float64(d*d)))
			}
		}
	}
	for c, gain := range s.size {
		bound := curvature[c] + s.slope[c]
		t := 0.0
		if gain > 0 && bound > 0 {
			t = min(maxStepFactor, gain/bound)
		}
		s.size[c] = t
	}
}

// maxStepFactor bounds a step size, of which 1 is that by the bound of the curvature.
// Chosen by trial.
const maxStepFactor = 4

// maxTotalLoss bounds the decayed loss of a member: no further sum overflows.
const maxTotalLoss = 1e300

// resetDiverged resets a member that has diverged, in its loss, its intercepts or the
// coefficients given, which are those of a block.
func (w *newton) resetDiverged(coef []float64) {
	k, e, n := w.Head.Scores(), len(w.members), w.Head.Parts()
	for m := range w.members {
		fine := true
		for _, l := range w.loss[m*n : (m+1)*n] {
			fine = fine && l < maxTotalLoss
		}
		for i := m * k; i < len(coef) && fine; i += e * k {
			for _, v := range coef[i : i+k] {
				fine = fine && math.Abs(v) < engine.MaxCoefficient/10
			}
		}
		for _, v := range w.intercept[m*k : (m+1)*k] {
			fine = fine && math.Abs(v) < engine.MaxCoefficient/10
		}
		if fine && !w.forest.diverged[m] {
			continue
		}
		w.forest.reset(m)
		for i := m * k; i < len(w.coef); i += e * k {
			clear(w.coef[i : i+k])
		}
		clear(w.intercept[m*k : (m+1)*k])
		for i := m * k; i < len(w.window.f); i += e * k {
			clear(w.window.f[i : i+k])
		}
		clear(w.loss[m*n : (m+1)*n])
		if m < w.averaged {
			for i := m * k; i < len(w.averageCoef); i += w.averaged * k {
				clear(w.averageCoef[i : i+k])
			}
			clear(w.averageIntercept[m*k : (m+1)*k])
		}
	}
}
