package windows

import "math"

// observed is a row as far as the statistics of its key need it. Its time is NaN if there is no
// row.
type observed struct{ at, value, other float64 }

// cell is the statistics for one half-life, as of the clock of the slot.
type cell struct {
	rows     float64 // weight of all rows
	weight   float64 // weight of the rows with a value
	mean     float64 // NaN before the first value
	variance float64
}

func clearCells(cells []cell) {
	for i := range cells {
		cells[i] = cell{mean: math.NaN()}
	}
}

// observe adds a value with weight a. It updates mean and variance as West (1979), without
// subtracting large sums from each other.
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

// setSize is the number of distinct values that are remembered for a key.
const setSize = 32

// distinct is a value and the time of its last row.
type distinct struct{ value, at float64 }

// remember notes that the value v occurred at a time. If there is no room for a new value, it
// replaces the value that has not occurred for the longest time, unless the new one is older than
// that.
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
