package warmup

import (
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// maxSquaredError bounds the squared error of a row, relative to the variance of the
// labels: it is that of a residual of target.MaxResidual.
const maxSquaredError = target.MaxResidual * target.MaxResidual

// leaveOneOut returns the mean squared leave-one-out error for the factor.
func (t *tuner) leaveOneOut() float64 {
	n, k, diagonal := t.rows(), t.targets, t.diagonal
	t.ridge.InverseDiagonal(diagonal)
	if t.version >= Fourth {
		return t.solved(diagonal)
	}
	if t.inverse == nil {
		t.inverse = newMatrix(n)
	}
	vec.InvertCholesky(t.inverse, t.factor, n)
	sum := 0.0
	for c := range k {
		for i := range n {
			t.v[i] = t.y[i*k+c]
		}
		for i := range n {
			row := t.factor[i*n : i*n+i+1]
			t.v[i] = (t.v[i] - vec.Dot(row[:i], t.v)) / row[i]
		}
		for i := range n {
			r := vec.Dot(t.inverse[i*n+i:(i+1)*n], t.v[i:]) / diagonal[i]
			r = min(maxSquaredError, float64(r*r))
			if t.weights != nil {
				r = float64(r * t.weights[i])
			}
			sum += r
		}
	}
	return sum / float64(n)
}

// targetsAtOnce is the number of right-hand sides of vec.CholeskySolves.
const targetsAtOnce = 8

// solved returns what leaveOneOut does, for the diagonal of the inverse, from the solutions
// for several targets at once.
func (t *tuner) solved(diagonal []float64) float64 {
	n, k, sum := t.rows(), t.targets, 0.0
	for from := 0; from < k; from += targetsAtOnce {
		count, lanes := min(targetsAtOnce, k-from), targetsAtOnce
		if count == 1 {
			lanes = 1
		}
		t.sides = state.Extend(t.sides[:0], n*lanes)
		clear(t.sides)
		for i := range n {
			copy(t.sides[i*lanes:(i+1)*lanes], t.y[i*k+from:i*k+from+count])
		}
		if lanes == 1 {
			vec.CholeskySolve(t.factor, n, t.sides)
		} else {
			vec.CholeskySolves(t.factor, n, t.sides)
		}
		for i, d := range diagonal {
			for _, v := range t.sides[i*lanes : i*lanes+count] {
				r := v / d
				r = min(maxSquaredError, float64(r*r))
				if t.weights != nil {
					r = float64(r * t.weights[i])
				}
				sum += r
			}
		}
	}
	return sum / float64(n)
}
