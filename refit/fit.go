package refit

import (
	"context"
	"errors"
	"math"

	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim"
)

// A Fit has fitted coefficients and their certificate. Primal, Dual and gaps are sums over the
// scores.
type Fit struct {
	Coefficients []float64 // features x scores
	Primal, Dual float64
	Relative     float64 // gap relative to the objective of the zero model

	// Bound bounds the difference of any score from that of the optimal model. It holds for every
	// row whose features have at most the largest norm among the examples; with random features,
	// that is every row. It is this norm times √(2 gap/λ), for the score for which that is largest.
	Bound float64

	// StartPrimal is the objective of the start, and StartGap is the gap of the certificate of the
	// start itself, which is loose. Suboptimality is a tight bound, by the Dual of the fit: the
	// start is above the optimum by at most Suboptimality, and by at least StartPrimal - Primal.
	StartPrimal, StartGap, Suboptimality float64

	Direct  bool    // solved by the normal equations, without passes
	Passes  float64 // largest number of passes of any score
	Seconds float64
	Reached bool // every score has reached the relative gap

	duals []float64 // dual values of the scores
	unit  float64   // relative gaps are multiples of it
	norm  float64   // largest norm of the features of a row
}

// Gap bounds by how much the objective is above the optimum.
func (f *Fit) Gap() float64 { return f.Primal - f.Dual }

// fitScores minimises the objective of each score over the coefficients. For the square loss it
// uses the normal equations if that is cheaper. Otherwise it uses DSPDC with one dual and all
// primal coordinates a step, in random permutations, and with larger steps than those of the
// theorems. When ctx ends, it returns the Fit so far together with the error of ctx; scores that
// were not solved yet keep the start. A nil start stands for 0.
func fitScores(ctx context.Context, e *examples, l loss.Dual, o Options, start []float64) (*Fit, error) {
	_, columns := e.features.Dims()
	if start == nil {
		start = make([]float64, columns*e.scores)
	}
	r := &scoreFit{examples: e, Options: o.effective(), loss: l, columns: columns, start: start, fit: &Fit{Coefficients: append([]float64(nil), start...), Reached: true}}
	begin := r.now()
	err := r.run(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	r.fit.Seconds = r.now() - begin
	return r.fit, err
}

// certifyScores makes f the certificate of coefficients close to those that were solved for, using
// the same dual solution.
func (f *Fit) certifyScores(e *examples, l loss.Dual, o Options, coefficients []float64) {
	_, columns := e.features.Dims()
	x := make([]float64, columns)
	f.Coefficients, f.Primal, f.Bound = coefficients, 0, 0
	for k := range e.scores {
		for j := range x {
			x[j] = coefficients[j*e.scores+k]
		}
		c := e.problem(l, o.Lambda, k).CertifyBy(x, f.duals[k])
		f.Primal += c.Primal
		f.Bound = max(f.Bound, f.norm*c.Distance)
	}
	f.Relative = f.Gap() / f.unit
}

// scoreFit is the state of fitScores.
type scoreFit struct {
	*examples
	Options
	loss    loss.Dual
	columns int
	start   []float64
	fit     *Fit
	scale   float64 // Λ of the features
}

func (r *scoreFit) run(ctx context.Context) error {
	var equations *optim.NormalEquations
	r.scale, _ = optim.Scale(r.features, r.columns, 1)
	r.fit.norm = math.Sqrt(r.scale)
	for k := range r.scores {
		p := r.problem(r.loss, r.Lambda, k)
		if err := p.Validate(); err != nil {
			return err
		}
		if k == 0 && r.direct() {
			equations, _ = optim.NewNormalEquations(ctx, r.features, r.weights, r.Lambda)
		}
		start := optim.Start{X: make([]float64, r.columns)}
		for j := range start.X {
			start.X[j] = r.start[j*r.scores+k]
		}
		before, y := p.Certify(start.X)
		start.Y = y
		s := &optim.Solution{X: start.X, Certificate: before, Reached: before.Relative <= r.Relative}
		var err error
		if ctx.Err() == nil && !s.Reached {
			if s, err = r.solve(ctx, p, k, equations, start); s == nil {
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

// scaleShare is the share of Λ that a refit uses in its step sizes. With half of Λ it needs about
// 0.7 of the passes. On all data so far, it diverged only at a quarter of Λ.
const scaleShare = 0.5

// solve solves the problem of one score, by the normal equations if these reach the gap. If DSPDC
// diverges, solve repeats it with all of Λ, as in the theorems.
func (r *scoreFit) solve(ctx context.Context, p *optim.Problem, score int, equations *optim.NormalEquations, start optim.Start) (*optim.Solution, error) {
	if equations != nil {
		s, err := equations.Solve(p)
		if err != nil {
			return nil, err
		}
		if s.Relative <= r.Relative {
			r.fit.Direct = true
			return s, nil
		}
	}
	c := optim.Config{Scale: r.scale * scaleShare, Relative: r.Relative, Passes: r.Passes, Shuffle: true}
	if q := r.Coordinates; q > 0 && q < r.columns {
		n, _ := r.features.Dims()
		c.Primal, c.Dual, c.Scale = q, max(1, int(float64(n)*float64(q)/float64(r.columns))), 0
	}
	if r.ByNorm {
		c.ByNorm, c.Shuffle = true, false
	}
	if r.Progress != nil {
		c.Progress = func(at optim.Point) { r.Progress(score, at) }
	}
	s, err := optim.Solve(ctx, p, c, start)
	if errors.Is(err, optim.ErrDiverged) {
		c.Scale = r.scale
		return optim.Solve(ctx, p, c, start)
	}
	return s, err
}

// add adds the solution of one score to the Fit.
func (r *scoreFit) add(p *optim.Problem, score int, before optim.Certificate, s *optim.Solution) {
	f := r.fit
	for j, x := range s.X {
		f.Coefficients[j*r.scores+score] = x
	}
	f.unit += p.GapUnit()
	f.duals = append(f.duals, s.Certificate.Dual)
	f.Primal += s.Certificate.Primal
	f.Dual += s.Certificate.Dual
	f.StartPrimal += before.Primal
	f.StartGap += before.Gap()
	f.Bound = max(f.Bound, f.norm*s.Distance)
	f.Passes = max(f.Passes, s.Passes)
	f.Reached = f.Reached && s.Reached
}

// MaxDirect is the largest number of features, including the constant, for which the normal
// equations are used. The Cholesky factor of more features would take seconds, during which it
// could not be stopped.
const MaxDirect = 2100

const (
	// perPass is the cost of a pass for each element of the matrix, in multiplications of the
	// normal equations. A pass waits for memory.
	perPass = 10

	// gramSpeed is how many times faster the multiplications of the Gram matrix, in float32, are
	// than others.
	gramSpeed = 10

	// leastGap is the relative gap below which passes make no progress.
	leastGap = 1e-9
)

// direct reports whether to use the normal equations, which take p² numbers of memory. It does if
// they cost less than the number of passes for each score that the contraction of the steps
// suggests, or if the gap is so small that passes would not reach it.
func (r *scoreFit) direct() bool {
	if r.loss != (loss.Square{}) || r.columns > MaxDirect || r.l1 > 0 || r.Coordinates > 0 || r.ByNorm {
		return false
	}
	n, p := float64(len(r.targets)/r.scores), float64(r.columns)
	passes := min(float64(r.Passes), 4+4*r.fit.norm/math.Sqrt(2*r.Lambda*n))
	gram := n / 2 / gramSpeed
	return (gram+p/6)*p*p <= passes*perPass*n*p*float64(r.scores) || r.Relative < leastGap
}
