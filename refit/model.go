package refit

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Data is what a model is refitted to.
type Data struct {
	Features Matrix    // a row for each example
	Targets  []float64 // rows x Outputs: numbers for Square, otherwise -1 or 1
	Outputs  int       // problems that share the features: 1
	Weights  []float64 // of the rows, in the mean of their losses: 1 each
}

// OneVersusRest returns the targets, rows x classes, of one problem a class, with
// 1 for the class of the row and -1 otherwise; or one column if there are two
// classes, with 1 for class 1.
func OneVersusRest(class []int, classes int) []float64 {
	outputs := classes
	if classes == 2 {
		outputs = 1
	}
	b := make([]float64, len(class)*outputs)
	for i := range b {
		b[i] = -1
	}
	for i, c := range class {
		if classes > 2 {
			b[i*outputs+c] = 1
		} else if c == 1 {
			b[i] = 1
		}
	}
	return b
}

// Options say how to refit. The zero value of each field stands for what its
// comment names.
type Options struct {
	Loss     Loss      // required
	Lambda   float64   // λ₂: required
	L1       float64   // λ₁: 0
	Relative float64   // gap to reach, over the objective of the model 0: 1e-3
	Passes   int       // at most, for each output: 100
	Start    []float64 // coefficients, features x Outputs, to begin with and to certify: 0
	Seed     uint64

	Progress func(output int, at Point)
	Clock    func() float64 // in seconds; without it, Fit.Seconds is 0
}

// A Fit is a refitted model and what is certain of it. Primal, Dual and gaps are
// sums over the outputs.
type Fit struct {
	Coefficients []float64 // features x Outputs
	Primal, Dual float64
	Relative     float64 // gap over the objective of the model 0

	// Bound is the most by which any output differs from the optimal model's, for
	// every row whose features have at most the greatest norm that those of the
	// Data have, which is all rows if they are from the function Features: the
	// norm times √(2 gap/λ₂) of the output for which that is greatest.
	Bound float64

	// StartPrimal is the objective of the Start, and StartGap the gap of the
	// certificate that it has on its own, which is loose. Suboptimality is the
	// tight one, with the Dual of the refit: by how much the Start is at most
	// above the optimum, and by StartPrimal - Primal it is at least.
	StartPrimal, StartGap, Suboptimality float64

	Direct  bool    // from the normal equations; then there are no passes
	Passes  float64 // the most of any output
	Seconds float64
	Reached bool // the relative gap, by every output

	duals []float64 // of the outputs
	unit  float64   // of relative gaps
	norm  float64   // the greatest of a row's features
}

// Gap bounds by how much the objective of the refit is above the optimum.
func (f *Fit) Gap() float64 { return f.Primal - f.Dual }

