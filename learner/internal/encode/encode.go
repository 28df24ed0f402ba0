// Package encode turns raw rows, in which a column may be a category, a time or missing,
// into the rows of numbers that a model sees.
//
// What a column becomes is planned on the first rows and then fixed. Some encoders also
// have state that moves: the statistics of a category. A row is encoded with the state
// before it, and the state moves with the model, at the ends of mini-batches.
package encode

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

// column is a raw column and its encoder.
type column struct {
	kind       int       // index of its encoder in encoders
	parameters []float64 // planned on the first rows
	table      *table    // nil if the encoder has no state that moves
}

func (c *column) encoder() *encoder { return &encoders[c.kind] }

// Encoding is a plan for all columns, and the state that moves.
type Encoding struct {
	columns []column
	width   int
	prior   prior
}

// prior holds the sums over all rows that have been learned.
type prior struct {
	classes bool // the targets are indicators of classes
	groups  bool // of random halves of the classes
	weight  float64
	sums    []float64 // of the targets
}

// maxTargets is the largest number of targets, or classes, of which statistics are kept. If there
// are more, only the first ones have statistics, or in an open plan that many random halves of the
// classes, so that all classes differ. Chosen by trial, see docs/constants.md.
const maxTargets = 16

// NewPlan returns the encoding of columns of these types that is planned on raw rows x.
// It returns nil if the model can see the rows as they are.
func NewPlan(columns []Type, x []float64, labels []target.Label, task target.Task) *Encoding {
	return newPlan(columns, x, labels, task).unlessPlain()
}

// NewOpenPlan returns an encoding like NewPlan, with these differences. It expects what the first rows
// do not have, see open. Numbers that are codes become categories as well, see codes. And many classes
// have statistics of random halves of them, see maxTargets.
func NewOpenPlan(columns []Type, x []float64, labels []target.Label, task target.Task) *Encoding {
	e := newPlan(columns, x, labels, task)
	e.prior.groups = e.prior.classes && slices.ContainsFunc(labels, func(y target.Label) bool { return y.Class >= maxTargets })
	e.code(x, labels)
	e.open(columns, x, labels)
	return e.unlessPlain()
}

// unlessPlain returns e with its width, or nil if e leaves the rows as they are.
func (e *Encoding) unlessPlain() *Encoding {
	if !slices.ContainsFunc(e.columns, func(c column) bool { return c.kind != asIs }) {
		return nil
	}
	e.setWidth()
	return e
}

func newPlan(columns []Type, x []float64, labels []target.Label, task target.Task) *Encoding {
	e := &Encoding{columns: make([]column, len(columns)), prior: newPrior(labels, task)}
	since := -1
	for j, t := range columns {
		c := plan(t, x[j:], len(columns))
		switch {
		case t == Text || t == Gram:
			c = planText(columns, j)
		case t == Since:
			since = j
		case t == RecordKey && since >= 0:
			c = column{kind: asSince, parameters: []float64{float64(since)}}
		}
		if encoders[c.kind].moves {
			c.table = newTable(len(e.prior.sums))
		}
		e.columns[j] = c
	}
	return e
}

func (e *Encoding) setWidth() {
	e.width = 0
	for j := range e.columns {
		e.width += e.columns[j].encoder().width(&e.columns[j], &e.prior)
	}
}

func newPrior(labels []target.Label, task target.Task) prior {
	p := prior{classes: task != target.Regression}
	n := 1
	for i := range labels {
		if p.classes {
			n = max(n, labels[i].Class+1)
		} else {
			n = max(n, labels[i].Targets())
		}
	}
	if p.classes && n == 2 {
		n = 1 // the share of one class tells that of the other
	}
	p.sums = make([]float64, min(n, maxTargets))
	return p
}

// Dim returns the number of values of a raw row.
func (e *Encoding) Dim() int { return len(e.columns) }

// Width returns the number of values of an encoded row.
func (e *Encoding) Width() int { return e.width }

