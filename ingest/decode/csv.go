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

// csvFormat is the format of a file that no other format recognises.
var csvFormat = format{
	name:      "csv",
	looksLike: func([]byte) bool { return true },
	open:      func(l *source.Limited, d *Decoder) (rows, error) { return newCSV(l, d) },
	examples:  []string{"age,amount,y\n41,12.5,ok\n33,1e3,bad\n"},
}

// csvRows is a CSV file with a header. Spaces around cells are removed. An empty
// cell is null, which means a missing value for an input, and no label for a label.
type csvRows struct {
	in         *csvline.Reader
	limited    *source.Limited
	d          *Decoder
	header     []string
	at         map[string]int // index of each name in the header
	names      [][]byte       // names of the inputs; nil for the labels, key and weight, and an unnamed column
	unnamed    bool           // the first column has no name, and is no input: row numbers of pandas or R
	ys         []int          // columns of the labels, one unless Config.Labels has several; -1: none
	key, w     int            // columns of the key and the weight; -1: none
	textLabels bool
	types      []learner.ColumnType // of each column, as far as known from the first rows
	values     []float64            // inputs of the row that split has read
	scanned    bool                 // split has read the last row
	numbers    csvline.Numbers      // Place is nil if the inputs are not exactly the columns of placed
	placed     *Schema              // for which numbers.Place was computed
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

// unreadable returns a row with an error if err is about the quotes of the row. Otherwise it
// returns err, which is an error of the stream.
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
		hint = fmt.Sprintf("the quote of a cell that begins in line %d is not closed, or a quote inside it is not written twice", parse.StartLine)
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
	d.begin()
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
		err = d.advise(err)
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
		if c.names[i] == nil {
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
		also(c.key, c.d.config.Key, "key", keyCell(l.cells[c.key]))
	}
	if c.w >= 0 {
		also(c.w, c.d.config.Weight, "weight", cell(l.cells[c.w]))
	}
	return append(dst, '}'), err
}

// keyCell reads a key, which is text.
func keyCell(s string) value {
	if s == "" {
		return cell(s)
	}
	return value{kind: text, text: view(s)}
}

// direct is a fast path for rows whose inputs are exactly the columns and are all numbers: it
// puts the cells into Decoder.x directly. It returns false for other rows, which are then read
// by name.
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

// split is direct for a line that has not been split into cells yet.
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

// isPlaced reports whether direct and split can be used. It computes the place of each input
// among the columns.
func (c *csvRows) isPlaced() bool {
	if !c.d.plain() {
		return false
	}
	if c.placed != c.d.schema {
		c.placed, c.numbers.Place = c.d.schema, c.places()
	}
	return c.numbers.Place != nil
}

// places returns, for each column of the file, the index of the schema's column, or -1 if it is
// not an input. It returns nil unless the file has exactly the columns of the schema.
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
