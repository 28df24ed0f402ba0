// Package oneclass is novelty detection: a one-class support vector machine on a window of the most
// recent rows. Its threshold moves so that the share of flagged rows stays at the configured value.
package oneclass

import (
	"math"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Algorithm is the algorithm for the task Novelty.
var Algorithm = engine.Algorithm{
	Name: "one-class", Help: "one-class support vector machine on a window of recent rows; for task novelty",
	New:       func(p engine.Problem) engine.Engine { return newEngine(p) },
	Minibatch: 32, BlockSize: 64, FeatureBytes: 8 << 10,
}

// The constants of one-class, listed in docs/constants.md.
const (
	// maxFeatures is the number of random features. Chosen by trial.
	maxFeatures = 1024

	// windowRows is the number of rows in the window. Chosen by trial.
	windowRows = 2048

	// visits is the number of rows of the window that a mini-batch solves for in addition to its
	// own. Chosen by trial.
	visits = 256

	// thresholdStep is the step size of the threshold, as a multiple of the mean distance of a row
	// from it. spreadDecay is the factor by which a mini-batch multiplies the weight of earlier
	// distances in that mean. Chosen by trial.
	thresholdStep = 0.3
	spreadDecay   = 0.98
)

// oneClass minimises, over the window,
//
//	½‖w‖² - Σᵢ aᵢ      with w = Σᵢ aᵢ φ(xᵢ) and 0 ≤ aᵢ ≤ c,
//
// which is the dual of the one-class support vector machine (Schölkopf et al. 2001), in units in
// which its ρ is 1. It uses coordinate descent: aᵢ moves to where f(xᵢ) = ⟨w, φ(xᵢ)⟩ is 1, or to a
// bound. The bound c follows from ν: Σ aᵢ = ν n c. The score of a row is the cosine of the angle
// between w and φ(x).
//
// The threshold ρ of the cosines is the ν-quantile of the cosines of the window plus an offset.
// Each of these cosines is computed without the row's own part of w. The offset moves like ρ in
// doubly stochastic gradient descent (Dai et al. 2014, section 3), by -step·(share flagged - ν).
// Whatever the stream does, the share of flagged rows tends to ν, because the offset is bounded
// (Gibbs and Candès 2021, proposition 4.1).
type oneClass struct {
	engine.Problem
	nu   float64
	bank *features.Bank

	rows    int64     // learned so far; row i is at i mod windowRows
	cursor  int       // the next row to visit again
	x       []float32 // the window, rows × inputs
	phi     []float64 // features of these rows, not normalised; not part of the State
	alpha   []float64
	weights []float64 // weights of the rows: alpha is at most bound times the weight
	cosines []float64 // cosine of each row without its own part, as of its last visit

	w         []float64 // Σ alpha·phi
	bound     float64
	offset    float64
	spread    float64 // mean distance of recent rows from the threshold
	threshold float64

	coef []float32 // coefficients that give the cosine

	scale float64   // inverseNorm at the start of a stage of Learn
	fold  []float32 // scratch
	sort  []float64
}

func newEngine(p engine.Problem) *oneClass {
	blocks := max(1, min(p.Options.MaxFeatures, maxFeatures)/p.Options.BlockSize)
	e := &oneClass{Problem: p, nu: p.Head.Loss.(loss.OneClass).Nu, bank: p.Bank(), bound: 1}
	e.bank.Grow(blocks)
	e.w, e.coef = make([]float64, e.width()), make([]float32, e.width())
	return e
}

// width returns the number of cosines and sines.
func (e *oneClass) width() int { return 2 * e.Features() }

func (e *oneClass) Features() int { return e.bank.Blocks() * e.Options.BlockSize }
func (e *oneClass) Columns() int  { return 1 }
func (e *oneClass) Served() int   { return 0 }

func (e *oneClass) Score(dst []float64, x []float32, n int) []float64 {
	return engine.Scores(dst, e.bank, x, e.coef, []float64{-e.threshold}, n)
}

func (e *oneClass) Serving() engine.Served {
	return engine.Served{Blocks: e.bank.Blocks(), Intercept: []float64{-e.threshold}, Coef: e.coef}
}

// Widen does nothing: there are no classes.
func (e *oneClass) Widen(target.Head, []float64, float64) {}

func (e *oneClass) Learn(p *engine.Minibatch) {
	e.follow(p)
	n, d := len(p.Labels), e.Dim
	e.scale = e.inverseNorm()
	for i := range n {
		e.add(p.X[i*d:(i+1)*d], p.Weights[i])
	}
	e.scale = e.inverseNorm()
	for range min(visits, len(e.alpha)) {
		e.visit(e.cursor)
		e.cursor = (e.cursor + 1) % len(e.alpha)
	}
	e.serve()
}

// follow moves the offset of the threshold, given the share of the rows of p that were flagged.
func (e *oneClass) follow(p *engine.Minibatch) {
	if e.rows == 0 {
		return
	}
	n := float64(len(p.Labels))
	flagged, distance := 0.0, 0.0
	var row [2]float64
	for _, f := range p.Scores {
		if e.Head.PredictNovelty(row[:], f, -e.threshold); target.Novel(row[:]) {
			flagged++
		}
		distance += math.Abs(f)
	}
	if e.spread == 0 {
		e.spread = distance / n
	}
	e.spread += float64((1 - spreadDecay) * (distance/n - e.spread))
	e.offset -= float64(float64(thresholdStep*e.spread) * (flagged/n - e.nu))
	e.offset = max(-2, min(2, e.offset)) // the difference of two cosines is at most 2, so that larger offsets have no effect
}

// add puts a row into the window. If the window is full, it replaces the oldest row.
func (e *oneClass) add(x []float32, weight float64) {
	at, width := int(e.rows%windowRows), e.width()
	if at == len(e.alpha) {
		e.x = append(e.x, x...)
		e.phi = state.Extend(e.phi, width)
		e.alpha, e.weights, e.cosines = append(e.alpha, 0), append(e.weights, weight), append(e.cosines, 0)
	} else {
		e.move(at, 0)
		copy(e.x[at*e.Dim:], x)
		e.weights[at] = weight
	}
	e.expand(at, 1)
	e.rows++
	e.visit(at)
}

// expand computes the features of rows of the window, starting with row at.
func (e *oneClass) expand(at, rows int) {
	width := e.width()
	e.fold = state.Extend(e.fold[:0], rows*width)
	e.bank.Features(e.fold, 0, e.x[at*e.Dim:(at+rows)*e.Dim])
	for i, v := range e.fold {
		e.phi[at*width+i] = float64(v)
	}
}

// row returns the features of a row of the window.
func (e *oneClass) row(at int) []float64 { return e.phi[at*e.width() : (at+1)*e.width()] }

// move sets the coefficient of a row.
func (e *oneClass) move(at int, alpha float64) {
	if d := alpha - e.alpha[at]; d != 0 {
		vec.Axpy(d, e.row(at), e.w)
		e.alpha[at] = alpha
	}
}

// visit solves for the coefficient of a row while the others stay as they are. Features
// have the squared norm Features().
func (e *oneClass) visit(at int) {
	m := float64(e.Features())
	f := vec.Dot(e.row(at), e.w) / m
	e.cosines[at] = (f - e.alpha[at]) * e.scale * m
	e.move(at, max(0, min(e.alpha[at]+1-f, float64(e.bound*e.weights[at]))))
}

// inverseNorm returns the factor that turns the product of w and the features of a row into a
// cosine.
func (e *oneClass) inverseNorm() float64 {
	norm := math.Sqrt(vec.Dot(e.w, e.w) * float64(e.Features()))
	if !(norm > 1e-12) {
		return 0
	}
	return 1 / norm
}

// serve computes the numbers that predictions need, and the bound for the next steps.
func (e *oneClass) serve() {
	if e.rows%windowRows < int64(e.Options.Minibatch) {
		e.sum()
	}
	total, weights := 0.0, 0.0
	for i, a := range e.alpha {
		total += a
		weights += e.weights[i]
	}
	if e.bound = 1; weights > 0 {
		e.bound = max(total, 1e-3) / float64(e.nu*weights)
	}
	e.setCoefficients()
	e.sort = append(e.sort[:0], e.cosines...)
	e.threshold = warmup.Nth(e.sort, int(e.nu*float64(len(e.sort)))) + e.offset
}

func (e *oneClass) setCoefficients() {
	scale := e.inverseNorm()
	for i, v := range e.w {
		e.coef[i] = float32(v * scale)
	}
}

// sum computes w from its definition, so that rounding errors do not accumulate.
func (e *oneClass) sum() {
	clear(e.w)
	for i, a := range e.alpha {
		vec.Axpy(a, e.row(i), e.w)
	}
}
