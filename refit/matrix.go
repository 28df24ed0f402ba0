package refit

import (
	"sync"

	"github.com/accrete-ml/accrete/internal/vec"
)

// A Matrix is A, n rows of p columns.
type Matrix interface {
	Dims() (n, p int)

	// Dot is ⟨A_i, x⟩ of row i, and Add is dst += a A_i. x and dst have length p.
	Dot(i int, x []float64) float64
	Add(dst []float64, i int, a float64)

	// ColumnDot is ⟨A^j, y⟩ of column j, and AddColumn is dst += a A^j. y and dst
	// have length n.
	ColumnDot(j int, y []float64) float64
	AddColumn(dst []float64, j int, a float64)
}

// Dense is a matrix with all of its numbers in memory. It is not to be copied.
type Dense struct {
	n, p int
	rows []float64

	once    sync.Once
	columns []float64 // the transpose, from the first use of a column on
}

// NewDense returns the matrix with these rows, n x p and row-major, which it
// keeps. It panics if their number does not fit.
func NewDense(n, p int, rows []float64) *Dense {
	if n < 1 || p < 1 || len(rows) != n*p {
		panic("refit: a dense matrix has n x p numbers, and at least one")
	}
	return &Dense{n: n, p: p, rows: rows}
}

// Row is row i, and not a copy of it.
func (a *Dense) Row(i int) []float64 { return a.rows[i*a.p : (i+1)*a.p : (i+1)*a.p] }

func (a *Dense) Dims() (n, p int)                          { return a.n, a.p }
func (a *Dense) Dot(i int, x []float64) float64            { return vec.Dot(a.Row(i), x) }
func (a *Dense) Add(dst []float64, i int, s float64)       { vec.Axpy(s, a.Row(i), dst) }
func (a *Dense) ColumnDot(j int, y []float64) float64      { return vec.Dot(a.column(j), y) }
func (a *Dense) AddColumn(dst []float64, j int, s float64) { vec.Axpy(s, a.column(j), dst) }

func (a *Dense) column(j int) []float64 {
	a.once.Do(a.transpose)
	return a.columns[j*a.n : (j+1)*a.n : (j+1)*a.n]
}

func (a *Dense) transpose() {
	a.columns = make([]float64, len(a.rows))
	const tile = 32
	for i0 := 0; i0 < a.n; i0 += tile {
		for j0 := 0; j0 < a.p; j0 += tile {
			for i := i0; i < min(i0+tile, a.n); i++ {
				for j := j0; j < min(j0+tile, a.p); j++ {
					a.columns[j*a.n+i] = a.rows[i*a.p+j]
				}
			}
		}
	}
}

// Sparse is a matrix of which only the numbers that are not zero are in memory,
// by rows and by columns. A step of a solver still takes time in proportion to p,
// or to n where Ax is what it keeps.
type Sparse struct {
	n, p          int
	rows, columns compressed
}

// compressed is rows, or columns, as pairs of an index and a value: those of row
// i are start[i] to start[i+1].
type compressed struct {
	start []int
	index []int32
	value []float64
}

// NewSparse returns the matrix whose row i has value[k] in column index[k], for k
// from start[i] up to start[i+1]. It keeps the slices. It panics if an index is
// out of range or start is not a partition.
func NewSparse(p int, start []int, index []int32, value []float64) *Sparse {
	n := len(start) - 1
	if n < 1 || p < 1 || start[0] != 0 || start[n] != len(index) || len(index) != len(value) {
		panic("refit: a sparse matrix whose slices do not fit together")
	}
	a := &Sparse{n: n, p: p, rows: compressed{start, index, value}}
	a.columns = compressed{make([]int, p+1), make([]int32, len(index)), make([]float64, len(value))}
	for _, j := range index {
		a.columns.start[j+1]++
	}
	for j := range p {
		a.columns.start[j+1] += a.columns.start[j]
	}
	next := append([]int(nil), a.columns.start[:p]...)
	for i := range n {
		for k := start[i]; k < start[i+1]; k++ {
			at := next[index[k]]
			next[index[k]]++
			a.columns.index[at], a.columns.value[at] = int32(i), value[k]
		}
	}
	return a
}

