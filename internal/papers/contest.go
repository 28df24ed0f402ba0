package papers

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/refit/optim"
)

// A contest is a problem of the paper's section 6 and the methods that solve it.
type contest struct {
	figure  string  // of Yu, Lin and Yang 2015
	title   string  // sizes and penalties
	times   float64 // the time that it has, over that of others
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

// leastGap, relative to P(0), is where a method has solved the problem.
const leastGap = 1e-10

// run solves the problem with one method after another: each until the clock has
// moved by seconds times c.times, or for that many passes, or until the gap is
// leastGap. It calls progress, which may be nil, before a method starts.
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
