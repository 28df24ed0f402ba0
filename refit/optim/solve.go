package optim

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

// Config is the configuration of a solver. The comment of a field names its default, for which the
// zero value stands.
type Config struct {
	Method  Method  // DSPDC
	Primal  int     // q, the number of primal coordinates a step: all; for DSPDC only
	Dual    int     // m, the number of dual coordinates a step: 1; not for SVRG
	Scale   float64 // Λ: the result of the function Scale; for DSPDC and SPDC only
	Theorem int     // theorem that step sizes come from: 2, for the gap; or 1, for distances
	Seed    uint64

	// Shuffle takes the dual coordinates in random permutations. Otherwise they are drawn
	// independently in each step, as in the theorems. Permutations need fewer passes.
	Shuffle bool

	// ByNorm draws rows by their norms and weights instead of uniformly, for DSPDC and SPDC with
	// one dual and all primal coordinates. This needs fewer steps if few rows are much longer than
	// the mean, and up to twice as many if all rows have the same norm.
	ByNorm bool

	// Solving ends when the gap is at most Gap or at most Relative times P(0), whichever is larger,
	// if that is more than 0. It also ends after Passes passes: 1000. A pass touches each element
	// of the matrix twice, once in Ax and once in Aᵀy. It is n/m or p/q steps, whichever is more,
	// or (n+p)/(m+q) steps if the matrix is Factored.
	Gap, Relative float64
	Passes        int

	Progress func(Point)    // called with the first state and after every pass
	Clock    func() float64 // in seconds; without it, Point.Seconds is 0
}

// effective returns c with its defaults, for the given numbers of primal and dual coordinates, or
// of blocks of them.
func (c Config) effective(primal, dual int) (Config, error) {
	if c.Primal == 0 || c.Method == SPDC {
		c.Primal = primal
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
	switch {
	case c.Primal < 1 || c.Primal > primal:
		return c, fmt.Errorf("%d primal coordinates per step: want 1 to %d", c.Primal, primal)
	case c.Dual < 1 || c.Dual > dual:
		return c, fmt.Errorf("%d dual coordinates per step: want 1 to %d", c.Dual, dual)
	case c.Theorem < 1 || c.Theorem > 2:
		return c, fmt.Errorf("theorem %d: want 1 or 2", c.Theorem)
	case c.Passes < 0:
		return c, fmt.Errorf("%d passes: want 0 or more", c.Passes)
	case !(c.Scale >= 0):
		return c, fmt.Errorf("scale %v: want 0 or more", c.Scale)
	}
	return c, nil
}

// A Point is the state of a solver after some passes.
type Point struct {
	Passes       float64
	Iterations   int64
	Seconds      float64 // time of solving, without the evaluation of Primal and Dual
	Primal, Dual float64
}

// Gap bounds P(x) - P(x*).
func (p Point) Gap() float64 { return p.Primal - p.Dual }

// Start is where a solver starts. Without X, it starts at x = 0. Without Y, it starts at the Y that
// Certify pairs with X, or at the DualStart of the loss if there is no X either.
type Start struct{ X, Y []float64 }

// A Solution is a primal and a dual vector with their certificate. The products for the certificate
// are computed again at the end.
type Solution struct {
	X, Y []float64
	Certificate
	Point           // the last point of Trace; its Primal and Dual are those of the Certificate
	Scale   float64 // Λ as it was used
	Trace   []Point // the first state, and the state after every pass
	Reached bool    // the gap is as small as Config asks for
}

// Gap bounds P(X) - P(x*).
func (s *Solution) Gap() float64 { return s.Certificate.Gap() }

// Solve minimises p from a start, which it does not change. When ctx ends, it returns the Solution
// so far together with the error of ctx.
func Solve(ctx context.Context, p *Problem, c Config, start Start) (*Solution, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	n, columns := p.A.Dims()
	c, err := c.effective(columns, n)
	if err != nil {
		return nil, err
	}
	if _, _, err := start.vectors(p); err != nil {
		return nil, err
	}
	if !p.byColumn() && c.Primal < columns {
		return nil, fmt.Errorf("%d primal coordinates per step: want all %d where l1 is for groups", c.Primal, columns)
	}
	if c.ByNorm && (c.Dual != 1 || c.Primal != columns || c.Shuffle || c.Method == SDCA || c.Method == SVRG) {
		return nil, errors.New("rows are drawn by their norms with dspdc or spdc, one dual and all primal coordinates a step, and without permutations")
	}
	estimated := false
	switch c.Method {
	case SPDC, DSPDC, "":
		if c.Scale == 0 && !c.ByNorm {
			var exact bool
			c.Scale, exact = Scale(p.A, c.Primal, c.Dual)
			estimated = !exact
		}
	case SDCA, SVRG:
	default:
		return nil, fmt.Errorf("unknown method %q: want dspdc, spdc, sdca or svrg", c.Method)
	}
	return retryWithScale(c, estimated, func(c Config) (*Solution, error) {
		x, y, _ := start.vectors(p)
		switch c.Method {
		case SDCA:
			return run(ctx, p, c, newSDCA(p, c, y))
		case SVRG:
			return run(ctx, p, c, newSVRG(p, c, x))
		}
		if c.ByNorm {
			return run(ctx, p, c, newByNorm(p, c, x, y))
		}
		return run(ctx, p, c, newDSPDC(p, c, x, y))
	})
}

// mostDoublings bounds how often an estimate of Λ is doubled. That many doublings bring it from far
// below the true value to far above.
const mostDoublings = 30

// retryWithScale solves. If Λ is an estimate and the iterates diverge, it solves again from the
// start with twice the estimate.
func retryWithScale(c Config, estimated bool, solve func(Config) (*Solution, error)) (*Solution, error) {
	for range mostDoublings {
		s, err := solve(c)
		if !estimated || !errors.Is(err, ErrDiverged) {
			return s, err
		}
		c.Scale *= 2
	}
	return solve(c)
}

// vectors returns copies of x and y of the start, or of their defaults.
func (s Start) vectors(p *Problem) (x, y []float64, err error) {
	n, columns := p.A.Dims()
	x, y = make([]float64, columns), make([]float64, n)
	if s.X != nil && len(s.X) != columns || s.Y != nil && len(s.Y) != n {
		return nil, nil, fmt.Errorf("start has %d and %d elements, want %d (columns) and %d (rows)", len(s.X), len(s.Y), columns, n)
	}
	copy(x, s.X)
	switch {
	case s.Y != nil:
		copy(y, s.Y)
	case s.X != nil:
		_, y = p.Certify(x)
	default:
		for i := range y {
			p.start(y[i:i+1], i)
		}
	}
	var at [1]float64
	for i, v := range y {
		if !(p.conjugate(at[:], i, v) <= math.MaxFloat64) {
			return nil, nil, fmt.Errorf("start: y[%d] is %v, where the conjugate of the loss %v is not finite", i, v, p.Loss)
		}
	}
	return x, y, nil
}
