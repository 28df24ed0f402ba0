package papers

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/refit/optim"
)

// A contest is a problem of the paper's section 6 and the methods that solve
// it.
type contest struct {
	figure  string  // of Yu, Lin and Yang 2015
	title   string  // sizes and penalties
	times   float64 // its time limit relative to the others'
	entries []entry
}

type entry struct {
	name  string
	solve func(context.Context, optim.Config) (*optim.Solution, error)
	c     optim.Config
}

// A curve is the progress of one method: gaps over passes and seconds.
type curve struct {
	name   string
	points []optim.Point
}

// leastGap is the gap, relative to P(0), at which a problem counts as solved.
const leastGap = 1e-10

// run solves the problem with each method in turn. A method stops when the
// clock has advanced by seconds times c.times, after the given number of
// passes, or at the gap leastGap. progress, which may be nil, is called before
// each method starts.
func (c *contest) run(ctx context.Context, seconds float64, passes int, clock func() float64, progress func(name string)) ([]curve, error) {
	var curves []curve
	for _, e := range c.entries {
		if progress != nil {
			progress(e.name)
		}
		within, cancel := context.WithCancel(ctx)
		e.c.Relative, e.c.Passes, e.c.Clock = leastGap, passes, clock
		e.c.Progress = func(at optim.Point) {
			if at.Seconds >= seconds*c.times && clock != nil {
				cancel()
			}
		}
		s, err := e.solve(within, e.c)
		cancel()
		if ctx.Err() != nil {
			return curves, ctx.Err()
		}
		if s == nil {
			return curves, fmt.Errorf("%s: %w", e.name, err)
		}
		curves = append(curves, curve{e.name, s.Trace})
	}
	return curves, nil
}
