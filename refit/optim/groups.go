package optim

import (
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// groupsByRows is byRows for the case of a refit that prunes: one dual coordinate, all primal
// coordinates, groups of columns, and a float32 matrix in memory.
type groupsByRows struct {
	*byRows
	elements []float32
	factor   float64
	next     []float64
}

func (b *groupsByRows) step() float64 {
	i := b.rows.draw()[0]
	row := b.elements[i*len(b.x):][:len(b.x)]
	d := b.factor * b.dual(i, float64(b.factor*matrix.Dot(row, b.xbar)))
	// x⁺ = threshold(x/τ - (u + n/m d row)/n, λ₁) / (λ₂+1/τ)
	uFactor, rowFactor := b.inverseN, b.inverseN*(b.extrapolation*d)
	x, u, next := b.x[:len(row)], b.u[:len(row)], b.next[:len(row)]
	for j, a := range row {
		a := float64(a)
		next[j] = float64(b.inverseTau*x[j]) - float64(uFactor*u[j]) - float64(rowFactor*a)
		u[j] += float64(d * a)
	}
	b.p.threshold(next, b.p.L1)
	xbar := b.xbar[:len(row)]
	for j, v := range next {
		v = float64(v * b.shrink)
		xbar[j] = v + float64(b.theta*(v-x[j]))
		x[j] = v
	}
	return 1 / b.extrapolation
}
