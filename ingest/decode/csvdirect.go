package decode

import "math"

// direct puts the cells of a row whose inputs are the columns, all numbers, into Decoder.x at
// once. It reports false if the row has something else, which is then read in the other way.
func (c *csvRows) direct(cells []string) bool {
	d := c.d
	if !d.plain() {
		return false
	}
	if c.placed != d.schema {
		c.placed, c.place = d.schema, c.places()
	}
	if c.place == nil {
		return false
	}
	n := len(d.schema.Columns)
	if cap(d.x) < n {
		d.x = make([]float64, n)
	}
	x := d.x[:n]
	for i, k := range c.place {
		if k < 0 {
			continue
		}
		b := view(cells[i])
		v, length := scanNumber(b)
		if length == 0 || length != len(b) || math.Abs(v) > d.config.MaxAbs {
			return false
		}
		x[k] = v
	}
	d.x = x
	return true
}

// plain reports whether every column is a field with a number, and nothing else is made of
// the fields of a record.
func (d *Decoder) plain() bool {
	return len(d.schema.Columns) > 0 && !d.config.Sparse && d.types == nil && d.looks == nil && d.pairs == nil && d.since < 0
}

// places returns the column of the schema that each column of the file is, -1 for those that
// are no inputs, or nil unless every column of the schema is there once.
func (c *csvRows) places() []int {
	place, inputs := make([]int, len(c.names)), 0
	for i, name := range c.names {
		place[i] = -1
		if name == nil {
			continue
		}
		k, ok := c.d.column[string(name)]
		if !ok {
			return nil
		}
		place[i] = k
		inputs++
	}
	if inputs != len(c.d.schema.Columns) {
		return nil
	}
	return place
}
