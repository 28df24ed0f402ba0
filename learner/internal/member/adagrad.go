package member

import (
	"math"

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
			w, squares := l.w[s*n:(s+1)*n], l.squares[s*n:(s+1)*n]
			for j, z := range l.z {
				g := r * z
				if sum := squares[j] + float64(g*g); g != 0 && sum > 0 { // its square may be too small to be a number
					squares[j] = sum
					w[j] -= adagradRate * g / math.Sqrt(sum)
				}
			}
		}
		l.solved = true
	}
}
