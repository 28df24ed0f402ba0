package newton

import (
	"math"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// step changes the next block. A caller has made sure that the window has rows.
func (w *newton) step() {
	k, e, most := w.Head.Scores(), len(w.members), w.mostBlocks(w.window.rows)
	size := 2 * w.Options.BlockSize
	s := &w.scratch
	b := w.next % most
	w.next = (b + 1) % most
	if b == w.bank.Blocks() {
		w.bank.Grow(b + 1)
		w.coef = grown(w.coef, size*e*k)
		w.averageCoef = grown(w.averageCoef, size*w.averaged*k)
		w.grams = append(w.grams, w.newGram())
	}
	s.team.Resize(w.stepCores())
	if !w.gradient() {
		return
	}
	s.slope = state.Extend(s.slope[:0], size*e*k)
	w.changed.blocks = append(w.changed.blocks, b)
	w.slope(b)
	w.refresh(b)
	coef := w.coef[b*size*e*k : (b+1)*size*e*k]
	w.direction(&w.grams[b], coef)
	w.sums(b)
	w.lengths()
	for i, d := range s.step {
		coef[i] -= float64(s.size[i%(e*k)] * float64(d))
	}
	if s.stepRows == nil {
		s.stepRows = w.stepRows
	}
	s.team.Run(vec.Panels(w.window.rows, panelsPerTask*vec.Lanes), s.stepRows)
	w.resetDiverged(coef)
	w.stepForest()
}

// stepRows changes the scores of some panels of rows.
func (w *newton) stepRows(_, task int) {
	own, s := w.Head.Scores()*len(w.members), &w.scratch
	columns := features.SumColumns(own)
	for r := task * panelsPerTask; r < min((task+1)*panelsPerTask, vec.Panels(w.window.rows, vec.Lanes)); r++ {
		from, at := r*columns*vec.Lanes, r*own*vec.Lanes
		vec.StepLines(w.window.f[at:at+own*vec.Lanes], s.d[from:from+own*vec.Lanes], s.gradient.shift, s.size)
	}
}

// panelsPerTask is the number of panels of rows that one core takes at a time.
const panelsPerTask = 8

// workPerCore is the number of multiply-adds of a step that justify another core: a tenth of
// a millisecond, of which it takes about half to begin.
const workPerCore = 1 << 22

// stepCores returns the number of cores that a step justifies.
func (w *newton) stepCores() int {
	columns := w.Head.Scores() * len(w.members)
	return w.window.rows * w.Options.BlockSize * (w.Dim + 12 + 4*columns) / workPerCore
}

// slope computes the gradient in the coefficients of block b.
func (w *newton) slope(b int) {
	n, columns, s := w.window.rows, w.Head.Scores()*len(w.members), &w.scratch
	if w.bank.Holds() {
		s.held.Team = &s.team
		w.bank.HoldGradient(&s.held, b, w.window.packed, w.window.of, n, s.slope, s.gradient.factors, columns, s.gradient.inUse)
		return
	}
	s.g = state.Extend(s.g[:0], n*columns)
	for i := range s.g {
		s.g[i] = float64(s.gradient.factors[place(i/columns, i%columns, columns)])
	}
	w.bank.Gradient(s.slope, b, w.window.x, s.g, columns)
}

// sums computes the products of the features of block b with the step, in panels of
// features.SumColumns lines.
func (w *newton) sums(b int) {
	n, columns, s := w.window.rows, w.Head.Scores()*len(w.members), &w.scratch
	lines := features.SumColumns(columns)
	s.d = state.Extend(s.d[:0], vec.Panels(n, vec.Lanes)*vec.Lanes*lines)
	if w.bank.Holds() {
		s.held.Sum(s.d, s.step, columns)
		return
	}
	s.scores = state.Extend(s.scores[:0], n*columns)
	w.bank.SumBlocks(s.scores, b, w.window.x, s.step, columns)
	clear(s.d[(n/vec.Lanes)*vec.Lanes*lines:]) // of no row
	for i, f := range s.scores {
		s.d[place(i/columns, i%columns, lines)] = f
	}
}

// direction computes the step of each column from its slope, and what lengths needs: the
// gain in size, and the curvature of the penalty in the first of slope.
func (w *newton) direction(g *gram, coef []float64) {
	size, k, columns := 2*w.Options.BlockSize, w.Head.Scores(), w.Head.Scores()*len(w.members)
	s := &w.scratch
	s.step = state.Extend(s.step[:0], size*columns)
	s.size = state.Extend(s.size[:0], columns)
	s.penalties = state.Extend(s.penalties[:0], columns)
	penalties := s.penalties
	for c := range penalties {
		penalties[c] = w.penalty(c/k, float64(w.window.rows))
	}
	for i := range size {
		for c, p := range penalties {
			s.slope[i*columns+c] += float64(p * coef[i*columns+c])
		}
	}
	for f := range w.factors {
		factor, of := g.factors[f*size*size:(f+1)*size*size], s.of[:0]
		for c := range columns {
			if w.factorOf[c/k] == f {
				of = append(of, c)
			}
		}
		s.of = of
		for ; len(of) > 0; of = of[min(perSolution, len(of)):] {
			w.solve(factor, of[:min(perSolution, len(of))])
		}
	}
	clear(s.size)
	s.squares = state.Extend(s.squares[:0], columns)
	clear(s.squares)
	for i := range size {
		slope := s.slope[i*columns : (i+1)*columns]
		for c, v := range s.step[i*columns : (i+1)*columns] {
			d := float64(v)
			s.size[c] += float64(d * slope[c])
			s.squares[c] += float64(d * d)
		}
	}
	for c, p := range penalties {
		s.slope[c] = float64(p * s.squares[c])
	}
}

// perSolution is the number of right-hand sides of vec.CholeskySolves.
const perSolution = 8

// solve computes the step of some columns, which have the same factor.
func (w *newton) solve(factor []float64, of []int) {
	size, columns, s := 2*w.Options.BlockSize, w.Head.Scores()*len(w.members), &w.scratch
	sides := perSolution
	if len(of) <= 2 { // which alone take less time
		sides = 1
	}
	for len(of) > 0 {
		now := of[:min(sides, len(of))]
		of = of[len(now):]
		s.v = state.Extend(s.v[:0], size*sides)
		for i := range size {
			v, slope := s.v[i*sides:(i+1)*sides], s.slope[i*columns:(i+1)*columns]
			for l, c := range now {
				v[l] = slope[c]
			}
			clear(v[len(now):])
		}
		if sides == 1 {
			vec.CholeskySolve(factor, size, s.v)
		} else {
			vec.CholeskySolves(factor, size, s.v)
		}
		for i := range size {
			v, step := s.v[i*sides:(i+1)*sides], s.step[i*columns:(i+1)*columns]
			for l, c := range now {
				step[c] = float32(v[l])
			}
		}
	}
}

// penalty returns the weight of half the squared coefficients of a member for a
// window of some rows. The multiple of a member is right from gramRows on; with
// fewer, the noise in the mean loss is larger, by the root of their number.
func (w *newton) penalty(m int, rows float64) float64 {
	shortWindow := math.Sqrt(max(1, gramRows/rows))
	return shortWindow * w.Fit.Lambda * w.members[m].lambda * float64(w.mostBlocks(int(rows))*w.Options.BlockSize) / w.members[m].rho
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

	// interceptStep is the part of its own Newton step that the intercept takes, at
	// the same time as the features, which can also shift all scores.
	interceptStep = 0.5
)

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
		w.changed.all = true
		w.discarded |= keepsAll
		for i := m * k; i < len(w.coef); i += e * k {
			clear(w.coef[i : i+k])
		}
		clear(w.intercept[m*k : (m+1)*k])
		for i := m * k * vec.Lanes; i < len(w.window.f); i += e * k * vec.Lanes {
			clear(w.window.f[i : i+k*vec.Lanes])
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
