// Package matrix has the matrices of the problems that package optim solves.
package matrix

// A Matrix is the matrix A of a problem, with n rows and p columns.
type Matrix interface {
	Dims() (n, p int)

	// Dot returns ⟨A_i, x⟩ for row i, and Add adds a A_i to dst. x and dst have the
	// length p.
	Dot(i int, x []float64) float64
	Add(dst []float64, i int, a float64)

	// ColumnDot returns ⟨A^j, y⟩ for column j, and AddColumn adds a A^j to dst. y and
	// dst have the length n.
	ColumnDot(j int, y []float64) float64
	AddColumn(dst []float64, j int, a float64)
}

// Multiply sets dst to Ax.
func Multiply(dst []float64, a Matrix, x []float64) {
	if f, ok := a.(*Factored); ok {
		v := make([]float64, f.v.p)
		MultiplyTransposed(v, f.v, x)
		Multiply(dst, f.u, v)
		return
	}
	for i := range dst {
		dst[i] = a.Dot(i, x)
	}
}

// MultiplyTransposed sets dst to Aᵀy.
func MultiplyTransposed(dst []float64, a Matrix, y []float64) {
	if f, ok := a.(*Factored); ok {
		u := make([]float64, f.u.p)
		MultiplyTransposed(u, f.u, y)
		Multiply(dst, f.v, u)
		return
	}
	clear(dst)
	for i, w := range y {
		if w != 0 {
			a.Add(dst, i, w)
		}
	}
}

// SquaredNorms returns the squared norms of the rows.
func SquaredNorms(a Matrix) []float64 {
	if f, ok := a.(*Factored); ok {
		return f.squaredNorms()
	}
	n, p := a.Dims()
	squares, row := make([]float64, n), make([]float64, p)
	for i := range squares {
		clear(row)
		a.Add(row, i, 1)
		squares[i] = a.Dot(i, row)
	}
	return squares
}
