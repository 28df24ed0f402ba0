// Package libsvm reads lines of the LIBSVM format, "label index:value …", with indices from 1
// and zeros left out.
package libsvm

import (
	"bytes"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
)

// Split splits a line into its label and the rest.
func Split(b []byte) (label, rest []byte) {
	if i := bytes.IndexByte(b, '#'); i >= 0 {
		b = b[:i]
	}
	b = bytes.TrimSpace(b)
	i := bytes.IndexAny(b, " \t")
	if i < 0 {
		i = len(b)
	}
	if bytes.IndexByte(b[:i], ':') >= 0 {
		return nil, b
	}
	return b[:i], b[i:]
}

// Entry cuts the first entry off a line without its label. It returns nil at the end of the
// line.
func Entry(b []byte) (entry, rest []byte) {
	from := 0
	for from < len(b) && b[from] <= ' ' && space[b[from]] {
		from++
	}
	if from == len(b) {
		return nil, nil
	}
	to := from
	for to < len(b) && (b[to] > ' ' || !space[b[to]]) {
		to++
	}
	return b[from:to], b[to:]
}

// Spaced returns a line in which only ASCII characters separate entries. If the line has other
// characters, it replaces all Unicode white space.
func Spaced(b []byte) []byte {
	if ascii(b) {
		return b
	}
	return bytes.Join(bytes.Fields(b), []byte(" "))
}

// space are the ASCII characters that separate entries.
var space = [' ' + 1]bool{' ': true, '\t': true, '\v': true, '\f': true, '\r': true}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// Numbers is a fast path for lines that contain only numbers, separated by spaces. It stores the
// number with index i+1 in x[i] and returns the label. It sets seen[i] to now, which it must not
// be before. It returns false for other lines, which have to be read entry by entry.
func Numbers(b []byte, x []float64, seen []uint32, now uint32) (label []byte, ok bool) {
	clear(x)
	label, at, ok := plainLabel(b)
	if !ok {
		return nil, false
	}
	for at < len(b) {
		if b[at] == ' ' {
			at++
			continue
		}
		i, digits := leadingIndex(b[at:])
		at += digits
		if i < 1 || i > len(x) || at == len(b) || b[at] != ':' || seen[i-1] == now {
			return nil, false
		}
		v, n := decimal.Scan(b[at+1:])
		if at += 1 + n; n == 0 || at < len(b) && b[at] != ' ' {
			return nil, false
		}
		x[i-1], seen[i-1] = v, now
	}
	return label, true
}

// Pairs is Numbers for lines that leave out most indices. It appends the indices, counted from 0,
// to columns, and the numbers to x.
func Pairs(b []byte, columns []uint32, x []float64) (label []byte, _ []uint32, _ []float64, ok bool) {
	label, at, ok := plainLabel(b)
	if !ok {
		return nil, columns, x, false
	}
	for at < len(b) {
		if b[at] == ' ' {
			at++
			continue
		}
		i, digits := leadingIndex(b[at:])
		at += digits
		if i < 1 || at == len(b) || b[at] != ':' {
			return nil, columns, x, false
		}
		v, n := decimal.Scan(b[at+1:])
		if at += 1 + n; n == 0 || at < len(b) && b[at] != ' ' {
			return nil, columns, x, false
		}
		columns, x = append(columns, uint32(i-1)), append(x, v)
	}
	return label, columns, x, true
}

// plainLabel returns the label of a line, which is empty if there is none, and the position of its
// end. It returns false unless a space follows the label.
func plainLabel(b []byte) (label []byte, at int, ok bool) {
	for at < len(b) && b[at] > ' ' && b[at] != ':' && b[at] != '#' {
		at++
	}
	if at < len(b) && b[at] == ':' { // there is no label
		at = 0
	} else if at < len(b) && b[at] != ' ' {
		return nil, 0, false
	}
	return b[:at], at, true
}

// Highest returns the highest index of a line with a label, whose entries are separated
// by spaces. It reports false for other lines.
func Highest(b []byte) (highest int, ok bool) {
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
