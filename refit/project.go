package refit

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// eigen returns the eigenvalues of the symmetric matrix a, d x d and row-major,
// and a matrix whose row k is the eigenvector of value k. It reports false if an
// element is not finite.
func eigen(a []float64, d int) (values, vectors []float64, ok bool) {
	values, vectors = make([]float64, d), make([]float64, d*d)
	ok = vec.Eigen(values, vectors, slices.Clone(a), d)
	return values, vectors, ok
}

// project sets the symmetric matrix a, d x d, to the nearest positive semidefinite
// one in the Frobenius norm: without the eigenvalues that are below 0. Of those
// above and those below, it is the fewer that are added up or taken away. It
// returns the squared norm of the result, or NaN if an element is not finite.
func project(a []float64, d int) float64 {
	values, vectors, ok := eigen(a, d)
	if !ok {
		return math.NaN()
	}
	negative, norm := 0, 0.0
	for _, v := range values {
		if v < 0 {
			negative++
		} else {
			norm += float64(v * v)
		}
	}
	if negative == 0 {
		return norm
	}
	sign := -1.0
	if 2*negative > d {
		clear(a)
		sign = 1
	}
	for k, v := range values {
		if sign*v <= 0 {
			continue
		}
		u := vectors[k*d : (k+1)*d]
		for i, w := range u {
			vec.Axpy(math.Abs(v)*w, u[:i+1], a[i*d:i*d+i+1])
		}
	}
	for i := range d {
		for j := range i {
			a[j*d+i] = a[i*d+j]
		}
	}
	return norm
}
