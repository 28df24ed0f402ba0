package kernel

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// The kernels of the angle between rows map rows to a sphere: the constant Scale is appended to the
// row, and the result is divided by its length. Then no two rows have the same direction, and the
// kernel is 1 only for equal rows.

// length returns the Euclidean length of x with the constant appended.
func length[T float32 | float64](x []T, scale float64) float64 {
	s := float64(scale * scale)
	for _, v := range x {
		s += float64(float64(v) * float64(v))
	}
	return math.Sqrt(s)
}

// direction sets dst to the point on the sphere for x. dst has one more element than x.
func direction(dst []float64, x []float32, scale float64) {
	n := length(x, scale)
	for i, v := range x {
		dst[i] = float64(v) / n
	}
	dst[len(x)] = scale / n
}

// cosine returns the cosine of the angle between the points of x and y on the sphere.
func cosine(x, y []float64, scale float64) float64 {
	s := float64(scale * scale)
	for i, v := range x {
		s += float64(v * y[i])
	}
	return max(-1, min(1, s/float64(length(x, scale)*length(y, scale))))
}

// angle returns the angle from 0 to π with the cosine c: 2 arctan √((1-c)/(1+c)), with the same
// bits on every machine.
func angle(c float64) float64 {
	if c < 0 {
		return math.Pi - angle(-c)
	}
	t := math.Sqrt((1 - c) / (1 + c))
	if t > 0.66 {
		return 2 * (math.Pi/4 + arctan((t-1)/(t+1)))
	}
	return 2 * arctan(t)
}

// arctan returns the arc tangent of a number of magnitude up to 0.66, by the rational function of
// Cephes (Moshier 1989).
func arctan(x float64) float64 {
	z := float64(x * x)
	p, q := -8.750608600031904122785e-01, 1.0
	for _, c := range [...]float64{-1.615753718733365076637e+01, -7.500855792314704667340e+01, -1.228866684490136173410e+02, -6.485021904942025371773e+01} {
		p = float64(p*z) + c
	}
	for _, c := range [...]float64{2.485846490142306297962e+01, 1.650270098316988542046e+02, 4.328810604912902668951e+02, 4.853903996359136964868e+02, 1.945506571482613964425e+02} {
		q = float64(q*z) + c
	}
	return x + float64(x*float64(z*p/q))
}

// multiply sets dst to the real and imaginary parts of complex products, each of factors numbers
// ωᵀx. products has the real and imaginary parts of these numbers. If the ω are from Roots, the
// mean of the product at x times the conjugate of the product at y is (xᵀy) to the power of
// factors. Its variance is less than with real signs (Wacker, Ohana and Filippone 2022).
func multiply(dst, products []float64, factors int) {
	for i := 0; i < len(dst); i += 2 {
		re, im := 1.0, 0.0
		for range factors {
			a, b := products[0], products[1]
			re, im = float64(re*a)-float64(im*b), float64(re*b)+float64(im*a)
			products = products[2:]
		}
		dst[i], dst[i+1] = re, im
	}
}

// dots returns the product of x with each of vectors.
func dots(x, vectors []float64) []float64 {
	u := make([]float64, len(vectors)/len(x))
	for i := range u {
		u[i] = vec.Dot(x, vectors[i*len(x):(i+1)*len(x)])
	}
	return u
}

// power returns x to the power of n ≥ 0.
func power(x float64, n int) float64 {
	p := 1.0
	for range n {
		p *= x
	}
	return p
}
