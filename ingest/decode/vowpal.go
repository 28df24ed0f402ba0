package decode

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
	"github.com/accrete-ml/accrete/ingest/decode/source"
	"github.com/accrete-ml/accrete/ingest/decode/vw"
	"github.com/accrete-ml/accrete/learner"
)

// vwFormat is a line of Vowpal Wabbit's text format: the value of a record, or a line of a
// file. A column that a line leaves out is 0, or missing if it is a category.
var vwFormat = format{
	name:      "vw",
	parse:     (*Decoder).parseVW,
	looksLike: looksLikeVW,
	open:      newVW,
	sparse:    true,
	check:     oneLabel,
	examples:  []string{"1 2 'a|f age:41 amount:12.5", "-1 |f age:3 color=red |amount :1e2"},
}

func oneLabel(c Config) error {
	if n := len(c.Labels); n > 0 {
		return fmt.Errorf("a line of Vowpal Wabbit has one label, but input.label has %d fields: convert the data to CSV or JSON", n)
	}
	return nil
}

// looksLikeVW reports whether the line has the format of Vowpal Wabbit. Its bar must be at the
// beginning, or after a number and a space. Otherwise the bar separates the cells of a CSV file.
func looksLikeVW(first []byte) bool {
	e, err := (&vw.Reader{Number: vwNumber}).Read(first)
	if err != nil || first[len(first)-1] == '|' {
		return false
	}
	_, _, ok := vwNumber(e.Label)
	return ok || len(e.Label)+len(e.Tag) == 0
}

// vwNumber reads a number, and reports whether JSON allows its spelling.
func vwNumber(b []byte) (v float64, json, ok bool) {
	return decimal.Parse(unsafe.String(unsafe.SliceData(b), len(b)))
}

func newVW(l *source.Limited, d *Decoder) (rows, error) {
	if err := oneLabel(d.config); err != nil {
		return nil, err
	}
	d.sparse = true
	return &vwRows{lines: newLines(l), d: d}, nil
}

// parseVW reads a line.
func (d *Decoder) parseVW() (record, *Error) {
	line := bytes.TrimSpace(d.scan.b)
	if bytes.IndexByte(line, '\n') >= 0 {
		return record{}, bad("vw", "more than one line")
	}
	e, err := d.lineVW(line)
	if err != nil {
		return record{}, err
	}
	return d.vwRecord(e, false)
}

func (d *Decoder) lineVW(b []byte) (vw.Example, *Error) {
	if d.vw == nil {
		d.vw = &vw.Reader{Texts: d.typed(), Number: vwNumber}
	}
	if !utf8.Valid(b) {
		return vw.Example{}, bad("vw", "it is not valid UTF-8")
	}
	e, err := d.vw.Read(b)
	if err == nil && len(e.Features) > d.config.MaxColumns {
		return e, bad("limits", "more than %d fields", d.config.MaxColumns)
	}
	if err != nil {
		return e, bad("vw", "%v", err)
	}
	return e, nil
}

// vwRecord puts the features of e into d.list.
func (d *Decoder) vwRecord(e vw.Example, textLabels bool) (r record, err *Error) {
	r.form = object
	for _, f := range e.Features {
		d.list = append(d.list, field{f.Name, vwValue(f)})
	}
	cellOf := func(b []byte) value { return cell(unsafe.String(unsafe.SliceData(b), len(b))) }
	if len(e.Label) > 0 {
		r.label = d.labelCell(unsafe.String(unsafe.SliceData(e.Label), len(e.Label)), textLabels)
	}
	if len(e.Weight) > 0 {
		r.weight = cellOf(e.Weight)
	}
	if len(e.Tag) > 0 {
		r.key = value{kind: text, text: e.Tag}
	}
	return r, nil
}

func vwValue(f vw.Feature) value {
	switch {
	case f.Text != nil:
		return value{kind: text, text: f.Text}
	case f.Plain:
		return value{kind: num, num: f.Number, text: f.Digits}
	case f.Digits != nil:
		return cell(unsafe.String(unsafe.SliceData(f.Digits), len(f.Digits)))
	}
	return spelled(f.Number)
}

// vwRows is a file with one example in each line. Unless the schema or the configuration has
// columns, they are the features in the first 1,000 lines.
type vwRows struct {
	lines
	d          *Decoder
	textLabels bool
}

func (s *vwRows) label(l line) string {
	e, _ := s.d.lineVW(l.text)
	return string(e.Label)
}

func (s *vwRows) learn(look []line, textLabels bool) error {
	s.textLabels = textLabels
	s.Reuse = true // there is one row at a time from here on
	d := s.d
	if len(d.schema.Columns) > 0 {
		return nil
	}
	known := map[string]bool{}
	var union []field
	for _, l := range look {
		e, _ := d.lineVW(l.text)
		for _, f := range e.Features {
			if name := string(f.Name); !known[name] {
				known[name] = true
				v := vwValue(f)
				v.text = append([]byte(nil), v.text...)
				union = append(union, field{[]byte(name), v})
			}
		}
	}
	if len(union) == 0 {
		return fmt.Errorf("the first %d lines have no features", len(look))
	}
	d.begin()
	d.list = append(d.list, union...)
	columns, err := d.firstByName()
	if err != nil {
		return errors.New(err.Reason)
	}
	d.settle(columns, learner.Auto, "")
	return nil
}

func (s *vwRows) decode(l line) (Row, *Error) {
	d := s.d
	d.begin()
	e, err := d.lineVW(l.text)
	if err != nil {
		return Row{}, err
	}
	r, err := d.vwRecord(e, s.textLabels)
	if err != nil {
		return Row{}, err
	}
	return d.row(r)
}

func (s *vwRows) record(dst []byte, l line) ([]byte, *Error) {
	d := s.d
	d.begin()
	e, err := d.lineVW(l.text)
	if err != nil {
		return dst, err
	}
	r, err := d.vwRecord(e, s.textLabels)
	if err != nil {
		return dst, err
	}
	given := map[string]bool{}
	for _, f := range d.list {
		given[string(f.name)] = true
	}
	if d.config.Sparse {
		return d.appendRecord(dst, r)
	}
	for _, f := range d.schema.Fields() { // add the columns that the line leaves out
		if !given[f.Name] && !f.Pair {
			v := value{kind: null}
			if f.Type == learner.NumericColumn.String() || f.Type == "" {
				v = spelled(0)
			}
			d.list = append(d.list, field{[]byte(f.Name), v})
		}
	}
	return d.appendRecord(dst, r)
}
