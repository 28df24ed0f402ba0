package refit

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// A Method is a way to solve a Problem.
type Method string

const (
	DSPDC Method = "dspdc" // Yu, Lin and Yang 2015, Algorithms 1 and 2
	SPDC  Method = "spdc"  // Zhang and Xiao 2015: DSPDC with all primal coordinates
	SDCA  Method = "sdca"  // Shalev-Shwartz and Zhang 2013
	SVRG  Method = "svrg"  // Johnson and Zhang 2013; with a proximal map, Xiao and Zhang 2014
)

// Config says how to solve. The zero value of each field stands for what its
// comment names.
type Config struct {
	Method  Method  // DSPDC
	Primal  int     // q, the primal coordinates a step: all of them; for DSPDC only
	Dual    int     // m, the dual coordinates a step: 1; not for SVRG
	Scale   float64 // Λ: that of the function Scale; for DSPDC and SPDC only
	Theorem int     // whose steps to take: 2, which is about the gap; or 1, about distances
	Seed    uint64

	// Shuffle has the dual coordinates taken in random permutations, rather than
	// drawn anew for each step as the theorems have it. That needs fewer passes.
	Shuffle bool

	// It is over when the gap is at most Gap or at most Relative P(0), either of
	// them more than 0, and after so many passes: 1000 of them. A pass touches each number of the matrix
	// twice, once in Ax and once in Aᵀy: n/m or p/q steps, whichever is more, or
	// (n+p)/(m+q) if the matrix is Factored.
	Gap, Relative float64
	Passes        int

	Progress func(Point)    // called with the first state and after every pass
	Clock    func() float64 // in seconds; without it, Point.Seconds is 0
}

// A Point is where a solver is.
type Point struct {
	Passes       float64
	Iterations   int64
	Seconds      float64 // of solving, without those of evaluating Primal and Dual
	Primal, Dual float64
}

// Gap is what P(x) is at most above the optimum.
func (p Point) Gap() float64 { return p.Primal - p.Dual }

// Start is where to begin. Without X, that is 0; without Y, the Y that Certify
// pairs with X, or the loss's Start if there is no X.
type Start struct{ X, Y []float64 }

// A Solution is a pair of solutions and its certificate, which comes from
// products computed anew.
type Solution struct {
	X, Y []float64
	Certificate
	Point           // the last of Trace; its Primal and Dual are the Certificate's
	Scale   float64 // Λ as it was used
	Trace   []Point // the first state, and one for every pass
	Reached bool    // the gap that was asked for
}

// Gap bounds P(X) - P(x*).
func (s *Solution) Gap() float64 { return s.Certificate.Gap() }

// ErrDiverged is returned when the gap has grown a million times. With an exact Λ,
// or one that is not below it, that does not happen; one that Solve estimates is
// doubled until it does not. Where y is bounded, as it is for the losses of
// classification, a scale that is too small may show in a gap that stays.
var ErrDiverged = errors.New("the iterates diverged: the scale may be too small")

// A method is the state of a solver between two steps.
type method interface {
	// step makes an iteration, and returns how much of a pass it is.
	step() float64

	// pair is the current x and y, and where they are at hand, Ax and Aᵀy.
	pair() (x, y, ax, aty []float64)

	// refresh computes what is kept up to date by small changes anew.
	refresh()
}

