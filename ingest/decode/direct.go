package decode

import (
	"bytes"
	"math"
	"unicode/utf8"
	"unsafe"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
)

// direct puts the cells of a row whose inputs are the columns, all numbers, into Decoder.x at
// once. It reports false if the row has something else, which is then read in the other way.
func (c *csvRows) direct(cells []string) bool {
	d := c.d
	if !c.isPlaced() {
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
		v, length := decimal.Scan(b)
		if length == 0 || length != len(b) || math.Abs(v) > d.config.MaxAbs {
			return false
		}
		x[k] = v
	}
	d.x = x
	return true
}

// split is direct for a line whose cells have not been found: a number ends where its cell
// does.
func (c *csvRows) split(line string, cells []string) []string {
	if !c.isPlaced() {
		return nil
	}
	n := len(c.d.schema.Columns)
	if cap(c.values) < n {
		c.values = make([]float64, n)
	}
	c.values = c.values[:n]
	b, most := view(line), c.d.config.MaxAbs
	from := 0
	for i, k := range c.place {
		to := from
		if k >= 0 {
			v, length := decimal.Scan(b[from:])
			if length == 0 || math.Abs(v) > most {
				return nil
			}
			c.values[k] = v
			to += length
		} else {
			for to < len(b) && b[to] != c.comma {
				to++
			}
			if to > from && (!graphic(b[from]) || !graphic(b[to-1])) {
				return nil
			}
		}
		cells = append(cells, line[from:to])
		if i == len(c.place)-1 {
			c.scanned = to == len(b)
		} else if to == len(b) || b[to] != c.comma {
			return nil
		}
		from = to + 1
	}
	if !c.scanned {
		return nil
	}
	return cells
}

// isPlaced reports whether all inputs are columns with numbers, and sets place.
func (c *csvRows) isPlaced() bool {
	if !c.d.plain() {
		return false
	}
	if c.placed != c.d.schema {
		c.placed, c.place = c.d.schema, c.places()
	}
	return c.place != nil
}

// plain reports whether every column is a field with a number, and nothing else is made of
// the fields of a record.
func (d *Decoder) plain() bool {
	return len(d.schema.Columns) > 0 && !d.config.Sparse && d.types == nil && d.looks == nil && d.pairs == nil && d.since < 0 && d.tables == nil && d.aliases == nil
}

// places returns the column of the schema that each column of the file is, -1 for those that
// are not inputs, or nil unless every column of the schema is there once.
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

// direct reads a line of numbers, separated by spaces, into Decoder.x, and returns its label. It
// reports false if there is something else, which is then read in the other way.
func (s *libsvmRows) direct(b []byte) (label value, ok bool) {
	d := s.d
	clear(d.x)
	if d.now++; d.now == 0 { // it has wrapped
		clear(d.seen)
		d.now = 1
	}
	at := 0
	for at < len(b) && b[at] > ' ' && b[at] != ':' && b[at] != '#' {
		at++
	}
	if at < len(b) && b[at] == ':' { // there is no label
		at = 0
	} else if at < len(b) && b[at] != ' ' {
		return value{}, false
	}
	label = labelCell(unsafe.String(unsafe.SliceData(b), at), s.textLabels)
	for at < len(b) {
		if b[at] == ' ' {
			at++
			continue
		}
		i, digits := leadingIndex(b[at:])
		at += digits
		if i < 1 || i > len(d.x) || at == len(b) || b[at] != ':' || d.seen[i-1] == d.now {
			return value{}, false
		}
		v, n := decimal.Scan(b[at+1:])
		if at += 1 + n; n == 0 || at < len(b) && b[at] != ' ' {
			return value{}, false
		}
		d.x[i-1], d.seen[i-1] = v, d.now
	}
	return label, true
}

// highestIndex returns the highest index of a line with a label, whose entries are separated
// by spaces. It reports false for other lines.
func highestIndex(b []byte) (highest int, ok bool) {
	at := bytes.IndexByte(b, ' ')
	if at < 0 || bytes.IndexByte(b[:at], ':') >= 0 || bytes.IndexByte(b, '#') >= 0 {
		return 0, false
	}
	for at < len(b) {
		if b[at] == ' ' {
			at++
			continue
		}
		i, digits := leadingIndex(b[at:])
		at += digits
		if i < 1 || at+1 >= len(b) || b[at] != ':' || b[at+1] == ' ' {
			return 0, false
		}
		highest = max(highest, i)
		for at < len(b) && b[at] > ' ' {
			if at++; b[at-1] >= utf8.RuneSelf {
				return 0, false
			}
		}
		if at < len(b) && b[at] != ' ' {
			return 0, false
		}
	}
	return highest, true
}

// leadingIndex returns the index that b begins with, and how many digits it has, at most nine.
func leadingIndex(b []byte) (i, digits int) {
	for digits < len(b) && b[digits]-'0' <= 9 && digits < 9 {
		i = i*10 + int(b[digits]-'0')
		digits++
	}
	return i, digits
}