// Moves reports whether the encoding has state that has changed with the rows that were learned.
func (e *Encoding) Moves() bool {
	for j := range e.columns {
		c := &e.columns[j]
		if late := c.kind == asOpen || c.kind == asAwaited; c.table != nil && (!late || len(c.table.keys) > 0) {
			return true
		}
	}
	return false
}

// WidthOf returns the number of columns that raw column j becomes.
func (e *Encoding) WidthOf(j int) int {
	c := &e.columns[j]
	return c.encoder().width(c, &e.prior)
}

// Apply sets dst to the encoded row x, by the state as it is.
func (e *Encoding) Apply(dst, x []float64) {
	for j, v := range x {
		c := &e.columns[j]
		n := c.encoder().width(c, &e.prior)
		switch c.kind {
		case asSince:
			sinceLast(c, dst[:n], v, x[c.time()])
		case asGrams:
			gramStatistics(c, dst[:n], x[j:j+c.keys()], &e.prior)
		default:
			c.encoder().apply(c, dst[:n], v, &e.prior)
		}
		dst = dst[n:]
	}
}

// Learn updates the state with a row that has been learned.
func (e *Encoding) Learn(x []float64, y *target.Label, weight float64) {
	p := &e.prior
	p.weight += weight
	for k := range p.sums {
		p.sums[k] += float64(weight * p.target(y, k))
	}
	for j, v := range x {
		c := &e.columns[j]
		switch {
		case c.kind == asSince:
			c.table.seen(v, x[c.time()])
		case c.kind == asGrams:
			c.learnGrams(x[j:j+c.keys()], y, weight, p)
		case c.kind == asDecayed:
			c.table.decay(c.parameters[0])
			c.table.addDecayed(keyOf(v), y, weight, p)
		case c.learns(v):
			c.table.add(c.key(v), y, weight, p)
		}
	}
}

// Bound removes entries of tables that are too large. It is called at the end of a
// mini-batch.
func (e *Encoding) Bound() {
	for j := range e.columns {
		if c := &e.columns[j]; c.table != nil {
			c.table.bound(c.mostEntries())
		}
	}
}

// Rows encodes the rows of x, each with the state after the rows before it, and updates the state
// with them.
func (e *Encoding) Rows(x []float64, labels []target.Label, weights []float64) []float64 {
	d := e.Dim()
	out := make([]float64, len(labels)*e.width)
	for i := range labels {
		row := x[i*d : (i+1)*d]
		e.Apply(out[i*e.width:(i+1)*e.width], row)
		e.Learn(row, &labels[i], weights[i])
	}
	e.Bound()
	return out
}

// Start returns an encoding with the plan of e, which may be nil, and with empty state.
func (e *Encoding) Start() *Encoding {
	if e == nil {
		return nil
	}
	s := &Encoding{columns: slices.Clone(e.columns), width: e.width}
	s.prior = prior{classes: e.prior.classes, groups: e.prior.groups, sums: make([]float64, len(e.prior.sums))}
	for j := range s.columns {
		if t := s.columns[j].table; t != nil {
			s.columns[j].table = newTable(t.targets)
		}
	}
	return s
}

// target returns target k of y.
func (p *prior) target(y *target.Label, k int) float64 {
	switch {
	case !p.classes:
		return target.Bounded(y.At(k))
	case p.groups && drawn(uint64(y.Class), uint64(k+1)) < 0.5:
		return 1
	case p.groups:
		return 0
	case len(p.sums) == 1 && y.Class == 1 || len(p.sums) > 1 && y.Class == k:
		return 1
	}
	return 0
}

// mean returns the mean of target k.
func (p *prior) mean(k int) float64 {
	if p.weight == 0 {
		return 0
	}
	return p.sums[k] / p.weight
}

// Key returns the raw value of a category with the given 64-bit hash: 52 bits of it,
// which a float64 holds exactly.
func Key(hash uint64) float64 { return float64(hash >> 12) }

// maxKey is one more than the largest Key.
const maxKey = 1 << 52

// missingKey is the key of a missing value, which is a category of its own.
const missingKey = -1

func keyOf(v float64) int64 {
	if math.IsNaN(v) {
		return missingKey
	}
	return int64(max(0, min(maxKey-1, v)))
}
