package decode

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
	"github.com/accrete-ml/accrete/ingest/decode/hints"
	"github.com/accrete-ml/accrete/ingest/decode/times"
	"github.com/accrete-ml/accrete/learner"
)

// missingCells are the cells of a CSV file that are missing values, beside empty ones.
var missingCells = []string{"NA", "N/A", "NaN", "nan", "null", "NULL"}

func isMissing(cell string) bool {
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

// textShare is the largest share of other text among the values of a column of numbers or
// times in the first rows of a file. Such cells are errors.
const textShare = 0.01

// tally counts the values of a column in the first rows of a file.
type tally struct {
	values, numbers, booleans, times int
	commas                           int    // numbers with decimal commas
	comma                            string // one of them
}

func (t *tally) add(cell string) {
	if isMissing(cell) {
		return
	}
	t.values++
	if _, _, ok := decimal.Parse(cell); ok {
		t.numbers++
	} else if booleanCell(cell) != "" {
		t.booleans++
	} else if _, ok := times.Parse(view(cell)); ok {
		t.times++
	} else if decimalComma(cell) {
		t.commas, t.comma = t.commas+1, cell
	}
}

// columnType returns the type that the values have in common.
func (t *tally) columnType() (learner.ColumnType, bool) {
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

// booleanCell returns the JSON of a boolean cell, or nothing if it is none.
func booleanCell(cell string) string {
	for _, word := range [...]string{"true", "false"} {
		if len(cell) == len(word) && strings.EqualFold(cell, word) {
			return word
		}
	}
	return ""
}

// infer sets the types of the inputs from the first rows, where they are neither
// declared nor known.
func (c *csvRows) infer(look []line) error {
	d := c.d
	if !d.config.Infer {
		return nil
	}
	if d.hints == nil {
		d.hints = map[string]learner.ColumnType{}
	}
	for i, name := range c.header {
		if c.names[i] == nil {
			continue
		}
		var t tally
		for _, l := range look {
			if l.err == nil {
				t.add(l.cells[i])
			}
		}
		if _, declared := d.config.Types[name]; t.commas > 0 && t.commas+t.numbers == t.values && !declared {
			return fmt.Errorf("column %s has numbers with decimal commas, such as %s: write them with points, or declare the type of the column, for example %s:category (--columns, or input.columns)", quote(name), quote(t.comma), name)
		}
		if is, ok := t.columnType(); ok {
			d.hints[name] = is
		}
	}
	return nil
}

// use notes the types that the cells of each column are read as.
func (c *csvRows) use() {
	c.types = make([]learner.ColumnType, len(c.header))
	for i, name := range c.header {
		c.types[i] = c.d.firstType(name)
		if at, ok := c.d.column[name]; ok && c.d.typeOf(at) != learner.UnknownColumn {
			c.types[i] = c.d.typeOf(at)
		}
		for _, a := range c.d.aliases {
			if a.field == name {
				c.types[i] = a.is
			}
		}
		if at, ok := c.d.column[string(c.d.renamed[name])]; ok {
			c.types[i] = c.d.typeOf(at)
		}
	}
}

// input returns the value of the cell of column i, an input.
func (c *csvRows) input(i int, s string) value {
	if !c.d.typed() {
		return cell(s)
	}
	if isMissing(s) {
		return value{kind: null}
	}
	switch c.types[i].Values() {
	case learner.SourceColumn:
		if !c.d.config.isWindowField(c.header[i], true) {
			return value{kind: text, text: view(s)}
		}
	case learner.CategoryColumn, learner.TextColumn:
		return value{kind: text, text: view(s)}
	case learner.BooleanColumn:
		if word := booleanCell(s); word != "" {
			return value{kind: boolean, text: view(word)}
		}
	}
	return cell(s)
}

// target returns the value of a cell of a label.
func (c *csvRows) target(s string) value {
	if !c.textLabels && c.d.typed() && isMissing(s) {
		return value{kind: null}
	}
	return labelCell(s, c.textLabels)
}

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
	_, _, ok := decimal.Parse(before + "." + after)
	return ok
}

// Look makes Hint know what the values of the next records look like.
func (d *Decoder) Look() { d.looks = hints.New() }

// look counts the values of d.list.
func (d *Decoder) look() {
	if !d.looks.NextRow() {
		return
	}
	for _, f := range d.list {
		switch f.kind {
		case num:
			d.looks.Number(f.name, f.num, f.value.text)
		case text:
			d.looks.Text(f.name, f.value.text)
		}
	}
}

// Hint returns which type the values of a field, of type typ, look as if they should rather
// have; empty if they do not, or without Look.
func (d *Decoder) Hint(name, typ string) string { return d.looks.Hint(name, typ) }

// Look does what that of a Decoder does.
func (f *File) Look() { f.d.Look() }

// Hint does what that of a Decoder does.
func (f *File) Hint(name, typ string) string { return f.d.Hint(name, typ) }