func (a *Sparse) Dims() (n, p int)                          { return a.n, a.p }
func (a *Sparse) Dot(i int, x []float64) float64            { return a.rows.dot(i, x) }
func (a *Sparse) Add(dst []float64, i int, s float64)       { a.rows.add(dst, i, s) }
func (a *Sparse) ColumnDot(j int, y []float64) float64      { return a.columns.dot(j, y) }
func (a *Sparse) AddColumn(dst []float64, j int, s float64) { a.columns.add(dst, j, s) }

func (c *compressed) dot(i int, x []float64) float64 {
	var s float64
	for k := c.start[i]; k < c.start[i+1]; k++ {
		s += float64(c.value[k] * x[c.index[k]])
	}
	return s
}

func (c *compressed) add(dst []float64, i int, s float64) {
	for k := c.start[i]; k < c.start[i+1]; k++ {
		dst[c.index[k]] += float64(s * c.value[k])
	}
}

// Factored is the matrix A = UV of n x d and d x p (Yu, Lin and Yang 2015,
// section 4.2). Solve runs Algorithm 2 on it, whose steps cost d(q+m).
type Factored struct {
	u, v *Dense // v transposed: p rows of d
}

// NewFactored returns UV, where u has n rows of d numbers, and v has, for each of
// the p columns of V, a row of d numbers. It panics if they do not fit.
func NewFactored(u, v *Dense) *Factored {
	if u.p != v.p {
		panic("refit: factors of different inner dimensions")
	}
	return &Factored{u, v}
}

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

func (a *Factored) ColumnDot(j int, y []float64) float64 {
	u := make([]float64, a.u.p)
	for i, w := range y {
		a.u.Add(u, i, w)
	}
	return a.v.Dot(j, u)
}

func (a *Factored) AddColumn(dst []float64, j int, s float64) {
	column := a.v.Row(j)
	for i := range dst {
		dst[i] += float64(s * a.u.Dot(i, column))
	}
}

// multiply sets dst to Ax.
func multiply(dst []float64, a Matrix, x []float64) {
	if f, ok := a.(*Factored); ok {
		v := make([]float64, f.v.p)
		multiplyTransposed(v, f.v, x)
		multiply(dst, f.u, v)
		return
	}
	for i := range dst {
		dst[i] = a.Dot(i, x)
	}
}

// multiplyTransposed sets dst to Aᵀy.
func multiplyTransposed(dst []float64, a Matrix, y []float64) {
	if f, ok := a.(*Factored); ok {
		u := make([]float64, f.u.p)
		multiplyTransposed(u, f.u, y)
		multiply(dst, f.v, u)
		return
	}
	clear(dst)
	for i, w := range y {
		if w != 0 {
			a.Add(dst, i, w)
		}
	}
}

// squaredNorms is those of the rows.
func squaredNorms(a Matrix) []float64 {
	n, p := a.Dims()
	squares := make([]float64, n)
	if f, ok := a.(*Factored); ok { // uᵀVVᵀu
		d := f.u.p
		inner := make([]float64, d*d)
		for j := range p {
			v := f.v.Row(j)
			for k, w := range v {
				vec.Axpy(w, v, inner[k*d:(k+1)*d])
			}
		}
		for i := range squares {
			for k, w := range f.u.Row(i) {
				squares[i] += float64(w * vec.Dot(inner[k*d:(k+1)*d], f.u.Row(i)))
			}
		}
		return squares
	}
	row := make([]float64, p)
	for i := range squares {
		clear(row)
		a.Add(row, i, 1)
		squares[i] = a.Dot(i, row)
	}
	return squares
}
