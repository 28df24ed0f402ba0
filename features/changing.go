package features

import "github.com/accrete-ml/accrete/internal/vec"

// Changing sums the features of rows in which only some columns change. The time of a sum does not
// depend on the number of the other columns. Only one goroutine may use a Changing at a time.
type Changing struct {
	bank    *Bank
	scores  int
	x, coef []float32

	panels  []float32   // x as it was, packed
	phases  [][]float32 // of each panel of rows as they were; nil: Sum computes whole rows
	packed  []float32   // coef
	step    []float32   // scratch: how much a panel of rows has changed
	group   []float32   // likewise: phases of a group
	sums    []float64   // likewise
	scratch vec.Scratch
}

// phaseTile is the number of phases of one panel of rows and one panel of frequencies.
const phaseTile = vec.Panel * vec.Lanes

// Changing returns a Changing for the rows x, which the caller may change, and coefficients as in
// Sum.
func (b *Bank) Changing(x, coef []float32, scores int) *Changing {
	dim, m := b.m.Dim, len(coef)/(2*scores)
	c := &Changing{bank: b, scores: scores, x: x, coef: coef}
	if len(x)%dim != 0 || len(coef) != 2*m*scores || m > b.blocks*b.m.BlockSize {
		panic("features: Changing: slice lengths do not match")
	}
	frequencies := vec.Panels(m, vec.Panel)
	if b.featured() || b.structured() || b.weights != nil || len(b.w) < frequencies*vec.Panel*dim {
		return c
	}
	size := vec.Lanes * dim
	c.panels = make([]float32, vec.Panels(len(x)/dim, vec.Lanes)*size)
	vec.PackRows(c.panels, x, dim)
	c.packed = make([]float32, 2*frequencies*vec.Panel*scores)
	vec.PackCoefficients(c.packed, coef, scores)
	for i := 0; i < len(c.panels); i += size {
		t := make([]float32, frequencies*phaseTile)
		for p := range frequencies {
			vec.Project(t[p*phaseTile:(p+1)*phaseTile], c.panels[i:i+size], b.w[p*vec.Panel*dim:(p+1)*vec.Panel*dim], dim)
		}
		c.phases = append(c.phases, t)
	}
	return c
}

// Sum sets dst, rows x scores, to the sums for the rows as they are now. Only the columns
// [from, to) may have changed since the call of Changing. The sums differ from those of Bank.Sum by
// rounding.
func (c *Changing) Sum(dst []float64, from, to int) {
	if c.phases == nil {
		c.bank.Sum(dst, c.x, c.coef, c.scores)
		return
	}
	dim := c.bank.m.Dim
	rows := len(c.x) / dim
	step, sums := resize(&c.step, (to-from)*vec.Lanes), resize(&c.sums, c.scores*vec.Lanes)
	for i, phases := range c.phases {
		first := i * vec.Lanes
		n := min(vec.Lanes, rows-first)
		was := c.panels[(first*dim + from*vec.Lanes):]
		clear(step)
		for r := range n {
			for j, v := range c.x[(first+r)*dim+from : (first+r)*dim+to] {
				step[j*vec.Lanes+r] = v - was[j*vec.Lanes+r]
			}
		}
		clear(sums)
		for p := 0; p < len(phases)/phaseTile; p += panelsPerGroup {
			of := phases[p*phaseTile : min((p+panelsPerGroup)*phaseTile, len(phases))]
			t := resize(&c.group, len(of))
			clear(t)
			for q := 0; q < len(of) && from < to; q += phaseTile {
				w := c.bank.w[(p+q/phaseTile)*vec.Panel*dim:]
				vec.Project(t[q:q+phaseTile], step, w[from*vec.Panel:to*vec.Panel], to-from)
			}
			for j, v := range of {
				t[j] += v
			}
			vec.SumPhases(sums, 1, t, c.packed[2*p*vec.Panel*c.scores:], c.scores, n, &c.scratch)
		}
		for r := range n {
			for k := range c.scores {
				dst[(first+r)*c.scores+k] = sums[k*vec.Lanes+r]
			}
		}
	}
}
