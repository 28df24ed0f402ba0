package csvline

import (
	"bytes"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
	"github.com/accrete-ml/accrete/ingest/decode/times"
	"github.com/accrete-ml/accrete/learner"
)

// missingCells lists the cells of a CSV file that are missing values, in addition to empty cells.
var missingCells = []string{"NA", "N/A", "NaN", "nan", "null", "NULL"}

// IsMissing reports whether a cell is a missing value.
func IsMissing(cell string) bool {
	if len(cell) > 4 {
		return false
	}
	for _, m := range missingCells {
		if cell == m {
			return true
		}
	}
	return cell == ""
}

// markers are the cells that are missing values as well where the others are numbers or times.
// Elsewhere they can be a value like any other.
var markers = []string{"?", "-", "--", ".", "None", "none", "n/a", "na", "#N/A", "<NA>", "\\N", "NaT", "nil"}

// IsMarker reports whether a cell is a missing value among numbers or times.
func IsMarker(cell string) bool { return len(cell) <= 4 && slices.Contains(markers, cell) }

// textShare is the largest share of other text in the first rows of a file with which a column
// still counts as one of numbers or times. Cells with such text are errors.
const textShare = 0.01

// Tally counts the values of a column in the first rows of a file.
type Tally struct {
	values, numbers, booleans, times int
	marked                           int    // cells that are missing values among numbers
	zeros                            int    // whole numbers with leading zeros, which are codes
	commas                           int    // numbers with commas
	comma                            string // one of them
}

// Add counts a cell.
func (t *Tally) Add(cell string) {
	if IsMissing(cell) {
		return
	}
	t.values++
	if _, _, ok := decimal.Parse(cell); ok {
		t.numbers++
		if len(cell) > 1 && cell[0] == '0' && strings.Trim(cell, "0123456789") == "" {
			t.zeros++
		}
	} else if IsMarker(cell) {
		t.marked++
	} else if Boolean(cell) != "" {
		t.booleans++
	} else if _, ok := times.Parse(view(cell), true); ok {
		t.times++
	} else if hasCommas(cell) {
		t.commas, t.comma = t.commas+1, cell
	}
}

// Type returns the type that the values have in common. Numbers with leading zeros are codes.
func (t *Tally) Type() (learner.ColumnType, bool) {
	given := t.values - t.marked
	nearly := func(n int) bool { return n > 0 && float64(given-n) <= textShare*float64(given) }
	switch {
	case t.values == 0:
		return 0, false
	case t.booleans > 0 && t.booleans == given:
		return learner.BooleanColumn, true
	case nearly(t.times):
		return learner.TimeColumn, true
	case nearly(t.numbers) && t.zeros == 0:
		return learner.NumericColumn, true
	}
	return learner.CategoryColumn, true
}

// The kinds of labels.
const (
	NoLabels = iota
	NumberLabels
	TextLabels
)

// Labels returns what labels are. A few that are no numbers are errors where the others are numbers of
// a regression, and not where they could be the numbers of classes.
func (t *Tally) Labels(classes bool) int {
	is, _ := t.Type()
	switch {
	case t.values == 0:
		return NoLabels
	case t.numbers == t.values || !classes && is == learner.NumericColumn:
		return NumberLabels
	}
	return TextLabels
}

// Len returns the number of values.
func (t *Tally) Len() int { return t.values }

// Comma returns a number with commas if nearly all values are numbers, some of which have commas.
func (t *Tally) Comma() string {
	if given := t.values - t.marked; float64(given-t.commas-t.numbers) > textShare*float64(given) {
		return ""
	}
	return t.comma
}

// Boolean returns the JSON of a boolean cell, or "" for any other cell.
func Boolean(cell string) string {
	for _, word := range [...]string{"true", "false"} {
		if len(cell) == len(word) && strings.EqualFold(cell, word) {
			return word
		}
	}
	return ""
}

// Separators are the bytes that can separate the cells of a CSV file.
var Separators = []byte{',', ';', '\t', '|'}

// Separator returns the separator in the header of a CSV file: a comma if there is one outside
// of quotes, or else the most frequent of the other separators.
func Separator(head []byte) rune {
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
	best := Separators[0]
	if n[best] == 0 {
		for _, c := range Separators {
			if n[c] > n[best] {
				best = c
			}
		}
	}
	return rune(best)
}

// hasCommas reports whether a cell is a number with a decimal comma or with commas between thousands. A
// cell can contain a comma if it is quoted, or if the file has another separator.
func hasCommas(cell string) bool {
	before, after, found := strings.Cut(cell, ",")
	if !found || before == "" || after == "" {
		return false
	}
	if _, _, ok := decimal.Parse(before + "." + after); ok {
		return true
	}
	whole, fraction, _ := strings.Cut(cell, ".")
	groups := strings.Split(strings.TrimLeft(whole, "+-"), ",")
	for i, g := range groups {
		if strings.Trim(g, "0123456789") != "" || len(g) > 3 || len(g) < 3 && i > 0 || g == "" {
			return false
		}
	}
	return strings.Trim(fraction, "0123456789") == ""
}
