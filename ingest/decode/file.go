package decode

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode/csvline"
	"github.com/accrete-ml/accrete/ingest/decode/decimal"
	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/hints"
	"github.com/accrete-ml/accrete/ingest/decode/source"
	"github.com/accrete-ml/accrete/learner"
)

// File reads rows from a file in one pass: CSV with a header, LIBSVM, or JSON
// lines; plain or gzipped. A row is bit-identical to what the JSON that Record
// returns decodes to, with the same Config and schema.
type File struct {
	name   string
	format string
	d      *Decoder
	reader *Decoder // checks what Record returns; its schema comes from those records alone
	rows   rows
	ahead  []line // read to determine the task, but not returned yet
	now    line
	broken error  // why no row follows
	why    string // how the task was determined
	alike  bool   // see Alike
	table  bool   // see Table
	close  func() error

	bytes *source.Counted // counts the bytes read; nil if the size of the file is unknown
	size  int64
}

// line is one row of the file before it is decoded.
type line struct {
	number int
	cells  []string // CSV: as many as the header has
	text   []byte   // LIBSVM and JSON
	err    *Error   // the row could not be split

	scanned bool // CSV: its inputs have been read as well
}

// rows reads the rows of a file in one format.
type rows interface {
	read() (line, error)                        // returns the next row, or the error of the stream, io.EOF at its end
	label(l line) string                        // returns the text of the row's label, empty if there is none
	learn(look []line, textLabels bool) error   // called once, with the first rows; textLabels: labels are text even if they look like numbers
	decode(l line) (Row, *Error)                // decodes the row
	record(dst []byte, l line) ([]byte, *Error) // appends the JSON record that decodes to the same row
}

// lines reads a file with one row in each line.
type lines struct{ source.Lines }

func newLines(l *source.Limited) lines { return lines{source.NewLines(l)} }

func (j *lines) read() (l line, err error) {
	l.text, l.number, err = j.Line()
	return l, err
}

// lookAhead is the number of rows that Open reads to determine the task and, for
// a LIBSVM file, the columns.
const (
	lookAhead      = 1000
	lookAheadBytes = 32 << 20
)

// Open opens a file. An empty Config.Format detects the format. Decoding starts
// from schema s: the zero Schema for a training file, and the learned one for a
// test file.
//
// If neither the configuration nor the schema determines the task, the labels in the
// first 1,000 rows do. They are classes if they are:
//
//   - text,
//   - whole numbers with at most 10 distinct values, or
//   - whole numbers with at most 32 distinct values that begin with 0 or 1 and make up at
//     least three quarters of their range.
//
// Other numbers are regression targets. Task returns the result.
func Open(path string, c Config, s Schema) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := in.Stat(); err == nil && info.IsDir() {
		in.Close()
		return nil, fmt.Errorf("%s is a directory: name a file in it", path)
	}
	f := &File{name: path, close: in.Close, bytes: &source.Counted{From: in}}
	if info, err := in.Stat(); err == nil {
		f.size = info.Size()
	}
	if err := f.open(f.bytes, c, s); err != nil {
		in.Close()
		return nil, err
	}
	return f, nil
}

