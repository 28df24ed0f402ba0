package encode

import (
	"cmp"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

// coded is a column of numbers that are codes, see codes: the number, and what ordered makes of it
// as a category. The parameters are the number that takes the place of missing ones, the number of
// random orders, and the credibilities.
var coded = encoder{
	name:  "coded",
	moves: true,
	width: func(c *column, p *prior) int { return 1 + ordered.width(c, p) },
	apply: func(c *column, dst []float64, v float64, p *prior) {
		impute(c, dst[:1], bounded(v), p)
		ordered.apply(c, dst[1:], v, p)
	},
	valid: func(parameters []float64) bool {
		return len(parameters) > 1 && !math.IsNaN(parameters[0]) && !math.IsInf(parameters[0], 0) && validOrders(parameters[1], 0) && credibilities(parameters[2:])
	},
	becomes: func(*column) string { return "number, and as a code: target statistic and log frequency" },
}

const (
	// mostCodes is the largest number of columns that are taken for codes. Not chosen by trial yet: a
	// first guess, see docs/constants.md.
	mostCodes = 4

	// codeRows is the least number of rows from which columns are taken for codes. Not chosen by trial
	// yet: a first guess, see docs/constants.md.
	codeRows = 250

	// codeGain is the largest squared error of the mean label of a value, relative to that of the
	// values beside it, at which numbers are codes. Not chosen by trial yet: a first guess, see
	// docs/constants.md.
	codeGain = 0.8

	// codeFloor is added to the former, as a share of the variance of the labels: what the values
	// beside it leave of steps and steep slopes without noise is less. Not chosen by trial: see
	// docs/constants.md.
	codeFloor = 0.05
)

// code makes columns of numbers that are codes, at most mostCodes of them, categories as well.
func (e *Encoding) code(x []float64, labels []target.Label) {
	if len(labels) < codeRows {
		return
	}
	d := len(e.columns)
	type found struct {
		column int
		error  float64
	}
	var all []found
	for j := range e.columns {
		switch e.columns[j].kind {
		case asIs, asImputed, asIndicated, asNormal, asNormalIndicated:
			if r := e.prior.codes(x[j:], d, labels); r < codeGain {
				all = append(all, found{j, r})
			}
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(a.error, b.error), cmp.Compare(a.column, b.column)) })
	for _, f := range all[:min(len(all), mostCodes)] {
		mean, _, _ := meanOf(x[f.column:], d)
		e.columns[f.column] = column{kind: asCoded, parameters: []float64{mean, 0}, table: newTable(len(e.prior.sums))}
	}
}

// codes returns how well the labels of the other rows with the same value predict a label, if the
// values x[0], x[stride], and so on, are whole numbers that repeat and more than maxOneHot; otherwise
// +Inf. It is the squared error of their mean, relative to that of the mean of twice as many rows with
// the values beside it. Where a label depends on the number smoothly, or not at all, the latter is
// better.
func (p *prior) codes(x []float64, stride int, labels []target.Label) float64 {
	rows, runs, compared := repeated(x, stride)
	if 2*compared < len(labels) {
		return math.Inf(1)
	}
	same, beside := 0.0, 0.0
	y, sums := make([]float64, len(rows)), make([]float64, len(rows)+1)
	for k := range p.sums {
		for i, r := range rows {
			y[i] = p.target(&labels[r], k)
		}
		p.clamp(y)
		deviation := p.deviation(y)
		for i, v := range y {
			y[i] = v / deviation
			sums[i+1] = sums[i] + y[i]
		}
		for i, from := range runs[:len(runs)-1] {
			to := runs[i+1]
			n := to - from
			if !telling(n, len(rows)) {
				continue
			}
			low, high := max(0, from-n), min(len(rows), to+n)
			others := float64(sums[from]-sums[low]) + float64(sums[high]-sums[to])
			other := others / float64(from-low+high-to)
			for _, v := range y[from:to] {
				own := v - float64(sums[to]-sums[from]-v)/float64(n-1)
				same += float64(own * own)
				beside += float64((v - other) * (v - other))
			}
		}
	}
	if !(beside > 0) {
		return math.Inf(1)
	}
	return (same + float64(codeFloor*float64(compared*len(p.sums)))) / beside
}

// telling reports whether n of that many rows tell if a value is a code: there have to be other rows
// with it, and a value of many rows is hardly a code.
func telling(n, rows int) bool { return n > 1 && 8*n <= rows }

// repeated returns the rows whose value is not missing, sorted by their values, where those of each
// value begin, and end, and the number of rows that tell something. There are none if the values are
// not whole numbers that repeat, and more than maxOneHot.
func repeated(x []float64, stride int) (rows, runs []int, compared int) {
	all := make([]valued, 0, len(x)/stride+1)
	for i := 0; i < len(x); i += stride {
		v := x[i]
		if v != v {
			continue
		}
		if v != math.Trunc(v) || math.IsInf(v, 0) {
			return nil, nil, 0
		}
		all = append(all, valued{v, i / stride})
	}
	all = sorted(all)
	for i, of := range all {
		if i == 0 || of.value != all[i-1].value {
			runs = append(runs, i)
		}
	}
	if len(runs) <= maxOneHot || 2*len(runs) > len(all) {
		return nil, nil, 0
	}
	runs = append(runs, len(all))
	for i, from := range runs[:len(runs)-1] {
		if n := runs[i+1] - from; telling(n, len(all)) {
			compared += n
		}
	}
	for _, of := range all {
		rows = append(rows, of.row)
	}
	return rows, runs, compared
}

// valued is a row and its value in a column.
type valued struct {
	value float64
	row   int
}

// sorted returns all, whose values are whole numbers and whose rows increase, sorted by the values,
// and those of one value by their rows. Numbers that are close together are counted: a table can have
// hundreds of such columns.
func sorted(all []valued) []valued {
	low, high := math.Inf(1), math.Inf(-1)
	for _, of := range all {
		low, high = min(low, of.value), max(high, of.value)
	}
	if d := high - low; !(d >= 0 && d < float64(len(all))) { // or there are no rows
		slices.SortStableFunc(all, func(a, b valued) int { return cmp.Compare(a.value, b.value) })
		return all
	}
	next := make([]int, int(high-low)+2) // where the next row of each value belongs
	for _, of := range all {
		next[int(of.value-low)+1]++
	}
	for i := range next[1:] {
		next[i+1] += next[i]
	}
	out := make([]valued, len(all))
	for _, of := range all {
		at := &next[int(of.value-low)]
		out[*at] = of
		*at++
	}
	return out
}

// key returns the key of a value in the table of c.
func (c *column) key(v float64) int64 {
	if c.kind == asCoded && v == v {
		v = Key((math.Float64bits(v+0) ^ math.Float64bits(v+0)>>32) * 0x9E3779B97F4A7C15)
	}
	return keyOf(v)
}
