// Package csvline reads the records of CSV files without allocating, and detects the separator
// and the types of cells.
package csvline

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"io"
	"unicode/utf8"
	"unsafe"
)

// Reader reads the records of a CSV file. A line without quotes is a record, which the Reader
// splits itself, without allocating. encoding/csv reads all other records, line by line. If it finds
// an error in a record of several lines, only the first of them is lost: the others are read as lines
// of their own, so that a quote that is never closed does not take the rest of the file with it.
type Reader struct {
	Reuse bool // the cells of a record may be overwritten by the next one
	Valid bool // all cells of the last record are valid UTF-8; if false, some may not be

	// Split, if not nil, is used for lines of valid UTF-8 if Reuse is true. It appends the cells
	// of a line to cells, or returns nil if the Reader has to split the line itself.
	Split func(line string, cells []string) []string

	in     *bufio.Reader
	comma  byte
	line   int // lines read
	cells  []string
	long   []byte      // a line that is longer than the buffer of in
	err    error       // of in, after the last line
	quoted *csv.Reader // reads from feed
	fed    []byte      // what feed returns next
	given  int         // number of lines that quoted has read
	later  [][]byte    // lines of the record that quoted reads, after its first
	again  [][]byte    // lines that next returns before those of in
}

// NewReader returns a Reader of a file with this separator, which is one byte.
func NewReader(r io.Reader, comma rune) *Reader {
	c := &Reader{in: bufio.NewReaderSize(r, 64<<10), comma: byte(comma)}
	c.renew()
	return c
}

// renew makes another quoted, which has read no lines.
func (c *Reader) renew() {
	c.quoted = csv.NewReader(feed{c})
	c.quoted.Comma = rune(c.comma)
	c.quoted.FieldsPerRecord = -1 // its caller counts
	c.given = 0
}

// Read returns the cells of the next record that is not an empty line, and the line in which
// it begins.
func (c *Reader) Read() (cells []string, line int, err error) {
	for {
		b, err := c.next()
		if err != nil {
			return nil, 0, err
		}
		if bytes.IndexByte(b, '"') >= 0 {
			c.Valid = false
			return c.readQuoted(b)
		}
		b = ended(b)
		if len(b) > 0 {
			c.Valid = utf8.Valid(b)
			return c.split(b), c.line, nil
		}
	}
}

// readQuoted returns the record that begins with a line.
func (c *Reader) readQuoted(first []byte) (cells []string, line int, err error) {
	without := c.line - 1 - c.given // lines that quoted does not know of
	c.fed, c.later = first, nil
	c.given++
	cells, err = c.quoted.Read()
	if parse, ok := err.(*csv.ParseError); ok {
		parse.StartLine += without
		parse.Line += without
		if n := len(c.later); n > 0 {
			c.again = append(c.later, c.again...)
			c.line -= n
			c.renew() // at the end of the file, quoted has counted a line that there is not
		}
	}
	if err != nil {
		return nil, 0, err
	}
	line, _ = c.quoted.FieldPos(0)
	return cells, line + without, nil
}

// ended returns a line without its end.
func ended(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	return b
}

// split returns the cells of a line.
func (c *Reader) split(b []byte) []string {
	if !c.Reuse {
		b, c.cells = bytes.Clone(b), make([]string, 0, len(c.cells))
	}
	text := unsafe.String(unsafe.SliceData(b), len(b))
	cells := c.cells[:0]
	if c.Reuse && c.Split != nil && c.Valid {
		if split := c.Split(text, cells); split != nil {
			c.cells = split
			return split
		}
	}
	from := 0
	for i := range b {
		if b[i] == c.comma {
			cells = append(cells, text[from:i])
			from = i + 1
		}
	}
	c.cells = append(cells, text[from:])
	return c.cells
}

// next returns the next line with its end, or the error after the last one.
func (c *Reader) next() ([]byte, error) {
	if len(c.again) > 0 {
		b := c.again[0]
		c.again = c.again[1:]
		c.line++
		return b, nil
	}
	if c.err != nil {
		return nil, c.err
	}
	b, err := c.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		c.long = append(c.long[:0], b...)
		for err == bufio.ErrBufferFull {
			b, err = c.in.ReadSlice('\n')
			c.long = append(c.long, b...)
		}
		b = c.long
	}
	if err != nil {
		if c.err = err; len(b) == 0 || err != io.EOF {
			return nil, err
		}
	}
	c.line++
	return b, nil
}

// feed passes one line at a time to encoding/csv, so that it does not read beyond its record.
type feed struct{ *Reader }

func (f feed) Read(p []byte) (int, error) {
	c := f.Reader
	if len(c.fed) == 0 {
		b, err := c.next()
		if err != nil {
			return 0, err
		}
		c.fed = b
		c.given++
		c.later = append(c.later, bytes.Clone(b))
	}
	n := copy(p, c.fed)
	c.fed = c.fed[n:]
	return n, nil
}