// Read is Open for an io.Reader. Errors refer to the input as name.
func Read(in io.Reader, name string, c Config, s Schema) (*File, error) {
	f := &File{name: name, close: func() error { return nil }}
	if err := f.open(in, c, s); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *File) open(in io.Reader, c Config, s Schema) error {
	limited := &source.Limited{}
	b := bufio.NewReaderSize(in, 64<<10)
	if source.IsGzip(b) {
		z, err := source.NewGzip(b)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		b = bufio.NewReaderSize(z, 64<<10)
	}
	if bom, _ := b.Peek(3); string(bom) == "\xef\xbb\xbf" {
		b.Discard(3)
	}
	limited.From = b
	head, err := b.Peek(source.HeadBytes)
	if errors.Is(err, io.ErrUnexpectedEOF) && len(head) == 0 {
		return fmt.Errorf("%s: %w", f.name, source.ErrCut)
	}
	if len(bytes.TrimSpace(head)) == 0 {
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err == nil { // there is more
			return fmt.Errorf("%s: the first %d bytes are blank: remove the blank lines at the beginning", f.name, len(head))
		}
		return fmt.Errorf("%s is empty", f.name)
	}
	if err := source.Foreign(head); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	format, err := fileFormat(c.Format, head)
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	f.format, c.Format = format.name, ""
	f.table = format.name == csvFormat.name
	if f.d, err = New(c, s); err != nil {
		return err
	}
	if f.reader, err = New(c, s); err != nil {
		return err
	}
	if f.rows, err = format.open(limited, f.d); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	if format.alone { // as for a topic, no rows are read ahead
		if f.why = "decided by the first label"; f.d.task != learner.Auto {
			f.why = asConfigured
		}
		return nil
	}
	if err := f.look(); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// asConfigured is the reason that Task returns if the configuration or the schema has the task.
const asConfigured = "as configured"

// TextLabels is the reason that Task returns if a topic of the same records would
// be a classification as well.
const TextLabels = "labels are text"

// look reads ahead to determine the task and the columns.
func (f *File) look() error {
	size := 0
	for len(f.ahead) < lookAhead && size < lookAheadBytes {
		l, err := f.rows.read()
		if err != nil {
			f.broken = err
			break
		}
		f.ahead = append(f.ahead, l)
		size += len(l.text)
		for _, cell := range l.cells {
			size += len(cell) + 16
		}
	}
	var labels csvline.Tally
	var values hints.Labels
	for _, l := range f.ahead {
		s := f.rows.label(l)
		if l.err != nil || s == "" || f.d.typed() && csvline.IsMissing(s) { // a missing value; it counts as a class name only if other labels are text
			continue
		}
		labels.Add(s)
		if v, _, ok := decimal.Parse(s); ok {
			values.Add(v)
		}
	}
	are := labels.Labels(values.Classes() > 0)
	if f.d.task == learner.Auto && labels.Comma() != "" {
		return fmt.Errorf("labels have numbers with commas, such as %s: write them with decimal points and without thousands separators, or use --task classification (learner.task)", excerpt.Quote(labels.Comma()))
	}
	if err := f.rows.learn(f.ahead, are == csvline.TextLabels && f.d.task != learner.Regression); err != nil {
		return err
	}
	if f.d.task != learner.Auto {
		f.why = asConfigured
		if n := len(f.d.config.Labels); n > 0 {
			f.why = fmt.Sprintf("%d labels", n)
		}
		return nil
	}
	var task learner.Task
	switch n := values.Classes(); {
	case are == csvline.NoLabels:
		f.why = fmt.Sprintf("no label in the first %d rows", len(f.ahead))
		return nil
	case are == csvline.TextLabels:
		task, f.why = learner.Classification, TextLabels
	case n == 1:
		f.alike = f.broken == nil
		task, f.why = learner.Classification, fmt.Sprintf("the first %d labels are one whole number", labels.Len())
	case n > 1:
		task, f.why = learner.Classification, fmt.Sprintf("%d different whole numbers in the first %d labels", n, labels.Len())
	default:
		task, f.why = learner.Regression, "labels are numbers"
	}
	f.d.settleTask(task)
	return nil
}

// settleTask sets the task as if it had been configured.
func (d *Decoder) settleTask(task learner.Task) {
	s := *d.schema
	s.Task = task.String()
	d.task, d.config.Task, d.schema = task, task, &s
}

// Task returns the task and how it was determined.
func (f *File) Task() (learner.Task, string) { return f.d.task, f.why }

// Alike reports whether the task is a classification because all labels that were read to determine it
// are the same whole number, and more rows follow.
func (f *File) Alike() bool { return f.alike }

// Unnamed reports whether the first column of a CSV file has no name, so that it is no input. Such a
// column has the numbers of the rows, as pandas and R write them.
func (f *File) Unnamed() bool {
	c, ok := f.rows.(*csvRows)
	return ok && c.unnamed
}

// Table declares that all rows of f have the same fields, as those of a CSV file do.
func (f *File) Table() { f.table = true }

// IgnoreFurther has the columns of a table that are not in its schema be ignored, as with
// Config.Unknown: all rows have them, so that none is a sign of a damaged row.
func (f *File) IgnoreFurther() {
	if f.table {
		f.d.config.Unknown, f.reader.config.Unknown = "ignore", "ignore"
	}
}

// Dropped is Decoder.Dropped for the rows of f.
func (f *File) Dropped() (n int64, field string) { return f.d.Dropped() }

// LeftOut returns the number of different fields that were ignored because they are neither columns
// nor declared as ignored. There may be more of them.
func (f *File) LeftOut() (n int, more bool) {
	n = len(f.d.strange)
	return n, n == maxStrange
}

// Schema returns the schema after the rows returned so far.
func (f *File) Schema() *Schema { return f.d.Schema() }

// Share returns the share of the file's bytes that has been read, or 0 if it is unknown.
func (f *File) Share() float64 {
	if f.bytes == nil || f.size <= 0 {
		return 0
	}
	return float64(f.bytes.N) / float64(f.size)
}

// Line returns the number of the line in which the current row begins.
func (f *File) Line() int { return f.now.number }

// Next returns the next row, and io.EOF after the last. A *LineError concerns one
// row, and the next call continues after it; any other error is final.
func (f *File) Next() (Row, error) {
	if err := f.step(); err != nil {
		return Row{}, err
	}
	if f.now.err != nil {
		return Row{}, f.lineError(f.now.err)
	}
	row, err := f.rows.decode(f.now)
	if err != nil {
		return Row{}, f.lineError(err)
	}
	return row, nil
}

// Skip advances to the next row without decoding it, for Record.
func (f *File) Skip() error { return f.step() }

func (f *File) step() error {
	if len(f.ahead) > 0 {
		f.now, f.ahead = f.ahead[0], f.ahead[1:]
		return nil
	}
	if f.broken == nil {
		last := f.now.number
		if f.now, f.broken = f.rows.read(); f.broken != nil {
			f.now.number = last
		}
	}
	switch {
	case f.broken == io.EOF:
		return io.EOF
	case f.broken != nil && f.now.number > 0 && (!f.table || f.format == csvFormat.name): // the readers of other tables name the row
		return fmt.Errorf("%s, after line %d: %w", f.name, f.now.number, f.broken)
	case f.broken != nil:
		return fmt.Errorf("%s: %w", f.name, f.broken)
	}
	return nil
}

// Record appends the current row, which Next returned or Skip advanced to, to dst
// as the JSON value of a record. Numbers are copied verbatim where JSON allows
// their spelling. It returns a *LineError if a Decoder with the same Config that
// reads these records from the first on would not accept the row.
func (f *File) Record(dst []byte) ([]byte, error) {
	if f.now.err != nil {
		return dst, f.lineError(f.now.err)
	}
	out, err := f.rows.record(dst, f.now)
	if err != nil {
		return dst, f.lineError(err)
	}
	record := out[len(dst):]
	if err = f.reader.check(record); err == nil {
		_, err = f.reader.decode(record)
	}
	if err != nil {
		return dst, f.lineError(f.reader.advise(err))
	}
	return out, nil
}

// Close closes the file.
func (f *File) Close() error { return f.close() }

// Raw is a row as it is written in its file.
type Raw struct {
	Cells []string // of a CSV file, without spaces around them
	Text  []byte   // the line of a file of another format
}

// Raw returns a copy of the current row, which Next returned or Skip advanced to.
func (f *File) Raw() Raw {
	r := Raw{Text: bytes.Clone(f.now.text)}
	for _, cell := range f.now.cells {
		r.Cells = append(r.Cells, strings.Clone(cell))
	}
	return r
}

// Format returns the name of the format of the file.
func (f *File) Format() string { return f.format }

// Header returns the names of the columns of a CSV file, or nil for other formats.
func (f *File) Header() []string {
	if c, ok := f.rows.(*csvRows); ok {
		return c.header
	}
	return nil
}

// Comma returns the separator of the cells of a CSV file, or 0 for other formats.
func (f *File) Comma() rune {
	if c, ok := f.rows.(*csvRows); ok {
		return rune(c.numbers.Comma)
	}
	return 0
}

// Look is Decoder.Look for the rows of f.
func (f *File) Look() { f.d.Look() }

// LikeClasses is Decoder.LikeClasses for the rows of f.
func (f *File) LikeClasses() int { return f.d.LikeClasses() }

// Hint is Decoder.Hint for the rows of f.
func (f *File) Hint(name, typ string) string { return f.d.Hint(name, typ) }
