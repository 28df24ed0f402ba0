package csvline

import (
	"math"
	"unicode/utf8"
	"unsafe"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
)

// Numbers reads the rows of a file whose inputs are numbers.
type Numbers struct {
	Place []int   // for each column, its index among the inputs; -1: not an input
	Comma byte    // between cells
	Most  float64 // largest magnitude of a number
}

// Cells stores the inputs of a row in x. It returns false if one of them is not a number.
func (n *Numbers) Cells(cells []string, x []float64) bool {
	for i, k := range n.Place {
		if k < 0 {
			continue
		}
		b := view(cells[i])
		v, length := decimal.Scan(b)
		if length == 0 || length != len(b) || math.Abs(v) > n.Most {
			return false
		}
		x[k] = v
	}
	return true
}

// Line is Cells for a line without quotes that has not been split yet. It finds the end of a cell
// by parsing its number, and appends the cells to cells. It returns nil if an input is not a
// number, or if a cell has spaces around it.
func (n *Numbers) Line(line string, cells []string, x []float64) []string {
	b := view(line)
	from := 0
	for i, k := range n.Place {
		to := from
		if k >= 0 {
			v, length := decimal.Scan(b[from:])
			if length == 0 || math.Abs(v) > n.Most {
				return nil
			}
			x[k] = v
			to += length
		} else {
			for to < len(b) && b[to] != n.Comma {
				to++
			}
			if to > from && (!Graphic(b[from]) || !Graphic(b[to-1])) {
				return nil
			}
		}
		cells = append(cells, line[from:to])
		if i == len(n.Place)-1 {
			if to < len(b) {
				return nil
			}
		} else if to == len(b) || b[to] != n.Comma {
			return nil
		}
		from = to + 1
	}
	return cells
}

// Graphic reports whether a byte is an ASCII character other than white space.
func Graphic(c byte) bool { return c > ' ' && c < utf8.RuneSelf }

// view returns the bytes of s, which must not be modified.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
