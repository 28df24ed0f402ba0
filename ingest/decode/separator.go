package decode

import (
	"bytes"
	"strings"
)

// separators are the bytes that can separate the cells of a CSV file.
var separators = []byte{',', ';', '\t', '|'}

// separator returns the separator that the header of a CSV file has outside of quotes: a
// comma, or else the most frequent other one.
func separator(head []byte) rune {
	var n [256]int
	quoted := false
	for _, c := range bytes.TrimLeft(head, "\r\n") {
		if c == '\n' && !quoted {
			break
		}
		if c == '"' {
			quoted = !quoted
		}
		if !quoted {
			n[c]++
		}
	}
	best := separators[0]
	if n[best] == 0 {
		for _, c := range separators {
			if n[c] > n[best] {
				best = c
			}
		}
	}
	return rune(best)
}

// decimalComma reports whether a cell is a number with a comma in place of the point, as
// in files whose cells are separated otherwise.
func decimalComma(cell string) bool {
	before, after, found := strings.Cut(cell, ",")
	if !found || before == "" || after == "" || strings.Contains(after, ",") {
		return false
	}
	_, _, ok := number(before + "." + after)
	return ok
}
