package member

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// adagradRate is the step size in standard deviations of a column, that of the linear
// baseline.
const adagradRate = 0.02

// descend takes a step of AdaGrad on each row.
func (l *Linear) descend(c *Chunk) {
	n, k, d := l.N, l.head.Scores(), len(l.factors)
	l.f, l.g = state.Extend(l.f[:0], k), state.Extend(l.g[:0], k)
	for i, y := range c.Labels {
		if c.Weights[i] == 0 {
			continue
		}
		l.inputs(c.X[i*d:(i+1)*d], &c.Last[i])
		l.scores(l.f)
		l.head.Grad(l.g, l.f, y)
		for s, r := range l.g {
			r = max(-target.MaxResidual, min(target.MaxResidual, r)) * min(1, c.Weights[i])
			vec.AdaGrad(l.w[s*n:(s+1)*n], l.squares[s*n:(s+1)*n], l.z, adagradRate, r)
		}
	}
	l.solved = l.solved || l.hasStepped()
}

// hasStepped reports whether any step of AdaGrad has changed a coefficient. A State has no more
// than the squares to tell it by.
func (l *Linear) hasStepped() bool {
	return slices.ContainsFunc(l.squares, func(v float64) bool { return v > 0 })
}
