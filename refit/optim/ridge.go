package optim

import (
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// ridgeByRows is byRows for the case of a refit: one dual coordinate, all primal coordinates, no
// λ₁, and a matrix with all of its elements in memory, times a factor.
type ridgeByRows[T float32 | float64] struct {
	*byRows
	elements []T
	factor   float64
}

func (b *ridgeByRows[T]) step() float64 {
	i := b.rows.draw()[0]
	row := b.elements[i*len(b.x):][:len(b.x)]
	d := b.factor * b.dual(i, float64(b.factor*matrix.Dot(row, b.xbar)))
	// x⁺ = (x/τ - (u + n/m d row)/n) / (λ₂+1/τ)
	xFactor, uFactor := b.shrink*b.inverseTau, b.shrink*b.inverseN
	rowFactor, theta := uFactor*(b.extrapolation*d), b.theta
	x, u, xbar := b.x[:len(row)], b.u[:len(row)], b.xbar[:len(row)]
	for j, a := range row {
		a := float64(a)
		old := x[j]
		v := float64(xFactor*old) - float64(uFactor*u[j]) - float64(rowFactor*a)
		u[j] += float64(d * a)
		x[j] = v
		xbar[j] = v + float64(theta*(v-old))
	}
	return 1 / b.extrapolation
}
