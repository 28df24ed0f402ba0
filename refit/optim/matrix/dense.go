package matrix

import (
	"sync"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Dense is a matrix with all of its elements in memory. It must not be copied.
type Dense struct {
	n, p int
	rows []float64

	once    sync.Once
	columns []float64 // the transpose, made at the first use of a column
}

// NewDense returns the matrix with the elements rows, n × p and row-major, which it keeps. It
// panics if their number is not n p.
func NewDense(n, p int, rows []float64) *Dense {
	if n < 1 || p < 1 || len(rows) != n*p {
		panic("matrix: a dense matrix has n x p elements, at least one")
	}
	return &Dense{n: n, p: p, rows: rows}
}

// Row returns row i itself, not a copy.
func (a *Dense) Row(i int) []float64 { return a.rows[i*a.p : (i+1)*a.p : (i+1)*a.p] }

func (a *Dense) Dims() (n, p int)                          { return a.n, a.p }
func (a *Dense) Dot(i int, x []float64) float64            { return vec.Dot(a.Row(i), x) }
func (a *Dense) Add(dst []float64, i int, s float64)       { vec.Axpy(s, a.Row(i), dst) }
func (a *Dense) ColumnDot(j int, y []float64) float64      { return vec.Dot(a.column(j), y) }
func (a *Dense) AddColumn(dst []float64, j int, s float64) { vec.Axpy(s, a.column(j), dst) }

// Rows returns the elements, row-major. They are not a copy.
func (a *Dense) Rows() []float64 { return a.rows }

func (a *Dense) column(j int) []float64 {
	a.once.Do(a.transpose)
	return a.columns[j*a.n : (j+1)*a.n : (j+1)*a.n]
}

func (a *Dense) transpose() {
	a.columns = make([]float64, len(a.rows))
	const tile = 32 // two tiles of 8 KiB stay in the first-level cache
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
