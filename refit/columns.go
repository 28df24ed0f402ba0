package refit

import "github.com/accrete-ml/accrete/internal/vec"

// Columns is the columns of a Dense matrix in blocks: block j ends where Ends[j]
// says, and the next begins there.
type Columns struct {
	A    *Dense
	Ends []int

	all []int
}

// NewColumns returns the columns of a in blocks of these widths. It panics if
// they are not all of the columns.
func NewColumns(a *Dense, widths ...int) *Columns {
	c := &Columns{A: a}
	end := 0
	for j, w := range widths {
		end += w
		c.Ends, c.all = append(c.Ends, end), append(c.all, j)
	}
	if end != a.p {
		panic("refit: blocks that are not all of the columns")
	}
	return c
}

func (c *Columns) Dims() (rows, blocks int) { return c.A.n, len(c.Ends) }
func (c *Columns) Width(j int) int          { return c.Ends[j] - c.begin(j) }
func (c *Columns) Blocks(int) []int         { return c.all }

func (c *Columns) begin(j int) int {
	if j == 0 {
		return 0
	}
	return c.Ends[j-1]
}

func (c *Columns) Dot(i, j int, x []float64) float64 {
	return vec.Dot(c.A.Row(i)[c.begin(j):c.Ends[j]], x)
}

func (c *Columns) Add(dst []float64, i, j int, a float64) {
	vec.Axpy(a, c.A.Row(i)[c.begin(j):c.Ends[j]], dst)
}
