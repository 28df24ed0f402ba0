package decode

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/libsvm"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/decode/source"
)

var libsvmFormat = format{
	name:      "libsvm",
	looksLike: looksLikeLIBSVM,
	open:      newLIBSVM,
	examples:  []string{"1 1:0.5 3:1.2\n-1 2:1\n"},
}

// looksLikeLIBSVM reports whether the second field of the line is index:value.
func looksLikeLIBSVM(first []byte) bool {
	first, _, _ = bytes.Cut(first, []byte("#"))
	fields := bytes.Fields(first)
	if bytes.IndexByte(first, ',') >= 0 || len(fields) < 2 {
		return false
	}
	before, _, found := bytes.Cut(fields[1], []byte(":"))
	_, numbered := schema.Index(string(before))
	return found && numbered
}

func newLIBSVM(l *source.Limited, d *Decoder) (rows, error) {
	if n := len(d.config.Labels); n > 0 {
		return nil, fmt.Errorf("a LIBSVM file has one label per line, but %d are configured: convert it to CSV or JSON", n)
	}
	return &libsvmRows{lines: newLines(l), d: d}, nil
}

// libsvmRows is a file of lines "label index:value …", with indices from 1.
// Values of 0 may be left out. Columns are named as those of {"x":[…]}: index i is
// column i-1. Unless the schema or the configuration has columns, their number is
// the highest index in the first 1,000 rows. A higher index in a later row is an
// unknown field.
type libsvmRows struct {
	lines
	d          *Decoder
	textLabels bool
	x          []value // the current row, for record
}

func (s *libsvmRows) label(l line) string {
	label, _ := libsvm.Split(l.text)
	return string(label)
}

func (s *libsvmRows) learn(look []line, textLabels bool) error {
	s.textLabels = textLabels
	s.Reuse = true // there is one row at a time from here on
	d := s.d
	if d.config.Sparse {
		return nil
	}
	if len(d.schema.Columns) > 0 {
		if !d.dense {
			return fmt.Errorf("a LIBSVM file has numbered inputs, but the columns have names, such as %s", excerpt.Quote(d.schema.Columns[0]))
		}
		return nil
	}
	highest, unread := 0, (*Error)(nil)
	for _, l := range look {
		if i, ok := libsvm.Highest(l.text); ok {
			highest = max(highest, i)
			continue
		}
		unread = cmp.Or(unread, s.entries(l.text, func(i int, _ string) *Error {
			highest = max(highest, i)
			return nil
		}))
	}
	if highest == 0 && unread != nil {
		return fmt.Errorf("none of the first %d rows can be read: %s", len(look), unread.Reason)
	}
	if highest == 0 {
		return fmt.Errorf("the first %d rows have no index:value pair", len(look))
	}
	if highest > d.config.MaxColumns {
		return fmt.Errorf("index %d exceeds the limit of %d inputs", highest, d.config.MaxColumns)
	}
	of := *d.schema
	of.Columns = make([]string, highest)
	for i := range of.Columns {
		of.Columns[i] = strconv.Itoa(i)
	}
	d.setColumns(of.Columns)
	d.schema = &of
	return nil
}

// entries calls f with each index and value of a line.
func (s *libsvmRows) entries(b []byte, f func(i int, v string) *Error) *Error {
	_, b = libsvm.Split(b)
	for b = libsvm.Spaced(b); ; {
		var entry []byte
		if entry, b = libsvm.Entry(b); entry == nil {
			return nil
		}
		before, after, ok := bytes.Cut(entry, []byte(":"))
		if !ok || len(after) == 0 {
			return bad("libsvm", "%s is not an index:value pair", excerpt.Quote(entry))
		}
		i, err := strconv.Atoi(unsafe.String(unsafe.SliceData(before), len(before)))
		if err == nil && i == 0 {
			return bad("libsvm", "%s: indices begin at 1, as scikit-learn writes them with zero_based=False", excerpt.Quote(entry))
		}
		if err != nil || i < 1 {
			return bad("libsvm", "%s: want an index that is a whole number from 1 on", excerpt.Quote(entry))
		}
		if err := f(i, unsafe.String(unsafe.SliceData(after), len(after))); err != nil {
			return err
		}
	}
}

