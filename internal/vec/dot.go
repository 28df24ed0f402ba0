package vec

// Dot returns the sum of x[i]*y[i] in a fixed order: lane l of 8 adds the products
// l, l+8, l+16, ..., each rounded, one by one, and the lanes are added l and
// l+4 first, then l and l+2, then l and l+1. It panics if y is shorter than x.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	var a [8]float64
	if n := len(x) &^ 7; n >= 16 && dotVectors(&a, x[:n], y) {
		x, y = x[n:], y[n:]
	}
	a0, a1, a2, a3, a4, a5, a6, a7 := a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
	for len(x) >= 8 {
		u, v := (*[8]float64)(x), (*[8]float64)(y)
		a0 += float64(u[0] * v[0])
		a1 += float64(u[1] * v[1])
		a2 += float64(u[2] * v[2])
		a3 += float64(u[3] * v[3])
		a4 += float64(u[4] * v[4])
		a5 += float64(u[5] * v[5])
		a6 += float64(u[6] * v[6])
		a7 += float64(u[7] * v[7])
		x, y = x[8:], y[8:]
	}
	a = [8]float64{a0, a1, a2, a3, a4, a5, a6, a7}
	for i, u := range x {
		a[i] += float64(u * y[i])
	}
	return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}

// Axpy computes y[i] += a*x[i], with the product rounded. It panics if y is shorter than x.
func Axpy(a float64, x, y []float64) {
	y = y[:len(x)]
	if n := len(x) &^ 7; n >= 16 && axpyVectors(a, x[:n], y) {
		x, y = x[n:], y[n:]
	}
	for i, v := range x {
		y[i] += float64(a * v)
	}
}
