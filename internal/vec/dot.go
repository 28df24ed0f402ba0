package vec

import "math"

// Dot returns the sum of x[i]*y[i] in a fixed order. It has 8 lanes: lane l adds the products l,
// l+8, l+16, ..., each rounded, one by one. Then the lanes l and l+4 are added, then l and l+2,
// then l and l+1. It panics if y is shorter than x.
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

// Dots sets each number of dst to the Dot of x with the same row of w.
func Dots(dst, x, w []float64) {
	n := len(x)
	w = w[:len(dst)*n]
	if n == 0 || len(dst) == 0 || !dotsVectors(dst, x, w) {
		for i := range dst {
			dst[i] = Dot(x, w[i*n:(i+1)*n])
		}
	}
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

// AddSlots adds values[i] times the slot of columns[i] to f, for all i in order. Slots are rows of
// len(f) numbers in coef. There are 2ⁿ slots, and the low n bits of a column are the index of its
// slot.
func AddSlots(f []float64, coef []float32, columns []uint32, values []float32) {
	k, mask := slots(len(coef), len(f))
	values = values[:len(columns)]
	if len(values) == 0 || addSlotsVectors(f, coef, columns, values, mask) {
		return
	}
	for i, c := range columns {
		v, at := float64(values[i]), int(c&mask)*k
		for j, w := range coef[at : at+k] {
			f[j] += float64(float64(w) * v)
		}
	}
}

// slots returns the size of a slot and the mask that maps a column to the index of its slot.
func slots(n, size int) (k int, mask uint32) {
	if size < 1 || n < size || n%size != 0 || n/size&(n/size-1) != 0 {
		panic("vec: the number of slots is not a power of 2")
	}
	return size, uint32(n/size - 1)
}

// StepSlots takes a step of AdaGrad (Duchi, Hazan and Singer 2011) along the gradient g of the
// scores, in the slots of the columns of a row, as in AddSlots. The value of a column is first
// divided by the largest value in its slot, which largest has. squares are the sums of the squared
// gradients. The magnitude of a coefficient is limited to bound divided by the largest value.
func StepSlots(coef, squares, largest []float32, columns []uint32, values []float32, g []float64, rate, bound float64) {
	k, mask := slots(len(coef), len(g))
	values, squares, largest = values[:len(columns)], squares[:len(coef)], largest[:len(coef)/k]
	if len(values) == 0 || k > 1 && stepSlotsVectors(coef, squares, largest, columns, values, g, mask, rate, bound) {
		return
	}
	for i, c := range columns {
		slot := int(c & mask)
		most := float64(largest[slot])
		z, high := float64(values[i])/most, bound/most
		for j, r := range g {
			d := float64(r * z)
			at := slot*k + j
			sum := float64(float32(float64(squares[at]) + float64(d*d)))
			if !(sum > 0) {
				continue // the square underflows
			}
			squares[at] = float32(sum)
			w := float64(coef[at]) - float64(rate*d)/float64(math.Sqrt(sum)*most)
			coef[at] = float32(max(-high, min(high, w)))
		}
	}
}
