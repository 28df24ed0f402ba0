package windows

import "math"

// observed is a row as its key sees it. Its time is NaN if there is none.
type observed struct{ at, value, other float64 }

// cell is the statistics of one half-life, as of the time of the slot.
type cell struct {
	rows     float64 // their weight
	weight   float64 // of those with a value
	mean     float64 // NaN before the first value
	variance float64
}

func clearCells(cells []cell) {
	for i := range cells {
		cells[i] = cell{mean: math.NaN()}
	}
}

// observe adds a value of weight a: the update of West (1979) for the mean and the variance,
// which does not subtract large sums from each other.
func (c *cell) observe(v, a float64) {
	switch total := c.weight + a; {
	case missing(v) || total == 0:
	case missing(c.mean):
		c.weight, c.mean, c.variance = total, v, 0
	default:
		r, d := a/total, v-c.mean
		c.mean += float64(d * r)
		c.variance = (1 - r) * (c.variance + float64(float64(d*d)*r))
		c.weight = total
	}
}

// setSize is the number of different values that are told apart for a key.
const setSize = 32

// distinct is a value and the time of its last row.
type distinct struct{ value, at float64 }

// remember notes that a value of the set was there at a time. A new one replaces the one
// that was not there for the longest time, if it is later and there is no room.
func (e entry) remember(v, at float64) {
	oldest := 0
	for i := range e.set[:e.slot.set] {
		d := &e.set[i]
		if d.value == v {
			d.at = max(d.at, at)
			return
		}
		if d.at < e.set[oldest].at {
			oldest = i
		}
	}
	switch {
	case e.slot.set < setSize:
		e.set[e.slot.set] = distinct{v, at}
		e.slot.set++
	case at > e.set[oldest].at:
		e.set[oldest] = distinct{v, at}
	}
}
