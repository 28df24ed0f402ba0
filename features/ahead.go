package features

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// ahead is the phases of the rows of the last sum with a Cache. The rows that a model predicts are
// often the rows that it learns next, and these need the same phases.
type ahead struct {
	x      []float32 // rows × dim
	dim    int
	panels int       // of frequencies, in memory
	whole  int       // of these panels, the ones that further blocks do not change
	kept   []bool    // whether phases are kept, by panel of rows
	phases []float32 // [panels of rows][panels][phaseTile]
}

// mostAhead is the number of rows up to which a sum keeps their phases, if there are no more than
// mostCached frequencies: 1 MiB.
const mostAhead = 64

// begin prepares a for the sums of j over that many panels of frequencies. It reports whether the
// phases of any panel of rows are to be kept.
func (a *ahead) begin(j *job, panels int) bool {
	a.x, a.kept = a.x[:0], a.kept[:0]
	if j.bank.m.Dim < cachedInputs || j.bank.structured() || j.rows > mostAhead {
		return false
	}
	a.dim, a.panels = j.bank.m.Dim, panels
	if most := vec.Panels(mostCached, vec.Panel); panels > most {
		a.panels = most / panelsPerGroup * panelsPerGroup
	}
	a.whole = min(a.panels, j.bank.blocks*j.bank.m.BlockSize/vec.Panel)
	for _, of := range j.coordinates[:vec.Panels(j.rows, vec.Lanes)] {
		a.kept = append(a.kept, of.Products(a.dim) >= cachedInputs)
	}
	if !slices.Contains(a.kept, true) {
		return false
	}
	a.x = append(a.x, j.x[:j.rows*a.dim]...)
	resize(&a.phases, len(a.kept)*a.panels*phaseTile)
	return true
}

// of returns the memory for the phases of a panel of rows and the panels [p, q) of frequencies, or
// nil if they are not to be kept.
func (a *ahead) of(rows, p, q int) []float32 {
	if a == nil || !a.kept[rows] || q > a.panels {
		return nil
	}
	return a.phases[(rows*a.panels+p)*phaseTile : (rows*a.panels+q)*phaseTile]
}

// Put tells c that rows [lane, lane+n) of a panel have changed, and are now the rows from row i on
// of x. It stores their phases if the last sum with c has computed them. The panel is new if none of
// its rows was in use before.
func (c *Cache) Put(panel, lane, n int, x []float32, i int, isNew bool) {
	a := &c.ahead
	if !a.has(x, i, n) {
		c.Forget(panel)
		return
	}
	if isNew || n == vec.Lanes {
		c.room(panel, 0, a.whole)
	}
	if panel >= len(c.valid) {
		return
	}
	for p := range c.valid[panel] {
		valid := &c.valid[panel][p]
		*valid = p < a.whole && (*valid || isNew || n == vec.Lanes)
		if !*valid {
			continue
		}
		to := c.tile(p, panel)
		if isNew {
			clear(to)
		}
		a.copy(to[lane:], p, i, n)
	}
}

// has reports whether a has the phases of the rows [i, i+n) of x.
func (a *ahead) has(x []float32, i, n int) bool {
	known := len(a.x)
	return known > 0 && (i+n)*a.dim <= known && known <= len(x) && slices.Equal(x[:known], a.x) &&
		a.kept[i/vec.Lanes] && a.kept[(i+n-1)/vec.Lanes]
}

// copy copies the phases of the rows [i, i+n) and a panel of frequencies to the first lanes of dst.
func (a *ahead) copy(dst []float32, p, i, n int) {
	for n > 0 {
		lane := i % vec.Lanes
		part := min(n, vec.Lanes-lane)
		from := a.of(i/vec.Lanes, p, p+1)[lane:]
		if part == vec.Lanes {
			copy(dst, from)
		} else {
			for at := 0; at < len(from); at += vec.Lanes {
				copy(dst[at:at+part], from[at:at+part])
			}
		}
		dst, i, n = dst[part:], i+part, n-part
	}
}
