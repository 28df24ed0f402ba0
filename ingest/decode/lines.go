package decode

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

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
