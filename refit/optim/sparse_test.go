package optim

// sparse is a matrix.Matrix of which only the elements that are not zero are in memory,
// by rows and by columns: another one to compare those of the package with.
type sparse struct {
	n, p          int
	rows, columns compressed
}

// compressed holds rows, or columns, as pairs of an index and a value: those of row
// i are start[i] to start[i+1].
type compressed struct {
	start []int
	index []int32
	value []float64
}

// newSparse returns the matrix whose row i has value[k] in column index[k], for k
// from start[i] up to start[i+1]. It keeps the slices.
func newSparse(p int, start []int, index []int32, value []float64) *sparse {
	n := len(start) - 1
	a := &sparse{n: n, p: p, rows: compressed{start, index, value}}
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

func (a *sparse) Dims() (n, p int)                          { return a.n, a.p }
func (a *sparse) Dot(i int, x []float64) float64            { return a.rows.dot(i, x) }
func (a *sparse) Add(dst []float64, i int, s float64)       { a.rows.add(dst, i, s) }
func (a *sparse) ColumnDot(j int, y []float64) float64      { return a.columns.dot(j, y) }
func (a *sparse) AddColumn(dst []float64, j int, s float64) { a.columns.add(dst, j, s) }

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
