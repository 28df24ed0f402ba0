package decode

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest/decode/csvline"
	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/source"
	"github.com/accrete-ml/accrete/learner"
)

// csvFormat is what a file has that is nothing else.
var csvFormat = format{
	name:      "csv",
	looksLike: func([]byte) bool { return true },
	open:      func(l *source.Limited, d *Decoder) (rows, error) { return newCSV(l, d) },
	examples:  []string{"age,amount,y\n41,12.5,ok\n33,1e3,bad\n"},
}

// csvRows is a CSV file with a header. Cells lose the spaces around them. An
// empty one is null, so for an input it is missing, and for a label there is
// none.
type csvRows struct {
	in         *csvline.Reader
	limited    *source.Limited
	d          *Decoder
	header     []string
	names      [][]byte // of the inputs; nil for the labels, key and weight
	ys         []int    // columns of the labels, or -1: of one, unless Config.Labels has several
	key, w     int      // likewise
	textLabels bool
	types      []learner.ColumnType // of each column, as far as the first rows tell
	values     []float64            // of the inputs of a row that split has read
	scanned    bool                 // it has read the last row
	numbers    csvline.Numbers      // without places if the inputs are not the columns of placed
	placed     *Schema
}

func (c *csvRows) read() (line, error) {
	c.limited.NextRow()
	c.scanned = false
	cells, number, err := c.in.Read()
	if err != nil {
		return unreadable(err)
	}
	l := line{cells: cells, number: number, scanned: c.scanned}
	if c.scanned {
		return l, nil
	}
	if len(cells) != len(c.header) {
		l.err = bad("csv", "%d cells, but the header has %d", len(cells), len(c.header))
		return l, nil
	}
	for i, s := range cells {
		if n := len(s); n > 0 && (!csvline.Graphic(s[0]) || !csvline.Graphic(s[n-1])) {
			cells[i] = strings.TrimSpace(s)
		}
		if !c.in.Valid && !utf8.ValidString(s) {
			l.err = bad("csv", "column %s: %s is not valid UTF-8: convert the file, for example with iconv -f latin1 -t utf-8", excerpt.Quote(c.header[i]), excerpt.Quote(s))
		}
	}
	return l, nil
}

// unreadable returns the row that has an error in its quotes, or the error of the stream.
func unreadable(err error) (line, error) {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return line{}, err
	}
	hint := "a quote inside a quoted cell is written twice"
	if parse.Err == csv.ErrBareQuote {
		hint = "a cell that contains quotes is itself put in quotes, and those inside are written twice"
	}
	place := fmt.Sprintf("byte %d", parse.Column)
	if parse.Line != parse.StartLine {
		place = fmt.Sprintf("line %d, %s", parse.Line, place)
	}
	return line{number: parse.StartLine, err: bad("csv", "%s: %v: %s", place, parse.Err, hint)}, nil
}

func (c *csvRows) label(l line) string {
	if c.ys[0] < 0 || l.err != nil {
		return ""
	}
	return l.cells[c.ys[0]]
}

func (c *csvRows) learn(look []line, textLabels bool) error {
	c.textLabels = textLabels
	if err := c.infer(look); err != nil {
		return err
	}
	c.use()
	c.in.Reuse, c.in.Split = true, c.split // there is one row at a time from here on
	return nil
}

func (c *csvRows) decode(l line) (Row, *Error) {
	d := c.d
	d.list, d.x, d.fresh = d.list[:0], d.x[:0], d.fresh[:0]
	r := record{form: object}
	if l.scanned {
		d.x, r.form = append(d.x, c.values...), settled
	} else if c.direct(l.cells) {
		r.form = settled
	} else {
		for i, s := range l.cells {
			if c.names[i] != nil {
				d.list = append(d.list, field{c.names[i], c.input(i, s)})
			}
		}
	}
	d.noLabels()
	for i, y := range c.ys {
		switch {
		case y < 0:
		case len(c.ys) > 1:
			d.many[i] = c.target(l.cells[y])
		default:
			r.label = c.target(l.cells[y])
		}
	}
	if c.key >= 0 && l.cells[c.key] != "" {
		r.key = value{kind: text, text: view(l.cells[c.key])}
	}
	if c.w >= 0 && l.cells[c.w] != "" {
		r.weight = cell(l.cells[c.w])
	}
	row, err := d.row(r)
	if err != nil {
		err = advise(err)
	}
	return row, err
}

func (c *csvRows) record(dst []byte, l line) ([]byte, *Error) {
	var err *Error
	put := func(name string, v value) {
		if err == nil {
			if dst, err = appendText(dst, name); err == nil {
				dst, err = appendValue(append(dst, ':'), v)
			}
		}
	}
	dst = append(dst, `{"features":{`...)
	first := true
	for i, s := range l.cells {
		if c.names[i] == nil || c.d.ignores(c.names[i]) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		put(c.header[i], c.input(i, s))
	}
	dst = append(dst, '}')
	also := func(column int, name, otherwise string, v value) {
		if column >= 0 && v.kind != null {
			dst = append(dst, ',')
			if name == "" {
				name = otherwise
			}
			put(name, v)
		}
	}
	for i, y := range c.ys {
		if y >= 0 {
			name := c.d.config.Label
			if len(c.ys) > 1 {
				name = c.d.config.Labels[i]
			}
			also(y, name, "label", c.target(l.cells[y]))
		}
	}
	if c.key >= 0 {
		also(c.key, c.d.config.Key, "key", labelCell(l.cells[c.key], true))
	}
	if c.w >= 0 {
		also(c.w, c.d.config.Weight, "weight", cell(l.cells[c.w]))
	}
	return append(dst, '}'), err
}

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
	if !c.numbers.Cells(cells, d.x[:n]) {
		return false
	}
	d.x = d.x[:n]
	return true
}

// split is direct for a line whose cells have not been found.
func (c *csvRows) split(line string, cells []string) []string {
	if !c.isPlaced() {
		return nil
	}
	n := len(c.d.schema.Columns)
	if cap(c.values) < n {
		c.values = make([]float64, n)
	}
	c.values = c.values[:n]
	cells = c.numbers.Line(line, cells, c.values)
	c.scanned = cells != nil
	return cells
}

// isPlaced reports whether all inputs are columns with numbers, and finds their places.
func (c *csvRows) isPlaced() bool {
	if !c.d.plain() {
		return false
	}
	if c.placed != c.d.schema {
		c.placed, c.numbers.Place = c.d.schema, c.places()
	}
	return c.numbers.Place != nil
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
