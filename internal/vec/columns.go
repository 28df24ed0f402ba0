package vec

// Columns is a matrix in panels of 8 columns, for Combine.
type Columns struct {
	n, dim int
	panels []float64 // [panels][n+8][8]: the last rows are the sums
}

// NewColumns packs the rows of x, of dim numbers each.
func NewColumns(x []float64, dim int) *Columns {
	c := &Columns{n: len(x) / dim, dim: dim}
	size := (c.n + strip) * strip
	c.panels = make([]float64, Panels(dim, strip)*size)
	for i, v := range x {
		row, j := i/dim, i%dim
		c.panels[j/strip*size+row*strip+j%strip] = v
	}
	return c
}

// Combine sets dst, [8][dim], to the sums of the rows times their weights w, [n+8][8], of
// which the last 8 rows do not matter: in order from 0, each product rounded. Only one
// goroutine may use c at a time.
func (c *Columns) Combine(dst, w []float64) {
	if len(dst) != strip*c.dim || len(w) != (c.n+strip)*strip {
		panic("vec: Combine of slices that do not fit together")
	}
	size := (c.n + strip) * strip
	for j := 0; j < c.dim; j += strip {
		x := c.panels[j/strip*size:][:size]
		t := x[c.n*strip:]
		clear(t)
		eliminate(w, x, c.n, nil)
		for r := range strip {
			for l := range min(strip, c.dim-j) {
				dst[r*c.dim+j+l] = -t[r*strip+l]
			}
		}
	}
}
