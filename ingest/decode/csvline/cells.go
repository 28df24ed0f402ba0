package csvline

import (
	"bytes"
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

// textShare is the largest share of other text in the first rows of a file with which a column
// still counts as one of numbers or times. Cells with such text are errors.
const textShare = 0.01

// Tally counts the values of a column in the first rows of a file.
type Tally struct {
	values, numbers, booleans, times int
	commas                           int    // numbers with decimal commas
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
	} else if Boolean(cell) != "" {
		t.booleans++
	} else if _, ok := times.Parse(view(cell)); ok {
		t.times++
	} else if decimalComma(cell) {
		t.commas, t.comma = t.commas+1, cell
	}
}

// Type returns the type that the values have in common.
func (t *Tally) Type() (learner.ColumnType, bool) {
	switch {
	case t.values == 0:
		return 0, false
	case t.booleans == t.values:
		return learner.BooleanColumn, true
	case t.times > 0 && float64(t.values-t.times) <= textShare*float64(t.values):
		return learner.TimeColumn, true
	case float64(t.values-t.numbers) <= textShare*float64(t.values):
		return learner.NumericColumn, true
	}
	return learner.CategoryColumn, true
}

// DecimalComma returns a number with a decimal comma if the values are numbers, some of which
// have one.
func (t *Tally) DecimalComma() string {
	if t.commas+t.numbers < t.values {
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

// decimalComma reports whether a cell is a number with a comma in place of the point, as
// in files whose cells are separated otherwise.
func decimalComma(cell string) bool {
	before, after, found := strings.Cut(cell, ",")
	if !found || before == "" || after == "" || strings.Contains(after, ",") {
		return false
	}
	_, _, ok := decimal.Parse(before + "." + after)
	return ok
}
