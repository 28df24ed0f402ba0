package decode

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

var libsvmFormat = format{
	name:      "libsvm",
	looksLike: looksLikeLIBSVM,
	open:      newLIBSVM,
	examples:  []string{"1 1:0.5 3:1.2\n-1 2:1\n"},
}

// looksLikeLIBSVM reports whether the second field of the line is index:value.
func looksLikeLIBSVM(first []byte) bool {
	fields := bytes.Fields(first)
	if bytes.IndexByte(first, ',') >= 0 || len(fields) < 2 {
		return false
	}
	before, _, found := bytes.Cut(fields[1], []byte(":"))
	_, numbered := index(string(before))
	return found && numbered
}

func newLIBSVM(l *limitedReader, d *Decoder) (rows, error) {
	if n := len(d.config.Labels); n > 0 {
		return nil, fmt.Errorf("a LIBSVM file has one label per line, but %d are configured: convert it to CSV or JSON", n)
	}
	return &libsvmRows{lines: newLines(l), d: d}, nil
}

// libsvmRows is a file of lines "label index:value …", with indices from 1 and
// zeros left out. Its columns are those of {"x":[…]}: index i is column i-1.
// How many there are is learned from the first 1,000 rows, unless the schema
// or the configuration says; after that a higher index is an unknown field.
type libsvmRows struct {
	lines
	d          *Decoder
	textLabels bool
	x          []value // the present row, for record
}

// split cuts a line into its label and the rest.
func (s *libsvmRows) split(b []byte) (label, rest []byte) {
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

func (s *libsvmRows) label(l line) string {
	label, _ := s.split(l.text)
	return string(label)
}

func (s *libsvmRows) learn(look []line, textLabels bool) error {
	s.textLabels = textLabels
	d := s.d
	if d.config.Sparse {
		return nil
	}
	if len(d.schema.Columns) > 0 {
		if !d.dense {
			return fmt.Errorf("a LIBSVM file has numbered inputs, but the columns have names, such as %s", quote(d.schema.Columns[0]))
		}
		return nil
	}
	highest := 0
	for _, l := range look {
		s.entries(l.text, func(i int, _ string) *Error {
			highest = max(highest, i)
			return nil
		})
	}
	if highest == 0 {
		return fmt.Errorf("the first %d rows have no index:value pair", len(look))
	}
	if highest > d.config.MaxColumns {
		return fmt.Errorf("index %d exceeds the limit of %d inputs", highest, d.config.MaxColumns)
	}
	schema := *d.schema
	schema.Columns = make([]string, highest)
	for i := range schema.Columns {
		schema.Columns[i] = strconv.Itoa(i)
	}
	d.setColumns(schema.Columns)
	d.schema = &schema
	return nil
}

// entries calls f with each index and value of a line.
func (s *libsvmRows) entries(b []byte, f func(i int, v string) *Error) *Error {
	_, b = s.split(b)
	for _, entry := range bytes.Fields(b) {
		before, after, ok := bytes.Cut(entry, []byte(":"))
		if !ok || len(after) == 0 {
			return bad("libsvm", "%s is not an index:value pair", quote(entry))
		}
		i, err := strconv.Atoi(string(before))
		if err != nil || i < 1 {
			return bad("libsvm", "%s: want an index that is a whole number from 1 on", quote(entry))
		}
		if err := f(i, string(after)); err != nil {
			return err
		}
	}
	return nil
}

// fill reads a line into s.x.
func (s *libsvmRows) fill(l line) *Error {
	n := len(s.d.schema.Columns)
	zero := value{kind: num, text: []byte("0")}
	s.x = s.x[:0]
	for range n {
		s.x = append(s.x, zero)
	}
	seen := make(map[int]bool)
	return s.entries(l.text, func(i int, v string) *Error {
		if seen[i] {
			return bad("libsvm", "duplicate index %d", i)
		}
		seen[i] = true
		if i > n {
			if s.d.config.Unknown == "ignore" {
				return nil
			}
			return bad("columns", "index %d, but there are %d columns (in the first %d rows): set input.unknown: ignore, or name the columns", i, n, lookAhead)
		}
		s.x[i-1] = cell(v)
		return nil
	})
}

// named reads a line into Decoder.list, with its indices from 0 as names.
func (s *libsvmRows) named(l line) (record, *Error) {
	d := s.d
	d.list, d.names = d.list[:0], d.names[:0]
	err := s.entries(l.text, func(i int, v string) *Error {
		if len(d.list) == d.config.MaxColumns {
			return bad("limits", "more than %d fields", d.config.MaxColumns)
		}
		from := len(d.names)
		d.names = strconv.AppendInt(d.names, int64(i-1), 10)
		d.list = append(d.list, field{d.names[from:len(d.names):len(d.names)], cell(v)})
		return nil
	})
	label, _ := s.split(l.text)
	return record{form: object, label: labelCell(string(label), s.textLabels)}, err
}

func (s *libsvmRows) decode(l line) (Row, *Error) {
	if s.d.config.Sparse {
		r, err := s.named(l)
		if err != nil {
			return Row{}, err
		}
		s.d.noLabels()
		return s.d.row(r)
	}
	if err := s.fill(l); err != nil {
		return Row{}, err
	}
	d := s.d
	d.x = d.x[:0]
	for i, v := range s.x {
		if v.kind != num {
			return Row{}, bad("columns", "index %d is %v, want a number", i+1, v)
		}
		d.x = append(d.x, v.num)
	}
	label, _ := s.split(l.text)
	return d.row(record{form: array, label: labelCell(string(label), s.textLabels)})
}

func (s *libsvmRows) record(dst []byte, l line) ([]byte, *Error) {
	if s.d.config.Sparse {
		r, err := s.named(l)
		if err != nil {
			return dst, err
		}
		return s.d.appendRecord(dst, r)
	}
	if err := s.fill(l); err != nil {
		return dst, err
	}
	var err *Error
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
	label, _ := s.split(l.text)
	if len(label) > 0 {
		name := s.d.config.Label
		if name == "" {
			name = "y"
		}
		dst = append(dst, ',')
		if dst, err = appendText(dst, name); err != nil {
			return dst, err
		}
		if dst, err = appendValue(append(dst, ':'), labelCell(string(label), s.textLabels)); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// lines reads the lines of a stream that are not empty.
type lines struct {
	in      *bufio.Reader
	limited *limitedReader
	n       int
}

func newLines(l *limitedReader) lines { return lines{in: bufio.NewReader(l), limited: l} }

func (j *lines) read() (line, error) {
	for {
		j.limited.n = 0
		b, err := j.in.ReadBytes('\n')
		if err != nil && (err != io.EOF || len(b) == 0) {
			return line{}, err
		}
		j.n++
		if b = bytes.TrimSpace(b); len(b) > 0 {
			return line{number: j.n, text: b}, nil
		}
	}
}

// limitedReader bounds the size of a row, which is read into memory as a whole.
type limitedReader struct {
	r *bufio.Reader
	n int // bytes since the last row
}

const maxRow = 16 << 20

var errLongRow = fmt.Errorf("row larger than %d MiB: is it a text file?", maxRow>>20)

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.n > maxRow {
		return 0, errLongRow
	}
	n, err := l.r.Read(p)
	if l.n += n; err == io.ErrUnexpectedEOF {
		err = errCut
	}
	return n, err
}
