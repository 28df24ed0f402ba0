package newton

import (
	"math"
	"slices"

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
		w.addBlock()
	}
	w.changed.blocks = append(w.changed.blocks, b)
	s.team.Resize(w.stepCores(b))
	s.team.Start()
	if !w.gradient() {
		return
	}
	s.slope = state.Extend(s.slope[:0], size*e*k)
	w.slope(b)
	w.refresh(b)
	coef := w.coef[b*size*e*k : (b+1)*size*e*k]
	w.direction(&w.grams[b], coef)
	w.sums(b)
	if w.lengths() < leastLength && w.Options.Fitting {
		w.grams[b].visits = fittingVisits // its rows are not like those of the window
	}
	w.takeStep(coef)
	w.stepForest()
}

// addBlock adds a block whose coefficients are 0.
func (w *newton) addBlock() {
	k, size := w.Head.Scores(), 2*w.Options.BlockSize
	w.bank.Grow(w.bank.Blocks() + 1)
	w.coef = grown(w.coef, size*len(w.members)*k)
	w.averageCoef = grown(w.averageCoef, size*w.averaged*k)
	w.grams = append(w.grams, w.newGram())
}

// takeStep changes the scores of the rows and the coefficients of the block.
func (w *newton) takeStep(coef []float64) {
	s, columns := &w.scratch, w.Head.Scores()*len(w.members)
	if s.stepRows == nil {
		s.stepRows = func(_, task int) {
			if rows := vec.Panels(w.window.rows, panelsPerTask*vec.Lanes); task >= rows {
				w.stepCoefficients(task - rows)
			} else {
				w.stepScores(task)
			}
		}
	}
	s.stepped, s.far = coef, state.Extend(s.far[:0], vec.Panels(len(coef)/columns, featuresPerTask))
	s.team.RunNear(vec.Panels(w.window.rows, panelsPerTask*vec.Lanes)+len(s.far), w.runsTogether(), s.stepRows)
	if !slices.Contains(s.far, true) {
		coef = nil
	}
	w.resetDiverged(coef)
}

// stepCoefficients changes the coefficients of some features of the block, and notes whether one
// of them may have diverged.
func (w *newton) stepCoefficients(task int) {
	s, columns := &w.scratch, w.Head.Scores()*len(w.members)
	far := false
	for at := task * featuresPerTask * columns; at < min((task+1)*featuresPerTask*columns, len(s.stepped)); at += columns {
		coef := s.stepped[at : at+columns]
		for i, d := range s.step[at : at+columns] {
			v := coef[i] - float64(s.size[i]*float64(d))
			coef[i] = v
			far = far || !(math.Abs(v) < mostCoefficient)
		}
	}
	s.far[task] = far
}

// mostCoefficient is the absolute value of a coefficient at which a member has diverged.
const mostCoefficient = engine.MaxCoefficient / 10

// stepScores changes the scores of some panels of rows.
func (w *newton) stepScores(task int) {
	own, s := w.Head.Scores()*len(w.members), &w.scratch
	columns := features.SumColumns(own)
	for r := task * panelsPerTask; r < min((task+1)*panelsPerTask, vec.Panels(w.window.rows, vec.Lanes)); r++ {
		from, at, n := r*columns*vec.Lanes, r*own*vec.Lanes, w.columnsOf(r)
		vec.StepLines(w.window.f[at:at+n*vec.Lanes], s.d[from:from+n*vec.Lanes], s.gradient.shift[:n], s.size[:n])
	}
}

// columnsOf returns how many of the first columns of scores a step changes in panel r of the rows.
// In a model with a mixture these end with the last member that learns from a row of the run that
// the panel is in. The scores of later members are not needed: once a row is too old for a member,
// the member never learns from it again.
func (w *newton) columnsOf(r int) int {
	if !w.Options.Lean {
		return w.Head.Scores() * len(w.members)
	}
	return w.scratch.gradient.inUse[r*vec.Lanes/vec.Run]
}

// panelsPerTask and featuresPerTask are the numbers of panels of rows, and of cosines and sines of a
// block, that one core takes at a time.
const panelsPerTask, featuresPerTask = 8, 32

// workPerCore is the number of multiply-adds of a step that justify another core: they take about
// 50 microseconds, as long as the core takes to begin. While a window grows, it has begun for the
// step before. Half as many justify it for the scores of rows, because the core has just computed
// those of other machines.
const workPerCore = 1 << 21

// workPerLeaf is the number of multiply-adds that take as long as a row in a tree, where its leaf
// has to be found.
const workPerLeaf = 64

// stepCores returns the number of cores that a step in block b justifies.
func (w *newton) stepCores(b int) int {
	if w.alone {
		return 1
	}
	rows, size, columns := w.window.rows, 2*w.Options.BlockSize, w.Head.Scores()*len(w.members)
	work := rows * size / 2 * (w.Dim + 12 + 4*columns)
	if w.due(&w.grams[b]) {
		work += min(rows, gramRows)*size*size/2 + w.factors*size*size*size // which is in float64
	}
	if l := &w.forest; l.trees != nil {
		work += rows * len(l.members) * w.Head.Scores() * (w.treesNow() + l.pairs) * workPerLeaf
	}
	return work / workPerCore
}

// scoreCores returns the number of cores that the scores of n rows justify.
func (w *newton) scoreCores(n int) int {
	if w.alone {
		return 1
	}
	return 2 * n * w.Features() * (w.Dim + 12 + 2*w.Columns()) / workPerCore
}

// slope computes the gradient in the coefficients of block b.
func (w *newton) slope(b int) {
	n, columns, s := w.window.rows, w.Head.Scores()*len(w.members), &w.scratch
	if w.bank.Holds() {
		s.held.Team, s.held.Together, s.held.Cache = s.team, w.runsTogether(), &w.cache
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
// features.SumColumns lines. If features are held, lengths computes them instead, panel by panel.
func (w *newton) sums(b int) {
	n, columns, s := w.window.rows, w.Head.Scores()*len(w.members), &w.scratch
	lines := features.SumColumns(columns)
	s.d = state.Extend(s.d[:0], vec.Panels(n, vec.Lanes)*vec.Lanes*lines)
	if w.bank.Holds() {
		s.held.SetCoefficients(s.step, columns)
		return
	}
	s.scores = state.Extend(s.scores[:0], n*columns)
	w.bank.SumBlocks(s.scores, b, w.window.x, s.step, columns)
	clear(s.d[(n/vec.Lanes)*vec.Lanes*lines:]) // of no row
	for i, f := range s.scores {
		s.d[place(i/columns, i%columns, lines)] = f
	}
}

// penalty returns the weight of half the squared coefficients of a member for a window of that many
// rows. The multiple of a member is right from gramRows on. With fewer rows the penalty is larger,
// by the root of gramRows/rows, because there is that much more noise in the mean loss.
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

// resetDiverged resets each member that has diverged: in its loss, its intercepts, its leaves, or
// coef, the coefficients of a block.
func (w *newton) resetDiverged(coef []float64) {
	k, e, n := w.Head.Scores(), len(w.members), w.Head.Parts()
	for m := range w.members {
		fine := true
		for _, l := range w.loss[m*n : (m+1)*n] {
			fine = fine && l < maxTotalLoss
		}
		for i := m * k; i < len(coef) && fine; i += e * k {
			for _, v := range coef[i : i+k] {
				fine = fine && math.Abs(v) < mostCoefficient
			}
		}
		for _, v := range w.intercept[m*k : (m+1)*k] {
			fine = fine && math.Abs(v) < mostCoefficient
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
