package optim

import (
	"context"
	"fmt"
	"math"
)

// SolveBlocks minimises p with DSPDC, SPDC or SDCA. Config counts blocks. x and y of the start and
// of the solution consist of all blocks, one after the other. The regularizers and conjugates have
// to be finite at the start. The default start is the proximal point of 0, with τ = 1. Relative
// gaps are multiples of P at that point.
func SolveBlocks(ctx context.Context, p *BlockProblem, c Config, start Start) (*Solution, error) {
	b, err := newBlocks(p)
	if err != nil {
		return nil, err
	}
	if c, err = c.effective(len(p.Regularizers), len(p.Losses)); err != nil {
		return nil, err
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
		return nil, fmt.Errorf("unknown block method %q: want dspdc, spdc or sdca", c.Method)
	}
	return retryWithScale(c, estimated, func(c Config) (*Solution, error) {
		x, y, _ := b.start(start)
		if c.Method == SDCA {
			return run(ctx, b, c, newBlockSDCA(b, c, x, y))
		}
		return run(ctx, b, c, newBlockDSPDC(b, c, x, y))
	})
}

func (b *blocks) start(s Start) (x, y []float64, err error) {
	rows, columns := b.size()
	x, y = make([]float64, columns), make([]float64, rows)
	if s.X != nil && len(s.X) != len(x) || s.Y != nil && len(s.Y) != len(y) {
		return nil, nil, fmt.Errorf("start has %d and %d elements, want %d and %d", len(s.X), len(s.Y), len(x), len(y))
	}
	if s.X != nil {
		copy(x, s.X)
	} else {
		b.startPrimal(x)
	}
	switch {
	case s.Y != nil:
		copy(y, s.Y)
	case s.X != nil:
		z := make([]float64, len(y))
		b.multiply(z, x)
		for i, l := range b.Losses {
			l.Grad(block(y, b.rowStart, i), block(z, b.rowStart, i))
		}
	default:
		for i, l := range b.Losses {
			l.Start(block(y, b.rowStart, i))
		}
	}
	for i, l := range b.Losses {
		if !(l.Conjugate(block(y, b.rowStart, i)) <= math.MaxFloat64) {
			return nil, nil, fmt.Errorf("start: the conjugate of the loss is not finite at block %d of y", i)
		}
	}
	return x, y, nil
}