// Solve minimises p from a start, which it does not change. Where ctx ends, it
// returns the Solution so far together with ctx's error.
func Solve(ctx context.Context, p *Problem, c Config, start Start) (*Solution, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	n, cols := p.A.Dims()
	if c.Primal == 0 {
		c.Primal = cols
	}
	if c.Dual == 0 {
		c.Dual = 1
	}
	if c.Theorem == 0 {
		c.Theorem = 2
	}
	if c.Passes == 0 {
		c.Passes = 1000
	}
	if c.Primal < 1 || c.Primal > cols || c.Dual < 1 || c.Dual > n || c.Theorem < 1 || c.Theorem > 2 || c.Passes < 0 || !(c.Scale >= 0) {
		return nil, fmt.Errorf("%d of %d primal and %d of %d dual coordinates, theorem %d, %d passes, scale %v", c.Primal, cols, c.Dual, n, c.Theorem, c.Passes, c.Scale)
	}
	if _, _, err := start.pair(p); err != nil {
		return nil, err
	}
	estimated := false
	switch c.Method {
	case SPDC, DSPDC, "":
		if c.Method == SPDC {
			c.Primal = cols
		}
		if c.Scale == 0 {
			var exact bool
			c.Scale, exact = Scale(p.A, c.Primal, c.Dual)
			estimated = !exact
		}
	case SDCA, SVRG:
	default:
		return nil, fmt.Errorf("no method is named %q: want dspdc, spdc, sdca or svrg", c.Method)
	}
	return escalate(c, estimated, func(c Config) (*Solution, error) {
		x, y, _ := start.pair(p)
		switch c.Method {
		case SDCA:
			return run(ctx, p, c, newSDCA(p, c, y))
		case SVRG:
			return run(ctx, p, c, newSVRG(p, c, x))
		}
		return run(ctx, p, c, newDSPDC(p, c, x, y))
	})
}

// escalate solves, and where that diverges for an estimate of Λ, solves again from
// the start with twice as much.
func escalate(c Config, estimated bool, solve func(Config) (*Solution, error)) (*Solution, error) {
	for range 30 {
		s, err := solve(c)
		if !estimated || !errors.Is(err, ErrDiverged) {
			return s, err
		}
		c.Scale *= 2
	}
	return solve(c)
}

// refreshEvery is the number of passes after which rounding errors of sums that
// are kept up to date are taken away.
const refreshEvery = 16

func run(ctx context.Context, p *Problem, c Config, m method) (*Solution, error) {
	n, cols := p.A.Dims()
	ax, aty := make([]float64, n), make([]float64, cols)
	s := &Solution{Scale: c.Scale}
	h := harness{clock: c.Clock, progress: c.Progress, goal: max(c.Gap, c.Relative*p.unit()), passes: c.Passes}
	err := h.run(ctx, m.step, func(exact bool) (float64, float64) {
		if exact || len(h.trace)%refreshEvery == 0 {
			m.refresh()
		}
		x, y, z, u := m.pair()
		if z == nil || exact {
			z = ax
			multiply(z, p.A, x)
		}
		if u == nil || exact {
			u = aty
			multiplyTransposed(u, p.A, y)
		}
		return p.primal(x, z), p.dual(y, u)
	})
	s.X, s.Y, _, _ = m.pair()
	s.Trace, s.Reached, s.Point = h.trace, h.reached, h.trace[len(h.trace)-1]
	s.Certificate = p.certificate(s.Point.Primal, s.Point.Dual)
	return s, err
}

// pair returns copies of the start's x and y, or what stands in for them.
func (s Start) pair(p *Problem) (x, y []float64, err error) {
	n, cols := p.A.Dims()
	x, y = make([]float64, cols), make([]float64, n)
	if s.X != nil && len(s.X) != cols || s.Y != nil && len(s.Y) != n {
		return nil, nil, fmt.Errorf("a start of %d and %d numbers for a matrix of %d columns and %d rows", len(s.X), len(s.Y), cols, n)
	}
	copy(x, s.X)
	switch {
	case s.Y != nil:
		copy(y, s.Y)
	case s.X != nil:
		_, y = p.Certify(x)
	default:
		for i := range p.Targets {
			y[i] = p.start(i)
		}
	}
	for i := range p.Targets {
		if !(p.conjugate(i, y[i]) <= math.MaxFloat64) {
			return nil, nil, fmt.Errorf("the start's y[%d] is %v, which is not a dual variable of the loss %v", i, y[i], p.Loss)
		}
	}
	return x, y, nil
}
