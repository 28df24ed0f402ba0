// Package descent is doubly stochastic gradient descent (Dai et al. 2014): the rules that
// choose the blocks of a step, the step sizes, and the directions.
package descent

import (
	"cmp"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Engine is doubly stochastic functional gradient descent: each mini-batch is one
// step along the gradient of its loss, in the blocks that the rule chooses. Its
// columns are the scores of the iterate and those of its average; it serves whichever
// of them had the lower recent loss.
type Engine struct {
	engine.Problem
	rule      Rule
	direction direction
	stepSize  *StepSize // nil for the schedule that needs no tuning

	Bank          *features.Bank
	Coef          coefficients
	traces        []float64 // blocks × scores; see Situation
	intercept     []float64 // 2 × scores
	candidateCoef []float32 // coefficients as predictions use them: features × 2·scores
	averaged      bool      // whether the average serves
	choice        choice

	step Step // under way

	servedCoef []float32 // scratch
	slope      []float64 // in the blocks of the step, features × scores
	mean       []float64 // of the rows of step.Residuals
	norms      []float64
}

// New returns the engine of a rule and a direction. size is nil for the schedule that
// needs no tuning.
func New(p engine.Problem, rule Rule, direction direction, size *StepSize) *Engine {
	return &Engine{
		Problem: p, rule: rule, direction: direction, stepSize: size,
		Bank:      p.Bank(),
		Coef:      newCoefficients(p.Head.Scores()),
		intercept: slices.Concat(p.Prior, p.Prior),
	}
}

func (d *Engine) Columns() int { return len(d.intercept) }

func (d *Engine) Served() int {
	if d.averaged {
		return len(d.intercept) / 2
	}
	return 0
}

func (d *Engine) Score(dst []float64, x []float32, n int) []float64 {
	return engine.Scores(dst, d.Bank, x, d.candidateCoef, d.intercept, n)
}

func (d *Engine) Features() int { return d.Bank.Blocks() * d.Options.BlockSize }

func (d *Engine) Serving() engine.Served {
	from, k := d.Served(), d.Head.Scores()
	d.servedCoef = d.servedCoef[:0]
	for i := 0; i < len(d.candidateCoef); i += 2 * k {
		d.servedCoef = append(d.servedCoef, d.candidateCoef[i+from:i+from+k]...)
	}
	return engine.Served{Blocks: d.Bank.Blocks(), Intercept: d.intercept[from : from+k], Coef: d.servedCoef}
}

func (d *Engine) Widen(h target.Head, prior []float64, total float64) {
	from, to := d.Head.Scores(), h.Scores()
	d.Head = h
	if to == from { // from one class to two
		d.intercept = slices.Concat(prior, prior)
		return
	}
	d.intercept = append(h.WidenIntercept(d.intercept[:from], total), h.WidenIntercept(d.intercept[from:], total)...)
	d.Coef.widen(&h, from)
	d.direction.Widen(&h, from)
	d.traces = h.Widen(d.traces, from)
	d.candidateCoef = make([]float32, 2*len(d.Coef.u))
	d.Coef.serve(d.candidateCoef)
}

func (d *Engine) Learn(p *engine.Minibatch) {
	if d.Head.Task == target.Classification && d.Head.Classes < 2 {
		return // there is nothing to distinguish the only class from
	}
	d.choose(p)
	k := d.Head.Scores()
	g, squares := d.gradient(p)
	if g == nil {
		return
	}
	t := d.Coef.Steps + 1
	from, to, rate := d.rule.Choose(&Situation{
		Step: t, Seed: d.Options.Seed,
		Blocks: d.Bank.Blocks(), MaxBlocks: d.maxBlocks(),
		Rate: d.schedule().Rate(t - d.Coef.since), Ceiling: d.ceiling(),
		AtCap: cmp.Or(d.Options.AtCap, defaultCapOf(d.rule, d.Options.Direction)),
		Mean:  d.mean, Squares: squares, Rows: len(p.Labels),
		Traces: d.traces, Slopes: d.slopes,
		Newton: d.newton(),
	})
	if from == to {
		return
	}
	if p.Part > 0 { // fewer rows, whose gradient is noisier
		rate *= p.Part
	}
	width := 2 * d.Options.BlockSize
	if to > d.Bank.Blocks() {
		d.Bank.Grow(to)
		d.Coef.grow(to*width - len(d.Coef.u)/k)
		d.direction.Grow(len(d.Coef.u))
		d.candidateCoef = state.Extend(d.candidateCoef, 2*len(d.Coef.u)-len(d.candidateCoef))
	}
	d.slope = state.Extend(d.slope[:0], (to-from)*width*k)
	d.Bank.Gradient(d.slope, from, p.X, g, k)
	// The step size is right for rows like those of the warm-up. On others the
	// curvature along this gradient can be larger.
	share := 1 / float64(d.Options.BlockSize*(to-from))
	if curvature := d.step.Smoothness * share * vec.Dot(d.slope, d.slope) / squares; rate*curvature > 1 && !d.newton() {
		rate = 1 / curvature
	}
	rate = min(rate, maxShrink/d.lambda())
	shrink := 1 - float64(rate*d.lambda())
	d.Coef.scale(shrink)
	d.step.Head, d.step.Features, d.step.from, d.step.to, d.step.rate = &d.Head, d.Bank, from, to, rate
	d.step.Since, d.step.Lambda = d.Coef.Steps-d.Coef.since, d.lambda()
	d.direction.Apply(&d.step, d.slope)
	d.Coef.add(from*width, 1, d.slope)
	d.trace(from, to, rate, shrink)
	rho := d.Coef.average(d.Options.Averaging == "uniform")

	// The intercept is the kernel 1, for which the rate of the features can be
	// unstable.
	slow := min(rate, interceptStep/d.step.Smoothness)
	if d.newton() {
		slow = rate / d.step.Smoothness
	}
	for j, mean := range d.mean {
		d.intercept[j] -= float64(slow * mean)
		d.intercept[k+j] += float64(rho * (d.intercept[j] - d.intercept[k+j]))
	}
	d.Coef.serve(d.candidateCoef)
}

const (
	// interceptStep is the intercept's largest step, as a part of its Newton step.
	interceptStep = 0.5

	// maxShrink is the largest part of all coefficients that a step may take away.
	maxShrink = 0.5

	// forgetFactor multiplies what was learned before a drift if the reaction is to forget. Chosen
	// by trial, see docs/constants.md.
	forgetFactor = 0.5

	// ceilingMargin allows for the error of the largest eigenvalue, which is that of a sample.
	// Chosen by trial, see docs/constants.md.
	ceilingMargin = 1.05
)

// React starts the schedule of the step size and the average again.
func (d *Engine) React(r engine.Reaction) {
	d.Coef.since = d.Coef.Steps
	if r == engine.ReactForget {
		d.Coef.scale(forgetFactor)
		for i := range d.traces {
			d.traces[i] *= forgetFactor
		}
	}
	d.direction.React()
	d.choice = choice{}
	d.averaged = false
	d.Coef.serve(d.candidateCoef)
}

// maxBlocks returns the number of blocks from which on the model does not grow. If a new class has
// made its blocks larger than the memory for them, that is the number that it has.
func (d *Engine) maxBlocks() int {
	return max(d.Bank.Blocks(), d.Options.BlocksWithin(features.FeatureBytes(d.Fit.Kernel, d.Dim), d.Head.Scores()))
}

// ceiling returns the step size above which a step overshoots along the kernel's
// first eigenvector. The curvature of losses of probabilities reaches its bound only
// where the classes are equally likely; half of it counts.
func (d *Engine) ceiling() float64 {
	if d.newton() {
		if d.Head.Probabilities() {
			return 1
		}
		return precondRate
	}
	c := 1 / (ceilingMargin * d.step.Smoothness * d.Fit.TopEigenvalue)
	if d.Head.Probabilities() {
		c *= 2
	}
	return c
}

// schedule returns the schedule of the step size.
func (d *Engine) schedule() StepSize {
	if d.stepSize != nil {
		return *d.stepSize
	}
	o := &d.Options
	size := NewStepSize(d.step.Smoothness, d.Fit.TopEigenvalue, o.Minibatch, o.BlockSize, d.lambda())
	size.Rough = math.IsInf(d.Head.Loss.Smoothness(), 1)
	if d.newton() {
		size = StepSize{First: precondRate}
	}
	if o.StepSize > 0 {
		size.First = o.StepSize
	}
	if o.Theta > 0 {
		size.Lambda, size.Rough = 1/o.Theta, false
	}
	return size
}

// lambda returns the weight of ‖f‖²/2 in the objective.
func (d *Engine) lambda() float64 { return cmp.Or(d.Options.Lambda, d.Fit.Lambda) }

// newton reports whether step sizes are parts of a Newton step in a block.
func (d *Engine) newton() bool {
	_, ok := d.direction.(*precond)
	return ok
}

// trace adds a step to the traces of its blocks, if the rule uses them.
func (d *Engine) trace(from, to int, rate, shrink float64) {
	if _, ok := d.rule.(Tracer); !ok {
		return
	}
	k := len(d.mean)
	for i := range d.traces {
		d.traces[i] *= shrink
	}
	d.traces = append(d.traces, make([]float64, d.Bank.Blocks()*k-len(d.traces))...)
	for b := from; b < to; b++ {
		for j, mean := range d.mean {
			d.traces[b*k+j] -= float64(rate * mean)
		}
	}
}

// slopes implements Situation.Slopes.
func (d *Engine) slopes() (products, squares []float64) {
	n, k := d.Bank.Blocks(), d.Head.Scores()
	size := 2 * d.Options.BlockSize * k
	d.slope = state.Extend(d.slope[:0], n*size)
	d.Bank.Gradient(d.slope, 0, d.step.X, d.step.Residuals, k)
	d.norms = state.Extend(d.norms[:0], 2*n)
	products, squares = d.norms[:n], d.norms[n:]
	for b := range n {
		g := d.slope[b*size : (b+1)*size]
		products[b] = d.Coef.shrink * vec.Dot(d.Coef.u[b*size:(b+1)*size], g)
		squares[b] = vec.Dot(g, g) / float64(d.Options.BlockSize)
	}
	return products, squares
}
