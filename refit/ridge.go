package refit

// ridgeByRows is byRows for one dual coordinate and all primal ones of a matrix
// with all of its numbers in memory, times a factor, and without λ₁: the case of
// a refit.
type ridgeByRows[T float32 | float64] struct {
	*byRows
	numbers []T
	factor  float64
}

func (b *ridgeByRows[T]) step() float64 {
	i := b.rows.draw()[0]
	row := b.numbers[i*len(b.x):][:len(b.x)]
	d := b.factor * b.dual(i, float64(b.factor*dot(row, b.xbar)))
	// x⁺ = shrink (pull x - (u + boost d row)/n)
	keep, towards := b.shrink*b.pull, b.shrink*b.perRow
	boosted, theta := towards*(b.boost*d), b.theta
	x, u, xbar := b.x[:len(row)], b.u[:len(row)], b.xbar[:len(row)]
	for j, a := range row {
		a := float64(a)
		old := x[j]
		v := float64(keep*old) - float64(towards*u[j]) - float64(boosted*a)
		u[j] += float64(d * a)
		x[j] = v
		xbar[j] = v + float64(theta*(v-old))
	}
	return 1 / b.boost
}

// dot is vec.Dot, bit for bit, of a row of either precision.
func dot[T float32 | float64](x []T, y []float64) float64 {
	y = y[:len(x)]
	var a0, a1, a2, a3, a4, a5, a6, a7 float64
	for len(x) >= 8 {
		u, v := (*[8]T)(x), (*[8]float64)(y)
		a0 += float64(float64(u[0]) * v[0])
		a1 += float64(float64(u[1]) * v[1])
		a2 += float64(float64(u[2]) * v[2])
		a3 += float64(float64(u[3]) * v[3])
		a4 += float64(float64(u[4]) * v[4])
		a5 += float64(float64(u[5]) * v[5])
		a6 += float64(float64(u[6]) * v[6])
		a7 += float64(float64(u[7]) * v[7])
		x, y = x[8:], y[8:]
	}
	a := [8]float64{a0, a1, a2, a3, a4, a5, a6, a7}
	for i, u := range x {
		a[i] += float64(float64(u) * y[i])
	}
	return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}
