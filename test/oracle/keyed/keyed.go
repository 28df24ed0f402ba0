// Package keyed defines the statistics of the earlier rows of a key, in the slowest way: it keeps
// all rows, and sums over them for each new one. The windows of learner compute the same
// statistics in constant time; docs/windows.md describes them.
package keyed

import (
	"math"
	"slices"
)

// Group is the statistics of one key.
type Group struct {
	HalfLives []float64 // seconds
	Features  []string  // count, sum, mean, deviation, distinct, since, in this order
	Lateness  float64   // seconds
	MaxKeys   int
}

// Row is a row as its key sees it. What is missing is NaN.
type Row struct{ At, Value, Other float64 }

const (
	distinctValues = 32  // that are told apart for a key
	staleRows      = 8   // in succession, after which a key begins again
	keptRows       = 400 // of a key, before those without weight are left out
	noWeight       = 60  // half-lives after which a row weighs nothing
)

// Table has the rows of all keys.
type Table struct {
	group Group
	keys  map[float64]*history
	now   int

	Counts
}

// Counts says how often what is rare has happened.
type Counts struct {
	Late    int `json:"late"`    // rows that were older than the newest of their key, and added
	Stale   int `json:"stale"`   // rows that were too old
	Dropped int `json:"dropped"` // rows that were held, and contradicted by the next one
	Evicted int `json:"evicted"` // keys
}

// Plus returns the sums of two counts.
func (c Counts) Plus(o Counts) Counts {
	return Counts{c.Late + o.Late, c.Stale + o.Stale, c.Dropped + o.Dropped, c.Evicted + o.Evicted}
}

// history is the rows of a key.
type history struct {
	rows  []Row // that were added
	most  float64
	held  *Row
	stale int
	seen  int // when the key was seen last
}

// New returns a Table without keys.
func New(g Group) *Table { return &Table{group: g, keys: map[float64]*history{}} }

// Most returns the largest absolute value of the rows of a key: the error of a deviation, which
// is the root of a difference, is in proportion to it.
func (t *Table) Most(key float64) float64 {
	if h := t.keys[key]; h != nil {
		return h.most
	}
	return 0
}

// Add returns the features of a row, in the order of the columns of a window, and adds the row.
// They are all NaN without a key or a time.
func (t *Table) Add(key float64, r Row) []float64 {
	if missing(key) || missing(r.At) {
		return t.none()
	}
	h := t.keys[key]
	if h == nil {
		if len(t.keys) >= t.group.MaxKeys {
			t.evict()
		}
		h = new(history)
		t.keys[key] = h
	}
	t.now++
	h.seen = t.now
	h.settle(&t.group, r, &t.Counts)
	out := h.features(&t.group, r)
	h.add(&t.group, r, &t.Counts)
	return out
}

// Look returns the features of a row that is not added.
func (t *Table) Look(key float64, r Row) []float64 {
	if missing(key) || missing(r.At) {
		return t.none()
	}
	var h history
	if known := t.keys[key]; known != nil {
		h = *known
		h.rows = slices.Clone(h.rows)
	}
	h.settle(&t.group, r, new(Counts))
	return h.features(&t.group, r)
}

func missing(v float64) bool { return math.IsNaN(v) }

func (t *Table) none() []float64 {
	n := len(t.group.Features) * len(t.group.HalfLives)
	if slices.Contains(t.group.Features, "since") {
		n -= len(t.group.HalfLives) - 1
	}
	return slices.Repeat([]float64{math.NaN()}, n)
}

// evict forgets the key that was not seen for the longest time.
func (t *Table) evict() {
	first, oldest := true, 0.0
	for key, h := range t.keys {
		if first || h.seen < t.keys[oldest].seen {
			first, oldest = false, key
		}
	}
	delete(t.keys, oldest)
	t.Evicted++
}

func (g *Group) ahead() float64 { return max(g.Lateness, slices.Max(g.HalfLives)) }

func (h *history) newest() float64 {
	at := math.Inf(-1)
	for _, r := range h.rows {
		at = max(at, r.At)
	}
	return at
}

// settle adds or drops the row that is held, given the next one.
func (h *history) settle(g *Group, r Row, c *Counts) {
	switch {
	case h.held == nil:
	case r.At >= h.held.At-g.ahead():
		h.rows = append(h.rows, *h.held)
	default:
		c.Dropped++
	}
	h.held = nil
	if !missing(r.Value) {
		h.most = max(h.most, math.Abs(r.Value))
	}
}

func (h *history) features(g *Group, r Row) (out []float64) {
	newest := h.newest()
	now := max(r.At, newest)
	for _, half := range g.HalfLives {
		of := h.sums(half, now)
		for _, f := range g.Features {
			if f != "since" {
				out = append(out, of[f])
			}
		}
	}
	if slices.Contains(g.Features, "since") {
		since := math.NaN()
		if len(h.rows) > 0 {
			since = math.Log1p(now - newest)
		}
		out = append(out, since)
	}
	return out
}

// sums returns the features of one half-life at a time.
func (h *history) sums(half, now float64) map[string]float64 {
	valued := math.Inf(-1)
	for _, r := range h.rows {
		if !missing(r.Value) {
			valued = max(valued, r.At)
		}
	}
	var count, weight, sum, total float64
	last := map[float64]float64{}
	for _, r := range h.rows {
		w := math.Exp2((r.At - now) / half)
		count += w
		if !missing(r.Value) {
			sum += w * r.Value
			w = math.Exp2((r.At - valued) / half) // or all of them could underflow
			weight += w
			total += w * r.Value
		}
		if !missing(r.Other) {
			if at, known := last[r.Other]; !known || r.At > at {
				last[r.Other] = r.At
			}
		}
	}
	mean := total / weight
	variance, distinct := 0.0, 0.0
	if weight == 0 {
		variance = math.NaN()
	}
	for _, r := range h.rows {
		if !missing(r.Value) {
			variance += math.Exp2((r.At-valued)/half) / weight * (r.Value - mean) * (r.Value - mean)
		}
	}
	times := []float64{}
	for _, at := range last {
		times = append(times, at)
	}
	slices.Sort(times)
	for _, at := range times[max(0, len(times)-distinctValues):] {
		distinct += math.Exp2((at - now) / half)
	}
	return map[string]float64{"count": count, "sum": sum, "mean": mean, "deviation": math.Sqrt(variance), "distinct": distinct}
}

func (h *history) add(g *Group, r Row, c *Counts) {
	newest := h.newest()
	switch {
	case len(h.rows) == 0 || r.At > newest+g.ahead():
		h.held, h.stale = &r, 0
	case r.At < newest-g.Lateness:
		c.Stale++
		if h.stale++; h.stale == staleRows {
			*h = history{held: &r, most: h.most, seen: h.seen}
		}
	default:
		if r.At < newest {
			c.Late++
		}
		h.rows, h.stale = append(h.rows, r), 0
	}
	if len(h.rows) > keptRows { // or it would be too slow
		newest := h.newest()
		h.rows = slices.DeleteFunc(h.rows, func(r Row) bool { return r.At < newest-noWeight*slices.Max(g.HalfLives) })
	}
}
