package optim

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Semidefinite is L2/2 ‖X‖² + ⟨Linear, X⟩ + Constant for positive semidefinite matrices X of Dim ×
// Dim, in the Frobenius norm, and infinite for all others (section 5.2). Value does not check that
// X is semidefinite. Linear may be nil for 0. All matrices are symmetric.
type Semidefinite struct {
	Dim      int
	L2       float64
	Linear   []float64
	Constant float64
}

func (g Semidefinite) Lambda() float64 { return g.L2 }

func (g Semidefinite) Value(x []float64) float64 {
	return float64(g.L2/2*vec.Dot(x, x)) + vec.Dot(g.Linear, x) + g.Constant
}

func (g Semidefinite) Conjugate(v []float64) float64 {
	w := append([]float64(nil), v...)
	for k, l := range g.Linear {
		w[k] -= l
	}
	return project(w, g.Dim)/(2*g.L2) - g.Constant
}

func (g Semidefinite) Prox(x, c []float64, inverseTau float64) {
	for k, v := range x {
		x[k] = float64(inverseTau*v) - c[k]
	}
	for k, l := range g.Linear {
		x[k] -= l
	}
	project(x, g.Dim)
	for k := range x {
		x[k] /= g.L2 + inverseTau
	}
}

// Triangle is Semidefinite, without Linear and Constant, for a matrix that is stored as its lower
// triangle: row by row, with the elements off the diagonal times √2, so that inner products of
// triangles are those of the matrices.
type Triangle struct {
	Dim int // of the matrix
	L2  float64
}

func (g Triangle) Lambda() float64 { return g.L2 }

func (g Triangle) Value(x []float64) float64 { return g.L2 / 2 * vec.Dot(x, x) }

func (g Triangle) Conjugate(v []float64) float64 {
	return project(g.matrix(v), g.Dim) / (2 * g.L2)
}

func (g Triangle) Prox(x, c []float64, inverseTau float64) {
	for k, v := range x {
		x[k] = float64(inverseTau*v) - c[k]
	}
	a := g.matrix(x)
	project(a, g.Dim)
	for i, k := 0, 0; i < g.Dim; i++ {
		for j := range i + 1 {
			v := a[i*g.Dim+j] / (g.L2 + inverseTau)
			if j < i {
				v *= math.Sqrt2
			}
			x[k] = v
			k++
		}
	}
}

func (g Triangle) matrix(x []float64) []float64 {
	a := make([]float64, g.Dim*g.Dim)
	for i, k := 0, 0; i < g.Dim; i++ {
		for j := range i {
			v := x[k] / math.Sqrt2
			a[i*g.Dim+j], a[j*g.Dim+i] = v, v
			k++
		}
		a[i*g.Dim+i] = x[k]
		k++
	}
	return a
}

// project sets the symmetric matrix a, d × d, to the nearest positive semidefinite matrix in the
// Frobenius norm. That matrix has the same eigenvectors, and its negative eigenvalues are 0. It
// subtracts the negative part or adds up the positive part, whichever has fewer eigenvalues. It
// returns the squared norm of the result, or NaN if an element is not finite.
func project(a []float64, d int) float64 {
	values, vectors := make([]float64, d), make([]float64, d*d)
	if !vec.Eigen(values, vectors, slices.Clone(a), d) {
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
