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

// code has up to mostCodes columns that are codes become categories as well.
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
	runs, compared := repeated(x, stride)
	if 2*compared < len(labels) {
		return math.Inf(1)
	}
	rows := make([]int, 0, len(labels))
	for i := range labels {
		if v := x[i*stride]; v == v {
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(x[a*stride], x[b*stride]) })
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

// repeated returns where the rows of each value begin, and end, if the values that are not missing
// are sorted, and the number of rows that tell something. There are none if the values are not whole
// numbers that repeat, and more than maxOneHot.
func repeated(x []float64, stride int) (runs []int, rows int) {
	values := make([]float64, 0, len(x)/stride+1)
	for i := 0; i < len(x); i += stride {
		v := x[i]
		if v != v {
			continue
		}
		if v != math.Trunc(v) || math.IsInf(v, 0) {
			return nil, 0
		}
		values = append(values, v)
	}
	slices.Sort(values)
	for i, v := range values {
		if i == 0 || v != values[i-1] {
			runs = append(runs, i)
		}
	}
	if len(runs) <= maxOneHot || 2*len(runs) > len(values) {
		return nil, 0
	}
	runs = append(runs, len(values))
	for i, from := range runs[:len(runs)-1] {
		if n := runs[i+1] - from; telling(n, len(values)) {
			rows += n
		}
	}
	return runs, rows
}

// key returns the key of a value in the table of c.
func (c *column) key(v float64) int64 {
	if c.kind == asCoded && v == v {
		v = Key((math.Float64bits(v+0) ^ math.Float64bits(v+0)>>32) * 0x9E3779B97F4A7C15)
	}
	return keyOf(v)
}
