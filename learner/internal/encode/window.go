package encode

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// maxHalvings is the number of half-lives after which the rounding errors of newer rows are no
// longer small compared to what is left of older rows: 2⁻⁵³ of the sum of newer rows is 2⁻³³ of the
// rest of the older ones.
const maxHalvings = 20

// Window encodes the rows x as a model saw them that has learned all of them but the last pending
// ones: each row with the state after the rows before it. e is the state of that model, and does
// not change.
//
// The state before the first row is e with the learned rows of x removed. It is exact up to
// rounding, with two exceptions, in which the statistics begin without the rows before x: a value
// that was removed from its table while the rows were learned, and a column whose half-life is
// shorter than the learned rows by a factor of more than maxHalvings.
//
// unknown marks the rows that cannot be encoded, and is nil if there are none. They need the time
// since the last record of their key, which is not in x, so that its time has been overwritten.
func (e *Encoding) Window(x []float64, labels []target.Label, weights []float64, pending int) (rows []float64, unknown []bool) {
	d, n := e.Dim(), len(labels)
	at := e.clone()
	for j := range at.columns {
		if c := &at.columns[j]; c.kind == asDecayed && float64(n-pending) > maxHalvings*c.parameters[0] {
			c.table = newTable(c.table.targets)
		}
	}
	for i := n - 1 - pending; i >= 0; i-- {
		at.unlearn(x[i*d:(i+1)*d], &labels[i], weights[i])
	}
	for j := range e.columns {
		if c := &e.columns[j]; c.kind == asSince {
			at.columns[j].table = newTable(c.table.targets)
			unknown = e.firsts(unknown, x, j, n)
		}
	}
	return at.Rows(x, labels, weights), unknown
}

// firsts marks the rows that are the first of their key, which is in column j.
func (e *Encoding) firsts(marked []bool, x []float64, j, n int) []bool {
	d, seen := e.Dim(), map[int64]struct{}{}
	for i := range n {
		key, now := x[i*d+j], x[i*d+e.columns[j].time()]
		if math.IsNaN(key) || math.IsNaN(now) {
			continue
		}
		if _, ok := seen[keyOf(key)]; ok {
			continue
		}
		if marked == nil {
			marked = make([]bool, n)
		}
		seen[keyOf(key)], marked[i] = struct{}{}, true
	}
	return marked
}

// clone returns an encoding with the plan and a copy of the state of e.
func (e *Encoding) clone() *Encoding {
	c := e.Start()
	c.prior.weight = e.prior.weight
	copy(c.prior.sums, e.prior.sums)
	for j := range e.columns {
		t, to := e.columns[j].table, c.columns[j].table
		if t == nil {
			continue
		}
		to.growth = t.growth
		copy(to.total, t.total)
		to.keys, to.counts = append(to.keys, t.keys...), append(to.counts, t.counts...)
		for i, k := range t.keys {
			to.index[k] = i
		}
	}
	return c
}

// unlearn is the inverse of Learn for the row that was learned last. It leaves the encoder
// since as it is.
func (e *Encoding) unlearn(x []float64, y *target.Label, weight float64) {
	p := &e.prior
	subtract(p.sums, &p.weight, y, weight, p)
	for j, v := range x {
		c := &e.columns[j]
		t := c.table
		if t == nil || c.kind == asSince {
			continue
		}
		if c.kind == asGrams {
			c.unlearnGrams(x[j:j+c.keys()], y, weight, p)
			continue
		}
		scaled := weight
		if c.kind == asDecayed && t.total[0] == 0 {
			continue
		}
		if c.kind == asDecayed {
			scaled = float64(weight * t.growth)
			subtract(t.total[1:], &t.total[0], y, scaled, p)
		}
		t.remove(c.key(v), y, scaled, p)
		if c.kind == asDecayed {
			t.undecay(c.parameters[0])
		}
	}
}

// remove is the inverse of add. It does nothing if the key has left t.
func (t *table) remove(key int64, y *target.Label, weight float64, p *prior) {
	if i, ok := t.index[key]; ok {
		subtract(t.entry(i)[1:], &t.entry(i)[0], y, weight, p)
	}
}

// leastWeight is a share of the weight of a row. If a total without the row is at most this share,
// it is a rounding error.
const leastWeight = 1e-9

// subtract removes a row from sums, and its weight from their total weight. If no weight is left,
// the sums become 0.
func subtract(sums []float64, total *float64, y *target.Label, weight float64, p *prior) {
	if *total -= weight; *total <= leastWeight*weight {
		*total = 0
		clear(sums)
		return
	}
	for k := range sums {
		sums[k] -= float64(weight * p.target(y, k))
	}
}

// undecay is the inverse of decay.
func (t *table) undecay(halfLife float64) {
	if t.growth /= vec.Exp(math.Ln2 / halfLife); t.growth >= 1 {
		return
	}
	t.growth *= maxGrowth
	for i := range t.total {
		t.total[i] *= maxGrowth
	}
	for i := range t.counts {
		t.counts[i] *= maxGrowth
	}
}