// columns calls f with the column and the value of each entry of a line, and ignored with each column
// that is unknown.
func (s *libsvmRows) columns(l line, f func(column int, v string) *Error, ignored func(column int)) *Error {
	d := s.d
	n := len(d.schema.Columns)
	d.nextRow()
	var beyond map[int]bool
	return s.entries(l.text, func(i int, v string) *Error {
		if i > n {
			switch {
			case beyond[i]:
				return bad("libsvm", "duplicate index %d", i)
			case d.config.Unknown != "ignore":
				return bad("columns", "index %d, but there are %d columns (in the first %d rows): set input.unknown: ignore, or name the columns", i, n, lookAhead)
			case beyond == nil:
				beyond = map[int]bool{}
			}
			beyond[i] = true
			ignored(i - 1)
			return nil
		}
		if d.seen[i-1] == d.now {
			return bad("libsvm", "duplicate index %d", i)
		}
		d.seen[i-1] = d.now
		return f(i-1, v)
	})
}

// named reads a line into Decoder.list. The names are the indices, counted from 0.
func (s *libsvmRows) named(l line) (record, *Error) {
	d := s.d
	d.begin()
	err := s.entries(l.text, func(i int, v string) *Error {
		if len(d.list) == d.config.MaxColumns {
			return bad("limits", "more than %d fields", d.config.MaxColumns)
		}
		from := len(d.names)
		d.names = strconv.AppendInt(d.names, int64(i-1), 10)
		d.list = append(d.list, field{d.names[from:len(d.names):len(d.names)], cell(v)})
		return nil
	})
	return record{form: object, label: s.labelOf(l)}, err
}

// labelOf returns the label of a line.
func (s *libsvmRows) labelOf(l line) value {
	label, _ := libsvm.Split(l.text)
	return s.valueOf(label)
}

// valueOf returns the value of a label.
func (s *libsvmRows) valueOf(label []byte) value {
	return s.d.labelCell(unsafe.String(unsafe.SliceData(label), len(label)), s.textLabels)
}

func (s *libsvmRows) decode(l line) (Row, *Error) {
	if !utf8.Valid(l.text) {
		return Row{}, bad("libsvm", "it is not valid UTF-8")
	}
	s.d.begin()
	if s.d.config.Sparse {
		if label, ok := s.d.hashPairs(l.text); ok {
			return s.d.row(record{form: settled, label: s.valueOf(label)})
		}
		r, err := s.named(l)
		if err != nil {
			return Row{}, err
		}
		return s.d.row(r)
	}
	d := s.d
	d.x = slices.Grow(d.x[:0], len(d.schema.Columns))[:len(d.schema.Columns)]
	d.nextRow()
	if label, ok := libsvm.Numbers(l.text, d.x, d.seen, d.now); ok {
		return d.row(record{form: array, label: s.valueOf(label)})
	}
	clear(d.x)
	err := s.columns(l, func(i int, text string) *Error {
		v := cell(text)
		if v.kind != num {
			return bad("columns", "index %d is %v, want a number", i+1, v)
		}
		d.x[i] = v.num
		return nil
	}, func(i int) { d.drop(1, strconv.AppendInt(nil, int64(i), 10)) })
	if err != nil {
		return Row{}, err
	}
	return d.row(record{form: array, label: s.labelOf(l)})
}

func (s *libsvmRows) record(dst []byte, l line) ([]byte, *Error) {
	if s.d.config.Sparse {
		r, err := s.named(l)
		if err != nil {
			return dst, err
		}
		return s.d.appendRecord(dst, r)
	}
	zero := value{kind: num, text: []byte("0")}
	s.x = s.x[:0]
	for range s.d.schema.Columns {
		s.x = append(s.x, zero)
	}
	err := s.columns(l, func(i int, text string) *Error {
		s.x[i] = cell(text)
		return nil
	}, func(int) {})
	if err != nil {
		return dst, err
	}
	dst = append(dst, `{"x":[`...)
	for i, v := range s.x {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendValue(dst, v); err != nil {
			return dst, err
		}
	}
	dst = append(dst, ']')
	label, _ := libsvm.Split(l.text)
	if len(label) > 0 {
		name := s.d.config.Label
		if name == "" {
			name = "y"
		}
		dst = append(dst, ',')
		if dst, err = appendText(dst, name); err != nil {
			return dst, err
		}
		if dst, err = appendValue(append(dst, ':'), s.d.labelCell(string(label), s.textLabels)); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}
