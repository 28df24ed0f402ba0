package refit

import (
	"context"
	"fmt"
	"math"
)

// SolveBlocks minimises p, with DSPDC, SPDC or SDCA. Config counts blocks; x and y
// of the start and of the solution are all blocks, one after the other. A start
// has to be where regularizers and conjugates are finite; without X it is what
// the regularizers' Prox makes of 0.
func SolveBlocks(ctx context.Context, p *BlockProblem, c Config, start Start) (*Solution, error) {
	b, err := newBlocks(p)
	if err != nil {
		return nil, err
	}
	n, count := len(p.Losses), len(p.Regularizers)
	if c.Primal == 0 || c.Method == SPDC {
		c.Primal = count
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
	if c.Primal < 1 || c.Primal > count || c.Dual < 1 || c.Dual > n || c.Theorem < 1 || c.Theorem > 2 || !(c.Scale >= 0) {
		return nil, fmt.Errorf("%d of %d primal and %d of %d dual blocks, theorem %d, scale %v", c.Primal, count, c.Dual, n, c.Theorem, c.Scale)
	}
	if _, _, err := b.start(start); err != nil {
		return nil, err
	}
	estimated := false
	switch c.Method {
	case DSPDC, SPDC, "":
		if c.Scale == 0 {
			c.Scale, estimated = b.scale(c.Primal, c.Dual), c.Dual > 1
		}
	case SDCA:
	default:
		return nil, fmt.Errorf("no method of blocks is named %q: want dspdc, spdc or sdca", c.Method)
	}
	return escalate(c, estimated, func(c Config) (*Solution, error) {
		x, y, _ := b.start(start)
		if c.Method == SDCA {
			return b.run(ctx, c, newBlockSDCA(b, c, x, y))
		}
		return b.run(ctx, c, newBlockDSPDC(b, c, x, y))
	})
}

func (b *blocks) run(ctx context.Context, c Config, m method) (*Solution, error) {
	s := &Solution{Scale: c.Scale}
	ax, aty := make([]float64, b.row[len(b.Losses)]), make([]float64, b.column[len(b.Regularizers)])
	zero := make([]float64, len(aty))
	for j, r := range b.Regularizers {
		r.Prox(of(zero, b.column, j), make([]float64, b.A.Width(j)), 1)
	}
	b.times(ax, zero, 0, len(ax))
	unit := b.primal(zero, ax)
	h := harness{clock: c.Clock, progress: c.Progress, goal: max(c.Gap, c.Relative*unit), passes: c.Passes}
	err := h.run(ctx, m.step, func(exact bool) (float64, float64) {
		if exact || len(h.trace)%refreshEvery == 0 {
			m.refresh()
		}
		x, y, z, u := m.pair()
		if z == nil || exact {
			z = ax
			b.times(z, x, 0, len(z))
		}
		if u == nil || exact {
			u = aty
			b.timesTransposed(u, y)
		}
		return b.primal(x, z), b.dual(y, u)
	})
	s.X, s.Y, _, _ = m.pair()
	s.Trace, s.Reached, s.Point = h.trace, h.reached, h.trace[len(h.trace)-1]
	gap := s.Point.Gap()
	s.Certificate = Certificate{s.Point.Primal, s.Point.Dual, gap / unit, math.Sqrt(2 * max(0, gap) / b.lambda)}
	return s, err
}

func (b *blocks) start(s Start) (x, y []float64, err error) {
	x, y = make([]float64, b.column[len(b.Regularizers)]), make([]float64, b.row[len(b.Losses)])
	if s.X != nil && len(s.X) != len(x) || s.Y != nil && len(s.Y) != len(y) {
		return nil, nil, fmt.Errorf("a start of %d and %d numbers for blocks of %d and %d", len(s.X), len(s.Y), len(x), len(y))
	}
	if s.X != nil {
		copy(x, s.X)
	} else {
		for j, r := range b.Regularizers {
			r.Prox(of(x, b.column, j), make([]float64, b.A.Width(j)), 1)
		}
	}
	switch {
	case s.Y != nil:
		copy(y, s.Y)
	case s.X != nil:
		z := make([]float64, len(y))
		b.times(z, x, 0, len(z))
		for i, l := range b.Losses {
			l.Slope(of(y, b.row, i), of(z, b.row, i))
		}
	default:
		for i, l := range b.Losses {
			l.Start(of(y, b.row, i))
		}
	}
	for i, l := range b.Losses {
		if !(l.Conjugate(of(y, b.row, i)) <= math.MaxFloat64) {
			return nil, nil, fmt.Errorf("the start's block %d of y is not one of dual variables", i)
		}
	}
	return x, y, nil
}
