// Package source reads the bytes of files whose rows a decoder decodes.
package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/accrete-ml/accrete/ingest/decode/npy"
)

// HeadBytes is the size of the beginning of a file from which its format is detected.
const HeadBytes = 32 << 10

// ErrCut is the error for a truncated compressed file.
var ErrCut = errors.New("the compressed file ends early: it is truncated")

// compressions are those that are not read, by the first bytes of a file.
var compressions = []struct{ magic, program string }{
	{"\x28\xb5\x2f\xfd", "zstd"}, {"\xfd7zXZ\x00", "xz"}, {"BZh", "bzip2"}, {"\x04\x22\x4d\x18", "lz4"}, {"\x1f\x8b", "gzip"},
}

// Foreign returns an error if a file begins like those of a known but unsupported format. The error
// says what to do with the file.
func Foreign(head []byte) error {
	start := bytes.TrimSpace(head)
	for _, c := range compressions {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return fmt.Errorf("it is compressed with %[1]s: decompress it, for example with %[1]s -dc FILE | accrete fit -", c.program)
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte(npy.Magic)):
		return nil
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		return errors.New("it is UTF-32: convert it, for example with iconv -f utf-32 -t utf-8")
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return errors.New("it is UTF-16: convert it, for example with iconv -f utf-16 -t utf-8")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return errors.New("it is a ZIP archive, as spreadsheets and .npz files are: save it as CSV, or one array with numpy.save")
	case bytes.HasPrefix(head, []byte("sep=")):
		return errors.New("its first line names the separator for a spreadsheet: remove the line, for example with tail -n +2")
	case bytes.HasPrefix(head, []byte("\x89ACRT")):
		return errors.New("it is a snapshot of a model: want a file of rows")
	case bytes.HasPrefix(head, []byte("PAR1")):
		return errors.New("it is a Parquet file: give a command its path, or convert it to CSV or JSON lines")
	case bytes.HasPrefix(head, []byte("Obj\x01")):
		return errors.New("it is an Avro file: give a command its path, or convert it to CSV or JSON lines")
	case start[0] == '[' && bytes.HasPrefix(bytes.TrimSpace(start[1:]), []byte("{")):
		return errors.New("it is a JSON array: write one object a line, for example with jq -c '.[]'")
	case !bytes.Contains(head, []byte("\n")) && bytes.Contains(start, []byte("\r")):
		return errors.New(`its lines end with carriage returns alone: convert it, for example with tr '\r' '\n'`)
	case isBinary(head):
		return errors.New("it is a binary file: want CSV with a header, LIBSVM or JSON lines, plain or gzipped")
	}
	return nil
}

// isBinary reports whether the first line has control characters that no text has.
func isBinary(head []byte) bool {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.ContainsFunc(first, func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\f' && r != '\v' })
}

// Counted counts the bytes that are read.
type Counted struct {
	From io.Reader
	N    int64
}

// Read reads from From.
func (c *Counted) Read(p []byte) (int, error) {
	n, err := c.From.Read(p)
	c.N += int64(n)
	return n, err
}

// Limited bounds the size of a row, which is read into memory as a whole.
type Limited struct {
	From *bufio.Reader
	n    int // bytes since the last row
}

const maxRow = 16 << 20

// ErrLongRow is the error of a row that is too large.
var ErrLongRow = fmt.Errorf("row larger than %d MiB: is it a text file?", maxRow>>20)

// NextRow begins another row.
func (l *Limited) NextRow() { l.n = 0 }

// Read reads from From.
func (l *Limited) Read(p []byte) (int, error) {
	if l.n > maxRow {
		return 0, ErrLongRow
	}
	n, err := l.From.Read(p)
	if l.n += n; err == io.ErrUnexpectedEOF {
		err = ErrCut
	}
	return n, err
}

// Lines reads the lines of a stream that are not empty.
type Lines struct {
	Reuse bool // a line is valid only until the next one is read

	in      *bufio.Reader
	limited *Limited
	n       int
	long    []byte
}

// NewLines returns the lines of a stream.
func NewLines(l *Limited) Lines { return Lines{in: bufio.NewReaderSize(l, 64<<10), limited: l} }

// Line returns the next line, without white space around it, and its number.
func (j *Lines) Line() (text []byte, number int, err error) {
	for {
		j.limited.NextRow()
		b, err := j.next()
		if err != nil && (err != io.EOF || len(b) == 0) {
			return nil, 0, err
		}
		j.n++
		if b = bytes.TrimSpace(b); len(b) > 0 {
			if !j.Reuse {
				b = bytes.Clone(b)
			}
			return b, j.n, nil
		}
	}
}

// next returns the next line with its end, which is valid until the next call.
func (j *Lines) next() ([]byte, error) {
	b, err := j.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return b, err
	}
	j.long = append(j.long[:0], b...)
	for err == bufio.ErrBufferFull {
		b, err = j.in.ReadSlice('\n')
		j.long = append(j.long, b...)
	}
	return j.long, err
}
