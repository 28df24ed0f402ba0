package refit

import (
	"context"
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/refit/optim"
)

// fitSoftmax is fitScores for the multinomial loss, for which all scores are one problem. Its steps
// use the bound AᵀA/2n + λI of the second derivative (Böhning 1992), which is factored once, and
// Nesterov's momentum, which restarts when it points uphill (O'Donoghue and Candès 2015). A pass is
// one such step.
func fitSoftmax(ctx context.Context, e *examples, o Options, start []float64) (*Fit, error) {
	o = o.effective()
	if e.scores < 2 {
		return nil, fmt.Errorf("softmax of %d scores: want 2 or more", e.scores)
	}
	s, err := newSoftmax(e, o.Lambda)
	if err != nil {
		return nil, err
	}
	equations, err := optim.NewNormalEquations(ctx, e.features, e.weights, 2*o.Lambda)
	if err != nil {
		return nil, err
	}
	begin := o.now()
	f := &Fit{unit: s.gapUnit(), norm: e.norm(), Dual: math.Inf(-1)}
	d := newSoftmaxDescent(s, equations, e.byScore(start))
	f.descend(ctx, o, begin, o.Passes, func() (primal, dual float64) {
		primal = d.evaluate()
		return primal, s.dual(d.u, d.z)
	}, func() {
		if f.Passes == 0 || int(f.Passes)%lineSearchEvery != 0 || !d.lineSearch() {
			d.step()
		}
	})
	f.Coefficients = e.byFeature(d.at)
	return f, ctx.Err()
}

// softmaxDescent is accelerated descent on a softmax objective. Its vectors have one column for
// each class, one column after another.
type softmaxDescent struct {
	*softmax
	equations *optim.NormalEquations
	x, next   []float64 // the last iterate, and scratch for the one after
	at        []float64 // where the gradient is taken: an iterate with momentum
	momentum  float64
	z, u      []float64 // distributions and gradient at at
	move      []float64 // change of one column
}

func newSoftmaxDescent(s *softmax, equations *optim.NormalEquations, start []float64) *softmaxDescent {
	n, p := s.a.Dims()
	vector := func() []float64 { return make([]float64, p*s.classes) }
	d := &softmaxDescent{
		softmax: s, equations: equations, x: start, next: vector(), at: vector(), momentum: 1,
		z: make([]float64, n*s.classes), u: vector(), move: make([]float64, p),
	}
	copy(d.at, d.x)
	return d
}

// evaluate sets z and u for at, and returns its objective.
func (d *softmaxDescent) evaluate() float64 {
	d.scores(d.z, d.at)
	primal := d.primal(d.at, d.z)
	d.gradient(d.u, d.z)
	return primal
}

// step moves at by the bound of the second derivative, and then by momentum.
func (d *softmaxDescent) step() {
	n, p := d.a.Dims()
	uphill := 0.0
	for c := range d.classes {
		column := d.at[c*p : (c+1)*p]
		for j, v := range column {
			d.move[j] = d.u[c*p+j] + float64(d.l2*v)
		}
		gradient := append([]float64(nil), d.move...)
		d.equations.SolveVector(d.move)
		for j, v := range column {
			d.next[c*p+j] = v - float64(float64(2*float64(n))*d.move[j])
			uphill += float64(gradient[j] * (d.next[c*p+j] - d.x[c*p+j]))
		}
	}
	if uphill > 0 {
		d.momentum = 1
	}
	after := (1 + math.Sqrt(1+float64(4*d.momentum*d.momentum))) / 2
	beta := (d.momentum - 1) / after
	for j, v := range d.next {
		d.at[j] = v + float64(beta*(v-d.x[j]))
	}
	d.x, d.next, d.momentum = d.next, d.x, after
}

const (
	// lineSearchEvery is the number of passes after which a line search is tried. It takes the
	// scores of two points, whereas a pass takes those of one. With it, letter, which has 26
	// classes, needs 46 passes (docs/dspdc.md).
	lineSearchEvery = 6

	// leastLineStep is the smallest part of the line that is tried.
	leastLineStep = 1e-4
)

// lineSearch moves at towards -u/λ, as far as that lowers P. This is the x that belongs to the dual
// variables with the gradient u. Steps by a bound of the second derivative are short in directions
// about which the rows say little; a line search can move far there. It reports whether it has
// moved at, and overwrites z.
func (d *softmaxDescent) lineSearch() bool {
	x, z := d.at, d.z
	to, toScores := make([]float64, len(x)), make([]float64, len(z))
	d.scores(z, x)
	for j, v := range d.u {
		to[j] = -v / d.l2
	}
	d.scores(toScores, to)
	try, mix := make([]float64, len(x)), make([]float64, len(z))
	objective := func(t float64) float64 {
		for j, v := range x {
			try[j] = v + float64(t*(to[j]-v))
		}
		for j, v := range z {
			mix[j] = v + float64(t*(toScores[j]-v))
		}
		return d.primal(try, mix)
	}
	least, best := objective(0), 0.0
	for t := 1.0; t > leastLineStep; t /= 2 {
		if v := objective(t); v < least {
			least, best = v, t
		} else if best > 0 {
			break // P is convex
		}
	}
	for j, v := range x {
		x[j] = v + float64(best*(to[j]-v))
	}
	if best == 0 {
		return false
	}
	copy(d.x, x)
	d.momentum = 1
	return true
}
