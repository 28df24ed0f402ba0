package encode

import (
	"math"
	"slices"
)

// awaited is a column without a value in the first rows. Its type may not be known then: see Settle.
// It becomes an indicator of having a value, and a number or the late statistics of a category. All
// of them are 0 for a missing value. The first parameter is one of the constants below, the others
// are those of the late statistics.
var awaited = encoder{
	name:  "awaited",
	moves: true,
	width: func(c *column, _ *prior) int { return 1 + max(1, c.late()) },
	apply: func(c *column, dst []float64, v float64, p *prior) {
		clear(dst)
		if c.holds() == holdsNothing || math.IsNaN(v) {
			return
		}
		dst[0] = 1
		switch c.holds() {
		case holdsNumbers:
			dst[1] = bounded(v)
		case holdsCategories:
			c.lateStatistics(dst[1:1+c.late()], v, p)
		}
	},
	valid: func(parameters []float64) bool {
		return len(parameters) > 0 && slices.Contains([]float64{holdsNothing, holdsNumbers, holdsCategories, holdsOther}, parameters[0]) && validLate(parameters[1:])
	},
	becomes: func(c *column) string {
		switch c.holds() {
		case holdsNothing:
			return "nothing yet: it had no value in the warm-up"
		case holdsNumbers:
			return "number, missing as 0, and an indicator of missing"
		case holdsCategories:
			return "indicator of missing, and target statistic"
		}
		return "indicator of missing"
	},
}

// These are what an awaited column holds.
const (
	holdsNothing = iota // so far
	holdsNumbers
	holdsCategories
	holdsOther // of which only the indicator is of use
)

func (c *column) holds() int { return int(c.parameters[0]) }

// await returns the encoder of a column of type t of which none of the first rows has a value. It is
// the same for all types that a later value can determine, because at the time of the plan the type
// may or may not be known, depending on how the rows are divided into batches.
func await(t Type) column {
	switch t.Values() {
	case Numeric, Boolean, Category, Pair, Time, Unknown:
		if t.HalfLife() > 0 {
			return column{kind: asDecayed, parameters: []float64{float64(t.HalfLife())}}
		}
		return column{kind: asAwaited, parameters: []float64{holdsNothing}}
	}
	return column{kind: asAbsent}
}

// Awaits reports whether the type of a column of e is still unknown.
func (e *Encoding) Awaits() bool {
	return e != nil && slices.ContainsFunc(e.columns, func(c column) bool { return c.kind == asAwaited && c.holds() == holdsNothing })
}

// Settle tells e the types of the columns, or nil if all are numeric, as they are known from the
// rows so far.
func (e *Encoding) Settle(types []Type) {
	if e == nil {
		return
	}
	for j := range e.columns {
		c := &e.columns[j]
		if c.kind != asAwaited || c.holds() != holdsNothing || types != nil && types[j] == Unknown {
			continue
		}
		c.parameters = slices.Clone(c.parameters) // which the plan of a fit shares
		c.parameters[0] = holdsOther
		if types == nil {
			c.parameters[0] = holdsNumbers
			continue
		}
		switch types[j].Values() {
		case Numeric, Boolean:
			c.parameters[0] = holdsNumbers
		case Category, Pair:
			c.parameters[0] = holdsCategories
		}
	}
}
