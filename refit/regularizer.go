package refit

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// A Regularizer is g_j of one block, strongly convex.
type Regularizer interface {
	Value(x []float64) float64     // of an x where it is finite
	Conjugate(v []float64) float64 // the maximum over x of ⟨v,x⟩ - g(x)

	// Prox sets x to the α that minimises ⟨c,α⟩ + g(α) + pull/2 ‖α-x‖², where pull
	// is 1/τ (44). A pull of 0 is allowed.
	Prox(x, c []float64, pull float64)

	Lambda() float64 // the strong convexity
}

// Elastic is L2/2 ‖x‖² + L1 ‖x‖₁.
type Elastic struct{ L2, L1 float64 }

func (g Elastic) Lambda() float64 { return g.L2 }

func (g Elastic) Value(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += math.Abs(v)
	}
	return float64(g.L2/2*vec.Dot(x, x)) + float64(g.L1*s)
}

func (g Elastic) Conjugate(v []float64) float64 {
	s := 0.0
	for _, w := range v {
		w = soft(w, g.L1)
		s += float64(w * w)
	}
	return s / (2 * g.L2)
}

func (g Elastic) Prox(x, c []float64, pull float64) {
	for k, v := range x {
		x[k] = soft(float64(pull*v)-c[k], g.L1) / (g.L2 + pull)
	}
}

// Group is L2/2 ‖x‖² + Norm ‖x‖, which takes whole blocks to 0 (Yuan and Lin 2006).
type Group struct{ L2, Norm float64 }

func (g Group) Lambda() float64 { return g.L2 }

func (g Group) Value(x []float64) float64 {
	return float64(g.L2/2*vec.Dot(x, x)) + float64(g.Norm*length(x))
}

func (g Group) Conjugate(v []float64) float64 {
	s := soft(length(v), g.Norm)
	return s * s / (2 * g.L2)
}

func (g Group) Prox(x, c []float64, pull float64) {
	for k, v := range x {
		x[k] = float64(pull*v) - c[k]
	}
	norm := length(x)
	keep := 0.0
	if norm > 0 {
		keep = soft(norm, g.Norm) / norm / (g.L2 + pull)
	}
	for k := range x {
		x[k] *= keep
	}
}

// Semidefinite is L2/2 ‖X‖² + ⟨Linear, X⟩ + Constant of the positive semidefinite
// matrices X of Dim x Dim, in the Frobenius norm, and infinite for all others
// (Yu, Lin and Yang 2015, section 5.2). Value takes X for one of the former.
// Linear may be nil, which is 0. All matrices are symmetric.
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

func (g Semidefinite) Prox(x, c []float64, pull float64) {
	for k, v := range x {
		x[k] = float64(pull*v) - c[k]
	}
	for k, l := range g.Linear {
		x[k] -= l
	}
	project(x, g.Dim)
	for k := range x {
		x[k] /= g.L2 + pull
	}
}

// Triangle is Semidefinite, without Linear and Constant, of the matrix that a
// lower triangle stands for: row by row, with √2 times what is off the diagonal,
// so that inner products of triangles are those of the matrices.
type Triangle struct {
	Dim int // of the matrix
	L2  float64
}

func (g Triangle) Lambda() float64 { return g.L2 }

func (g Triangle) Value(x []float64) float64 { return g.L2 / 2 * vec.Dot(x, x) }

func (g Triangle) Conjugate(v []float64) float64 {
	return project(g.matrix(v), g.Dim) / (2 * g.L2)
}

func (g Triangle) Prox(x, c []float64, pull float64) {
	for k, v := range x {
		x[k] = float64(pull*v) - c[k]
	}
	a := g.matrix(x)
	project(a, g.Dim)
	for i, k := 0, 0; i < g.Dim; i++ {
		for j := range i + 1 {
			v := a[i*g.Dim+j] / (g.L2 + pull)
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

// length is ‖x‖, of numbers of any size.
func length(x []float64) float64 {
	var unit float64
	for _, v := range x {
		unit = max(unit, math.Abs(v))
	}
	if unit == 0 {
		return 0
	}
	var s float64
	for _, v := range x {
		s += float64((v / unit) * (v / unit))
	}
	return float64(unit * math.Sqrt(s))
}
