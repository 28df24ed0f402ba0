package decode

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest/decode/csvline"
	"github.com/accrete-ml/accrete/ingest/decode/source"
	"github.com/accrete-ml/accrete/internal/spell"
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
	comma      byte
	values     []float64 // of the inputs of a row that split has read
	scanned    bool      // it has read the last row
	place      []int     // of each column among the inputs, -1 for others; nil if they are not the columns of placed
	placed     *Schema
}

func newCSV(l *source.Limited, d *Decoder) (*csvRows, error) {
	head, _ := l.From.Peek(source.HeadBytes)
	comma := separator(head)
	c := &csvRows{in: csvline.NewReader(l, comma), limited: l, d: d, comma: byte(comma)}
	header, _, err := c.in.Read()
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	c.header = make([]string, len(header))
	c.names = make([][]byte, len(header))
	for i, name := range header {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
			return nil, fmt.Errorf("column %d has no name in the header", i+1)
		case !utf8.ValidString(name):
			return nil, fmt.Errorf("the name of column %d, %s, is not UTF-8: convert the file, for example with iconv -f latin1 -t utf-8", i+1, quote(name))
		case slices.Contains(c.header[:i], name):
			return nil, fmt.Errorf("two columns are named %s", quote(name))
		}
		c.header[i], c.names[i] = name, []byte(name)
	}
	cfg := d.config
	labels := cfg.Labels
	if cfg.Label != "" {
		labels = []string{cfg.Label}
	}
	for _, name := range labels {
		y, err := c.find(name, "label")
		if err != nil && !cfg.NoLabel {
			return nil, err
		}
		c.ys = append(c.ys, y)
	}
	if labels == nil {
		y := slices.Index(c.header, "y")
		switch label := slices.Index(c.header, "label"); {
		case y < 0:
			y = label
		case label >= 0:
			return nil, errors.New("there are columns y and label: choose the label with --label (input.label)")
		}
		c.ys = []int{y}
		if y < 0 && !cfg.NoLabel && cfg.Task != learner.Novelty {
			if len(header) == 1 {
				return nil, fmt.Errorf("the first line is %s: is this a CSV file with a header?", quote(header[0]))
			}
			return nil, fmt.Errorf("no column is named y or label: choose the label with --label (input.label) from the columns %s", some(c.header))
		}
	}
	if c.key, err = c.find(cfg.Key, "key"); err != nil {
		return nil, err
	}
	if c.w, err = c.find(cfg.Weight, "weight"); err != nil {
		return nil, err
	}
	if err := c.checkDeclared(); err != nil {
		return nil, err
	}
	inputs := len(header)
	for _, i := range append([]int{c.key, c.w}, c.ys...) {
		if i >= 0 {
			c.names[i] = nil
			inputs--
		}
	}
	if inputs == 0 {
		return nil, errors.New("no input columns")
	}
	if inputs > cfg.MaxColumns {
		return nil, fmt.Errorf("%d inputs, the limit is %d", inputs, cfg.MaxColumns)
	}
	return c, nil
}

// find gives the column that a configured name means, -1 if none is configured.
func (c *csvRows) find(name, what string) (int, error) {
	if name == "" {
		return -1, nil
	}
	if i := slices.Index(c.header, name); i >= 0 {
		return i, nil
	}
	hint := ""
	if near := spell.Nearest(name, c.header); near != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", quote(near))
	}
	return -1, fmt.Errorf("there is no column %s, which is configured as the %s%s; the columns are %s", quote(name), what, hint, some(c.header))
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
		if n := len(s); n > 0 && (!graphic(s[0]) || !graphic(s[n-1])) {
			cells[i] = strings.TrimSpace(s)
		}
		if !c.in.Valid && !utf8.ValidString(s) {
			l.err = bad("csv", "column %s: %s is not valid UTF-8: convert the file, for example with iconv -f latin1 -t utf-8", quote(c.header[i]), quote(s))
		}
	}
	return l, nil
}

// graphic reports whether a byte is an ASCII character that is no space.
func graphic(c byte) bool { return c > ' ' && c < utf8.RuneSelf }

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
	return line{number: parse.StartLine, err: bad("csv", "line %d, byte %d: %v: %s", parse.Line, parse.Column, parse.Err, hint)}, nil
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

// advise adds what a person with a file can do.
func advise(err *Error) *Error {
	if err.Stage != "columns" {
		return err
	}
	switch {
	case strings.Contains(err.Reason, "is text") && strings.HasSuffix(err.Reason, wanted[learner.NumericColumn]):
		return bad(err.Stage, "%s: convert it to numbers, or select the columns to use (fit --columns, or input.columns with input.unknown: ignore)", err.Reason)
	case strings.Contains(err.Reason, "is null"):
		return bad(err.Stage, "%s: fill the cell, or read it as 0 (fit --missing zero, or input.missing: zero)", err.Reason)
	}
	return err
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
