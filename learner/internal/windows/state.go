package windows

import (
	"encoding/json"
	"math"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Windows holds the statistics of all groups. It must not be used by several goroutines at once.
type Windows struct {
	layout *Layout
	tables []table
	counts Counts
}

// New returns Windows without rows. The layout must be valid.
func New(l *Layout) *Windows {
	w := &Windows{layout: l}
	for i := range l.Groups {
		w.tables = append(w.tables, newTable(&l.Groups[i]))
	}
	return w
}

// Layout returns the layout.
func (w *Windows) Layout() *Layout { return w.layout }

// Observe sets the features of a row, and adds the row to the statistics.
func (w *Windows) Observe(x []float64) {
	for i := range w.tables {
		w.tables[i].row(x, true, &w.counts)
	}
}

// Look sets the features of a row without adding the row to the statistics.
func (w *Windows) Look(x []float64) {
	var none Counts
	for i := range w.tables {
		w.tables[i].row(x, false, &none)
	}
}

// Counts returns the counts of rows since New or Load.
func (w *Windows) Counts() Counts { return w.counts }

// Keys returns the number of keys in all groups together.
func (w *Windows) Keys() (n int) {
	for i := range w.tables {
		n += len(w.tables[i].slots)
	}
	return n
}

// Bytes returns the memory that the keys take now, and the most that they can take.
func (w *Windows) Bytes() (now, most int64) {
	for i := range w.tables {
		g := w.tables[i].group
		now += int64(len(w.tables[i].slots)) * g.keyBytes()
		most += int64(g.MaxKeys) * g.keyBytes()
	}
	return now, most
}

// keyBytes returns the memory that a key takes: its slot, its entry in the index, half of which may
// be unused, its cells and its set.
func (g *Group) keyBytes() int64 {
	n := int64(64 + 40 + 32*len(g.HalfLives))
	if g.Distinct >= 0 {
		n += 16 * setSize
	}
	return n
}

// Bounds of numbers in a State, above anything that rows can lead to.
const (
	maxWeight   = 1 << 60
	maxVariance = 4.1 * target.MaxMagnitude * target.MaxMagnitude
)

// slotFields are the columns of the array "windows.slots".
const (
	slotClock = iota
	slotHeld
	slotValue
	slotOther
	slotStale
	slotSet
	slotFields
)

// Save writes the windows, unless w is nil. The keys of each group are in the order in which they
// were last seen, the least recently seen first.
func (w *Windows) Save(a *state.Arrays) {
	if w == nil {
		return
	}
	layout, err := json.Marshal(w.layout)
	if err != nil {
		panic(err) // a Layout consists of numbers only
	}
	var keys, sizes []int64
	var slots, cells, sets []float64
	for i := range w.tables {
		t := &w.tables[i]
		sizes = append(sizes, int64(len(t.slots)))
		for at := t.last; at >= 0; at = t.slots[at].prev {
			e := t.entry(at)
			keys = append(keys, int64(e.key))
			slots = append(slots, e.clock, e.held.at, e.held.value, e.held.other, float64(e.stale), float64(e.slot.set))
			for _, c := range e.cells {
				cells = append(cells, c.rows, c.weight, c.mean, c.variance)
			}
			for _, d := range e.set[:e.slot.set] {
				sets = append(sets, d.value, d.at)
			}
		}
	}
	state.Own(a, "windows.layout", len(layout), layout)
	state.Own(a, "windows.sizes", 1, sizes)
	state.Own(a, "windows.keys", 1, keys)
	state.Own(a, "windows.slots", slotFields, slots)
	state.Own(a, "windows.cells", 4, cells)
	state.Own(a, "windows.sets", 2, sets)
}

// Load reads what Save wrote for rows of dim values. It returns nil if there are no windows.
func Load(s *state.Reader, dim int) *Windows {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "windows.layout" {
		return nil
	}
	l := new(Layout)
	if err := json.Unmarshal(state.TakeRow[byte](s, "windows.layout"), l); err != nil {
		s.Fail("windows.layout: %v", err)
		return nil
	}
	if err := l.Check(dim); err != nil {
		s.Fail("%v", err)
		return nil
	}
	w := New(l)
	sizes := state.Take[int64](s, "windows.sizes", len(l.Groups), 1)
	keys := takeBits(s)
	slots := state.TakeRaw(s, "windows.slots", len(keys), slotFields)
	cells := state.TakeRaw(s, "windows.cells", state.AnySize, 4)
	sets := state.TakeRaw(s, "windows.sets", state.AnySize, 2)
	for i := range w.tables {
		if s.Err != nil {
			return nil
		}
		t := &w.tables[i]
		n := sizes[i]
		s.Require(n >= 0 && n <= int64(t.group.MaxKeys) && n <= int64(len(keys)) && int(n)*4*len(t.rates) <= len(cells), "windows: %d keys", n)
		for range max(0, n) {
			if s.Err != nil {
				return nil
			}
			sets = t.load(s, uint64(keys[0]), slots[:slotFields], cells[:4*len(t.rates)], sets)
			keys, slots, cells = keys[1:], slots[slotFields:], cells[4*len(t.rates):]
		}
	}
	s.Require(len(keys) == 0 && len(cells) == 0 && len(sets) == 0, "windows: more than windows.sizes says")
	if s.Err != nil {
		return nil
	}
	return w
}

// takeBits reads the keys, which are the bits of finite numbers.
func takeBits(s *state.Reader) []int64 {
	keys := state.Take[int64](s, "windows.keys", state.AnySize, 1)
	for _, k := range keys {
		s.Require(!missing(math.Float64frombits(uint64(k))), "windows: a key is no number")
	}
	return keys
}

// load adds a key, and returns the part of sets that follows its values.
func (t *table) load(s *state.Reader, key uint64, fields, cells, sets []float64) []float64 {
	_, twice := t.index[key]
	s.Require(!twice, "windows: duplicate key")
	for _, at := range fields[:2] {
		s.Require(missing(at) || math.Abs(at) <= maxTime, "windows: a time of %v s", at)
	}
	s.Require(missing(fields[slotHeld]) || missing(fields[slotClock]) || fields[slotHeld] > fields[slotClock], "windows: a row of %v s is held", fields[slotHeld])
	stale, set := fields[slotStale], fields[slotSet]
	s.Require(stale >= 0 && stale < staleRows && stale == math.Trunc(stale), "windows: %v rows in succession that are too old", stale)
	s.Require(set >= 0 && set <= float64(len(t.spare)) && set == math.Trunc(set) && 2*int(set) <= len(sets), "windows: %v different values", set)
	if s.Err != nil {
		return nil
	}
	var none Counts
	e := t.entry(t.insert(key, &none))
	e.clock, e.held = fields[slotClock], observed{fields[slotHeld], fields[slotValue], fields[slotOther]}
	e.stale, e.slot.set = int32(stale), int32(set)
	s.Require(missing(e.held.at) || missing(e.held.value) || math.Abs(e.held.value) <= target.MaxMagnitude, "windows: a value of %v", e.held.value)
	for i := range e.cells {
		c := cell{cells[4*i], cells[4*i+1], cells[4*i+2], cells[4*i+3]}
		s.Require(c.rows >= 0 && c.rows <= maxWeight && c.weight >= 0 && c.weight <= maxWeight && c.variance >= 0 && c.variance <= maxVariance && (missing(c.mean) || math.Abs(c.mean) <= 2*target.MaxMagnitude), "windows: weights of %v and %v, a mean of %v, a variance of %v", c.rows, c.weight, c.mean, c.variance)
		e.cells[i] = c
	}
	for i := range e.slot.set {
		d := distinct{sets[2*i], sets[2*i+1]}
		s.Require(!missing(d.value) && d.at >= -maxTime && d.at <= e.clock, "windows: a value %v at %v s", d.value, d.at)
		e.set[i] = d
	}
	return sets[2*e.slot.set:]
}
