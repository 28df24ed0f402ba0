package optim

import "github.com/accrete-ml/accrete/internal/vec"

// Columns is a Dense matrix with its columns in blocks.
type Columns struct {
	a    *Dense
	ends []int // of the blocks, in columns
	all  []int
}

// NewColumns returns the columns of a in blocks of these widths. It panics if
// these do not add up to the columns of a.
func NewColumns(a *Dense, widths ...int) *Columns {
	c := &Columns{a: a}
	end := 0
	for j, w := range widths {
		end += w
		c.ends, c.all = append(c.ends, end), append(c.all, j)
	}
	if end != a.p {
		panic("optim: the blocks are not all of the columns")
	}
	return c
}

func (c *Columns) Dims() (rows, blocks int) { return c.a.n, len(c.ends) }
func (c *Columns) Width(j int) int          { return c.ends[j] - c.begin(j) }
func (c *Columns) Blocks(int) []int         { return c.all }

func (c *Columns) begin(j int) int {
	if j == 0 {
		return 0
	}
	return c.ends[j-1]
}

func (c *Columns) Dot(i, j int, x []float64) float64 {
	return vec.Dot(c.a.Row(i)[c.begin(j):c.ends[j]], x)
}

func (c *Columns) Add(dst []float64, i, j int, a float64) {
	vec.Axpy(a, c.a.Row(i)[c.begin(j):c.ends[j]], dst)
}
