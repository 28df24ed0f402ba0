package optim

import (
	"context"
	"errors"
	"math"
)

// ErrDiverged means that the gap has grown to more than a million times the sum of the first gap
// and the first objective. This does not happen if Scale is at least Λ. If Scale is an estimate
// that is too small, it is doubled until the iterates converge. If dual variables are bounded, as
// for the losses of classification, a gap that does not fall may also show that Scale is too small.
var ErrDiverged = errors.New("the iterates diverged: the scale may be too small")

// divergence is the growth of a gap that counts as divergence. From a start far from the optimum, a
// gap may grow a few times.
const divergence = 1e6

// refreshEvery is the number of passes after which sums that are updated by small changes are
// computed again, so that their rounding errors do not add up.
const refreshEvery = 16

// A method is the state of a solver between two steps.
type method interface {
	// step makes an iteration, and returns its share of a pass.
	step() float64

	// iterate returns x and y, and also Ax and Aᵀy if they are available; otherwise nil for these.
	iterate() (x, y, ax, aty []float64)

	// refresh computes the sums again that are updated by small changes.
	refresh()
}

// An objective is the interface that a Problem and a BlockProblem share.
type objective interface {
	size() (rows, columns int)
	multiply(dst, x []float64)           // sets dst to Ax
	multiplyTransposed(dst, y []float64) // sets dst to Aᵀy
	primal(x, ax []float64) float64
	dual(y, aty []float64) float64
	GapUnit() float64
	convexity() float64 // λ
}

// run steps m until the gap is reached, all passes are made or ctx ends, and evaluates it after
// every pass.
func run(ctx context.Context, p objective, c Config, m method) (*Solution, error) {
	n, columns := p.size()
	r := runner{method: m, objective: p, Config: c, ax: make([]float64, n), aty: make([]float64, columns)}
	unit := p.GapUnit()
	r.goal = max(c.Gap, c.Relative*unit)
	err := r.run(ctx)
	s := &Solution{Scale: c.Scale, Trace: r.trace, Reached: r.reached, Point: r.trace[len(r.trace)-1]}
	s.X, s.Y, _, _ = m.iterate()
	s.Certificate = newCertificate(s.Point.Primal, s.Point.Dual, unit, p.convexity())
	return s, err
}

type runner struct {
	method
	objective
	Config
	goal    float64   // the gap to reach
	ax, aty []float64 // scratch
	trace   []Point
	reached bool
}

func (r *runner) now() float64 {
	if r.Clock == nil {
		return 0
	}
	return r.Clock()
}

func (r *runner) run(ctx context.Context) error {
	var at Point
	begin := r.now()
	evaluate := func(exact bool) { // the time of an evaluation does not count
		paused := r.now()
		at.Seconds = paused - begin
		at.Primal, at.Dual = r.evaluate(exact)
		r.reached = r.goal > 0 && at.Gap() <= r.goal
		begin += r.now() - paused
	}
	for due := 0.0; ; {
		evaluate(false)
		last := at.Passes >= float64(r.Passes) || ctx.Err() != nil
		if last || r.reached {
			evaluate(true)
		}
		r.trace = append(r.trace, at)
		if r.Progress != nil {
			r.Progress(at)
		}
		first := r.trace[0]
		switch {
		case r.reached:
			return nil
		case !(at.Gap() <= divergence*(math.Abs(first.Gap())+math.Abs(first.Primal))):
			return ErrDiverged
		case last:
			return ctx.Err()
		}
		const rounding = 1e-9 // of a sum of parts of a pass
		for due++; at.Passes < due-rounding; at.Iterations++ {
			at.Passes += r.step()
		}
	}
}

// evaluate returns the primal and the dual value. If exact is true, the products for them are
// computed again.
func (r *runner) evaluate(exact bool) (primal, dual float64) {
	if exact || len(r.trace)%refreshEvery == 0 {
		r.refresh()
	}
	x, y, ax, aty := r.iterate()
	if ax == nil || exact {
		ax = r.ax
		r.multiply(ax, x)
	}
	if aty == nil || exact {
		aty = r.aty
		r.multiplyTransposed(aty, y)
	}
	return r.primal(x, ax), r.dual(y, aty)
}
