package newton

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// step changes one block.
func (w *newton) step() {
	n, k, e, most := w.window.rows, w.Head.Scores(), len(w.members), w.Options.MaxBlocks()
	size := 2 * w.Options.BlockSize
	s, v := &w.scratch, &w.window
	b := w.next % most
	w.next = (b + 1) % most
	if b == w.bank.Blocks() {
		w.bank.Grow(b + 1)
		w.w = append(w.w, make([]float64, size*e*k)...)
		w.mean = append(w.mean, make([]float64, size*averages*k)...)
		w.grams = append(w.grams, gram{})
	}
	if !w.gradient() {
		return
	}
	s.slope = state.Extend(s.slope[:0], size*e*k)
	w.bank.Gradient(s.slope, b, v.x, s.g, e*k)
	w.refresh(b)

	g := &w.grams[b]
	coef := w.w[b*size*e*k : (b+1)*size*e*k]
	s.step = state.Extend(s.step[:0], size*e*k)
	s.size = state.Extend(s.size[:0], e*k)
	s.v = state.Extend(s.v[:0], size)
	for m := range w.members {
		penalty := w.penalty(m, float64(n))
		factor := g.factors[m*size*size : (m+1)*size*size]
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
	s.sums = state.Extend(s.sums[:0], n*e*k)
	w.bank.SumBlocks(s.sums, b, v.x, s.step, e*k)
	w.lengths()
	for i, d := range s.step {
		coef[i] -= float64(s.size[i%(e*k)] * float64(d))
	}
	for i := range n {
		f, d := v.f[i*e*k:(i+1)*e*k], s.sums[i*e*k:(i+1)*e*k]
		for c, t := range s.size {
			f[c] -= float64(t * d[c])
		}
	}
	w.guard(coef)
}

// penalty returns the weight of half the squares of a member's coefficients for a
// window of some rows. A member has what is right for gramRows of them and more;
// fewer say less beside their noise.
func (w *newton) penalty(m int, rows float64) float64 {
	few := math.Sqrt(max(1, gramRows/rows))
	return few * w.Fit.Lambda * w.members[m].lambda * float64(w.Options.MaxBlocks()*w.Options.BlockSize)
}

// curvature bounds the second derivative of the loss, or stands for it where
// there is no bound.
func (w *newton) curvature() float64 { return min(10, w.Head.Loss.Smoothness()) }

// gradient sets g to the gradient of each member's weighted mean loss in the
// sums of each row of the window, and moves the intercepts. It says false where
// no row has a weight.
func (w *newton) gradient() bool {
	n, k, e, targets := w.window.rows, w.Head.Scores(), len(w.members), w.Head.Targets()
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
		if !(t > 1e-100) {
			return false
		}
	}
	mean := make([]float64, e*k)
	const some = 64 // rows, whose gradients stay in a cache
	for from := 0; from < n; from += some {
		end := min(from+some, n)
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
	// The intercepts move first, and the gradient with them only at the next step:
	// they take half of their own Newton step.
	h := w.curvature()
	for c, d := range mean {
		mean[c] = d * 0.5 / h
		w.intercept[c] -= mean[c]
	}
	for i := 0; i < n*e*k; i += e * k {
		for c, d := range mean {
			v.f[i+c] -= d
		}
	}
	return true
}

// lengths turns the gains of the step in each output into how far it goes: to
// the least of a parabola along it, whatever rows the Gram matrix is of. The
// parabola has the bound of the loss's curvature, so that no step makes the
// window's loss greater; where the loss is one of probabilities p, whose
// curvature p(1-p) is far below its bound for most rows, twice that and a little.
func (w *newton) lengths() {
	n, k, e, h := w.window.rows, w.Head.Scores(), len(w.members), w.curvature()
	s, v := &w.scratch, &w.window
	probabilities := w.Head.Probabilities()
	bend := make([]float64, e*k)
	for i := range n {
		weight, age := v.weights[i], v.age(i)
		for m, who := range w.members {
			if age >= who.rows || weight == 0 {
				continue
			}
			share := weight / s.total[m]
			at := (i*e + m) * k
			for j, d := range s.sums[at : at+k] {
				c := h
				if probabilities {
					c = target.CurvatureAlong(math.Abs(s.g[at+j])/share, h)
				}
				bend[m*k+j] += float64(share * float64(c*float64(d*d)))
			}
		}
	}
	for c, gain := range s.size {
		bound := bend[c] + s.slope[c]
		t := 0.0
		if gain > 0 && bound > 0 {
			t = min(farthestStep, gain/bound)
		}
		s.size[c] = t
	}
}

// farthestStep bounds a step in units of that of the bound of the curvature.
const farthestStep = 4

// guard begins a member anew that has left the numbers one can compute with, in
// its loss, its intercepts or the coefficients given, which are a block's.
func (w *newton) guard(coef []float64) {
	k, e, n := w.Head.Scores(), len(w.members), w.Head.Targets()
	for m := range w.members {
		fine := true
		for _, l := range w.loss[m*n : (m+1)*n] {
			fine = fine && l < 1e300
		}
		for i := m * k; i < len(coef) && fine; i += e * k {
			for _, v := range coef[i : i+k] {
				fine = fine && math.Abs(v) < engine.MaxCoefficient/10
			}
		}
		for _, v := range w.intercept[m*k : (m+1)*k] {
			fine = fine && math.Abs(v) < engine.MaxCoefficient/10
		}
		if fine {
			continue
		}
		for i := m * k; i < len(w.w); i += e * k {
			clear(w.w[i : i+k])
		}
		clear(w.intercept[m*k : (m+1)*k])
		for i := m * k; i < len(w.window.f); i += e * k {
			clear(w.window.f[i : i+k])
		}
		clear(w.loss[m*n : (m+1)*n])
		if m < averages {
			for i := m * k; i < len(w.mean); i += averages * k {
				clear(w.mean[i : i+k])
			}
			clear(w.level[m*k : (m+1)*k])
		}
	}
}
