package matrix

import "github.com/accrete-ml/accrete/internal/vec"

// Factored is the matrix A = UV of the factors n x d and d x p (section 4.2).
// Package optim runs Algorithm 2 on it, whose steps cost d(q+m).
type Factored struct {
	u, v *Dense // v transposed: p rows of d
}

// NewFactored returns UV. u has n rows of d numbers, and v has a row of d numbers for each of the p
// columns of V. It panics if the lengths of their rows differ.
func NewFactored(u, v *Dense) *Factored {
	if u.p != v.p {
		panic("matrix: the inner dimensions of the factors differ")
	}
	return &Factored{u, v}
}

// Factors returns U and the transpose of V, d numbers in a row of each.
func (a *Factored) Factors() (u, v *Dense, d int) { return a.u, a.v, a.u.p }

func (a *Factored) Dims() (n, p int) { return a.u.n, a.v.n }

func (a *Factored) Dot(i int, x []float64) float64 {
	v := make([]float64, a.v.p)
	for j, w := range x {
		a.v.Add(v, j, w)
	}
	return a.u.Dot(i, v)
}

func (a *Factored) Add(dst []float64, i int, s float64) {
	row := a.u.Row(i)
	for j := range dst {
		dst[j] += float64(s * a.v.Dot(j, row))
	}
}

// transposed returns VᵀUᵀ.
func (a *Factored) transposed() *Factored { return &Factored{a.v, a.u} }

func (a *Factored) ColumnDot(j int, y []float64) float64 { return a.transposed().Dot(j, y) }

func (a *Factored) AddColumn(dst []float64, j int, s float64) { a.transposed().Add(dst, j, s) }

// squaredNorms returns the squared norms of the rows: uᵀVVᵀu.
func (a *Factored) squaredNorms() []float64 {
	d := a.u.p
	inner, squares := make([]float64, d*d), make([]float64, a.u.n)
	for j := range a.v.n {
		v := a.v.Row(j)
		for k, w := range v {
			vec.Axpy(w, v, inner[k*d:(k+1)*d])
		}
	}
	for i := range squares {
		u := a.u.Row(i)
		for k, w := range u {
			squares[i] += float64(w * vec.Dot(inner[k*d:(k+1)*d], u))
		}
	}
	return squares
}
