package windows

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// staleRows is the number of successive rows that are too old after which a key starts again:
	// the time of an earlier row must have been wrong.
	staleRows = 8

	// maxTime bounds times in seconds, so that their differences are exact enough.
	maxTime = 1e15
)

// slot is the state of a key.
type slot struct {
	key        uint64
	clock      float64 // time of the newest row added; NaN if there is none
	held       observed
	stale      int32 // number of successive rows that were too old
	set        int32 // number of distinct values
	prev, next int32 // neighbours in the list of keys, the most recently seen first; -1: none
}

// table is the state of a group.
type table struct {
	group *Group
	rates []float64 // ln 2 / half-life
	ahead float64   // a row is held if it is newer than the clock by more than this

	index       map[uint64]int32
	slots       []slot
	cells       []cell     // for each slot, one cell for each half-life
	sets        []distinct // for each slot, setSize values; empty without Distinct
	first, last int32      // most recently seen slot, and least recently seen one; -1: none

	scratch []cell // for a key that is looked at without being added
	spare   []distinct
	factors []float64
}

func newTable(g *Group) table {
	t := table{group: g, index: map[uint64]int32{}, first: -1, last: -1, ahead: max(g.Lateness, slices.Max(g.HalfLives))}
	for _, h := range g.HalfLives {
		t.rates = append(t.rates, math.Ln2/h)
	}
	t.factors = make([]float64, len(t.rates))
	t.scratch = make([]cell, len(t.rates))
	if g.Distinct >= 0 {
		t.spare = make([]distinct, setSize)
	}
	return t
}

// entry is a slot with its cells and its set.
type entry struct {
	*slot
	cells []cell
	set   []distinct // room for setSize values; slot.set of them are used
}

func (t *table) entry(i int32) entry {
	n := len(t.rates)
	e := entry{slot: &t.slots[i], cells: t.cells[int(i)*n : (int(i)+1)*n]}
	if t.group.Distinct >= 0 {
		e.set = t.sets[int(i)*setSize : (int(i)+1)*setSize]
	}
	return e
}

// copied returns a copy of an entry, in scratch memory and into.
func (t *table) copied(e entry, into *slot) entry {
	*into = *e.slot
	copy(t.scratch, e.cells)
	copy(t.spare, e.set)
	return entry{into, t.scratch, t.spare}
}

func (s *slot) begin(key uint64) {
	*s = slot{key: key, clock: math.NaN(), held: observed{at: math.NaN()}, prev: -1, next: -1}
}

// row sets the features of x. If add is true, it then adds x to the statistics.
func (t *table) row(x []float64, add bool, c *Counts) {
	g := t.group
	key, o := x[g.Key], observed{at: x[g.Time], value: math.NaN(), other: math.NaN()}
	if missing(key) || !(math.Abs(o.at) <= maxTime) {
		for _, to := range g.To {
			x[to] = math.NaN()
		}
		c.NoKey++
		return
	}
	if g.Of >= 0 && !missing(x[g.Of]) { // otherwise it stays the same representation of NaN as in the state
		o.value = target.Bounded(x[g.Of])
	}
	if g.Distinct >= 0 && !missing(x[g.Distinct]) {
		o.other = x[g.Distinct]
	}
	bits := math.Float64bits(key + 0) // turns -0 into 0
	i, known := t.index[bits]
	var copied slot
	var e entry
	switch {
	case add && known:
		t.touch(i)
		e = t.entry(i)
	case add:
		e = t.entry(t.insert(bits, c))
	case known:
		e = t.copied(t.entry(i), &copied)
	default:
		copied.begin(bits)
		clearCells(t.scratch)
		e = entry{&copied, t.scratch, t.spare}
	}
	t.settle(e, o.at, c)
	t.features(e, x, o.at)
	if add {
		t.add(e, o, c)
	}
}

// settle adds or drops the row that is held for the key, given the time of the next row.
func (t *table) settle(e entry, at float64, c *Counts) {
	h := e.held
	if missing(h.at) {
		return
	}
	e.held = observed{at: math.NaN()}
	if at < h.at-t.ahead {
		c.Dropped++
		return
	}
	if !missing(e.clock) {
		t.elapse(h.at - e.clock)
	}
	t.push(e, h)
}

// elapse sets the factors by which weights shrink in that many seconds.
func (t *table) elapse(seconds float64) {
	for i, r := range t.rates {
		t.factors[i] = vec.Exp(-float64(seconds * r))
	}
}

// features sets the features of a row of x at a time. It also sets the factors for the time since
// the newest row.
func (t *table) features(e entry, x []float64, at float64) {
	g := t.group
	now := at
	if now < e.clock {
		now = e.clock
	}
	elapsed := 0.0
	if !missing(e.clock) {
		elapsed = now - e.clock
	}
	t.elapse(elapsed)
	to := g.To
	for i := range e.cells {
		c, f := &e.cells[i], t.factors[i]
		for _, is := range g.Features {
			var v float64
			switch is {
			case Count:
				v = c.rows * f
			case Sum:
				if v = 0; !missing(c.mean) {
					v = float64(c.weight*f) * c.mean
				}
			case Mean:
				v = c.mean
			case Deviation:
				if v = math.NaN(); !missing(c.mean) {
					v = math.Sqrt(c.variance)
				}
			case Distinct:
				for _, d := range e.set[:e.slot.set] {
					v += float64(vec.Exp(-float64((now - d.at) * t.rates[i])))
				}
			default:
				continue
			}
			x[to[0]], to = v, to[1:]
		}
	}
	if len(to) > 0 { // Since
		x[to[0]] = math.NaN()
		if !missing(e.clock) {
			x[to[0]] = vec.Log(1 + elapsed)
		}
	}
}

// add adds a row. Its features must have been set already.
func (t *table) add(e entry, o observed, c *Counts) {
	switch {
	case missing(e.clock), o.at > e.clock+t.ahead:
		e.held = o
		c.Rows++
	case o.at < e.clock-t.group.Lateness:
		c.Stale++
		if e.stale++; e.stale >= staleRows {
			key, prev, next := e.key, e.prev, e.next
			e.begin(key)
			e.prev, e.next, e.held = prev, next, o
			clearCells(e.cells)
		}
		return
	case o.at < e.clock:
		c.Late++
		t.elapse(e.clock - o.at)
		t.push(e, o)
	default:
		c.Rows++
		t.push(e, o)
	}
	e.stale = 0
}

// push adds a row to the statistics. The factors must be set for the time between this row and the
// newest one.
func (t *table) push(e entry, o observed) {
	later := missing(e.clock) || o.at >= e.clock
	for i := range e.cells {
		c, shrink, a := &e.cells[i], 1.0, 1.0
		if later && !missing(e.clock) {
			shrink = t.factors[i]
		} else if !later {
			a = t.factors[i]
		}
		c.rows = float64(c.rows*shrink) + a
		c.weight = float64(c.weight * shrink)
		c.observe(o.value, a)
	}
	if later {
		e.clock = o.at
	}
	if e.set != nil && !missing(o.other) {
		e.remember(o.other, o.at)
	}
}
