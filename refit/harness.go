package refit

import (
	"context"
	"math"
)

// A harness steps a method on and looks at it after every pass.
type harness struct {
	clock    func() float64
	progress func(Point)
	goal     float64
	passes   int

	trace   []Point
	reached bool
}

// run steps until the goal is reached. What evaluate says of the primal and of
// the dual value has to be exact when asked for, and it is asked for at the end.
func (h *harness) run(ctx context.Context, step func() float64, evaluate func(exact bool) (float64, float64)) error {
	now := func() float64 {
		if h.clock == nil {
			return 0
		}
		return h.clock()
	}
	var at Point
	begin := now()
	look := func(exact bool) {
		paused := now()
		at.Seconds = paused - begin
		at.Primal, at.Dual = evaluate(exact)
		h.reached = h.goal > 0 && at.Gap() <= h.goal
		begin += now() - paused
	}
	for due := 0.0; ; {
		look(false)
		last := at.Passes >= float64(h.passes) || ctx.Err() != nil
		if last || h.reached {
			look(true)
		}
		h.trace = append(h.trace, at)
		if h.progress != nil {
			h.progress(at)
		}
		switch {
		case h.reached:
			return nil
		case !(at.Gap() <= 1e6*(math.Abs(h.trace[0].Gap())+math.Abs(h.trace[0].Primal))):
			return ErrDiverged
		case last:
			return ctx.Err()
		}
		const rounding = 1e-9
		for due++; at.Passes < due-rounding; at.Iterations++ {
			at.Passes += step()
		}
	}
}