// Refit minimises the objective over the coefficients of fixed features: by the
// normal equations for the square loss where they are the cheaper way, and
// otherwise with DSPDC, one dual and all primal coordinates a step, in random
// permutations and with steps greater than the theorems'. Where ctx ends, it returns the Fit so far with ctx's error; the
// outputs that were not begun keep the Start.
func Refit(ctx context.Context, d Data, o Options) (*Fit, error) {
	if d.Outputs == 0 {
		d.Outputs = 1
	}
	if d.Features == nil {
		return nil, errors.New("a refit without features")
	}
	n, cols := d.Features.Dims()
	if o.Relative == 0 {
		o.Relative = 1e-3
	}
	if o.Passes == 0 {
		o.Passes = 100
	}
	if o.Start == nil {
		o.Start = make([]float64, cols*d.Outputs)
	}
	if d.Weights != nil {
		if len(d.Weights) != n {
			return nil, fmt.Errorf("%d weights of %d rows", len(d.Weights), n)
		}
		d.Weights = shares(d.Weights)
	}
	if d.Outputs < 1 || len(d.Targets) != n*d.Outputs || len(o.Start) != cols*d.Outputs || !(o.Relative > 0) {
		return nil, fmt.Errorf("%d targets and %d coefficients to start with, of %d rows, %d features and %d outputs; relative gap %v",
			len(d.Targets), len(o.Start), n, cols, d.Outputs, o.Relative)
	}
	r := &refitting{Data: d, Options: o, cols: cols, fit: &Fit{Coefficients: append([]float64(nil), o.Start...), Reached: true}}
	begin := r.now()
	err := r.run(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	r.fit.Seconds = r.now() - begin
	return r.fit, err
}

// move makes f the certificate of coefficients near those that were solved for,
// through the same dual solution.
func (f *Fit) move(d Data, o Options, coefficients []float64) error {
	d.Weights = shares(d.Weights)
	r := &refitting{Data: d, Options: o}
	_, r.cols = d.Features.Dims()
	x := make([]float64, r.cols)
	f.Coefficients, f.Primal, f.Bound = coefficients, 0, 0
	for k := range d.Outputs {
		p := r.problem(k)
		for j := range x {
			x[j] = coefficients[j*d.Outputs+k]
		}
		c := p.certificate(p.Primal(x), f.duals[k])
		f.Primal += c.Primal
		f.Bound = max(f.Bound, f.norm*c.Distance)
	}
	f.Relative = f.Gap() / f.unit
	return nil
}

type refitting struct {
	Data
	Options
	cols int
	fit  *Fit
}

func (r *refitting) now() float64 {
	if r.Clock == nil {
		return 0
	}
	return r.Clock()
}

func (r *refitting) problem(output int) *Problem {
	n, _ := r.Features.Dims()
	p := &Problem{A: r.Features, Targets: make([]float64, n), Weights: r.Weights, Loss: r.Loss, L2: r.Lambda, L1: r.L1}
	for i := range n {
		p.Targets[i] = r.Targets[i*r.Outputs+output]
	}
	return p
}

func (r *refitting) run(ctx context.Context) error {
	var equations *normal
	scale, _ := Scale(r.Features, r.cols, 1)
	r.fit.norm = math.Sqrt(scale)
	for k := range r.Outputs {
		p := r.problem(k)
		if err := p.validate(); err != nil {
			return err
		}
		if k == 0 && r.direct() {
			equations, _ = newNormal(ctx, r.Features, r.Weights, r.Lambda)
		}
		start := Start{X: make([]float64, r.cols)}
		for j := range start.X {
			start.X[j] = r.Start[j*r.Outputs+k]
		}
		before, y := p.Certify(start.X)
		start.Y = y
		s := &Solution{X: start.X, Certificate: before, Reached: before.Relative <= r.Relative}
		var err error
		if ctx.Err() == nil && !s.Reached {
			if s, err = r.solve(ctx, p, k, equations, start, scale); s == nil {
				return err
			}
		}
		r.add(p, k, before, s)
	}
	f := r.fit
	f.Relative = f.Gap() / f.unit
	f.Suboptimality = f.StartPrimal - f.Dual
	return ctx.Err()
}

// solve solves one output's problem, directly if that gives the gap. The theorems
// ask for Λ, but half of it needs about 0.7 of the passes, and it takes a quarter
// to diverge, on all data so far. Should it diverge, Λ is there.
func (r *refitting) solve(ctx context.Context, p *Problem, output int, equations *normal, start Start, scale float64) (*Solution, error) {
	if equations != nil {
		if s := equations.solve(p); s.Relative <= r.Relative {
			r.fit.Direct = true
			return s, nil
		}
	}
	c := Config{Scale: scale / 2, Relative: r.Relative, Passes: r.Passes, Seed: r.Seed, Shuffle: true}
	if r.Progress != nil {
		c.Progress = func(at Point) { r.Progress(output, at) }
	}
	s, err := Solve(ctx, p, c, start)
	if errors.Is(err, ErrDiverged) {
		c.Scale = scale
		return Solve(ctx, p, c, start)
	}
	return s, err
}

// add puts the solution of one output into the Fit.
func (r *refitting) add(p *Problem, output int, before Certificate, s *Solution) {
	f := r.fit
	for j, x := range s.X {
		f.Coefficients[j*r.Outputs+output] = x
	}
	f.unit += p.unit()
	f.duals = append(f.duals, s.Certificate.Dual)
	f.Primal += s.Certificate.Primal
	f.Dual += s.Certificate.Dual
	f.StartPrimal += before.Primal
	f.StartGap += before.Gap()
	f.Bound = max(f.Bound, f.norm*s.Distance)
	f.Passes = max(f.Passes, s.Passes)
	f.Reached = f.Reached && s.Reached
}

// direct reports whether the normal equations cost less than the passes that the
// steps' contraction makes likely, for each output, or are what such a small gap
// needs. They take p² numbers of memory.
func (r *refitting) direct() bool {
	if r.Loss != (Square{}) || r.L1 != 0 || r.cols > MostDirect {
		return false
	}
	n, p := float64(len(r.Targets)/r.Outputs), float64(r.cols)
	passes := min(float64(r.Passes), 4+4*r.fit.norm/math.Sqrt(2*r.Lambda*n))
	const perPass = 10 // a pass waits for memory: it is worth so many multiplications a number of the matrix
	gram := n / 2
	if _, ok := r.Features.(*Single); ok {
		gram /= 10
	}
	return (gram+p/6)*p*p <= passes*perPass*n*p*float64(r.Outputs) || r.Relative < 1e-9
}

// MostDirect is how many features they are for: a Cholesky factor cannot be told
// to stop.
const MostDirect = 2100
