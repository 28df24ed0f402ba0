// Package parquet reads Parquet files as JSON lines.
package parquet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// Magic is the beginning of a Parquet file.
const Magic = "PAR1"

// rowsAtOnce is the number of rows that are read at a time.
const rowsAtOnce = 64

// Lines is an io.ReadCloser of the rows of a file. Each row is a JSON object and a newline, with a
// member for each column. Records and maps are objects. A missing value is null. Times become text (RFC 3339,
// or without a zone if they are local) and dates text, decimals become numbers, bytes text, and
// lists arrays. It must not be used concurrently.
type Lines struct {
	file    *os.File
	groups  []parquet.RowGroup
	rows    parquet.Rows // of the row group being read; nil between two
	columns []column
	values  [][]parquet.Value // of each leaf in a row
	buffer  []parquet.Row
	out     []byte // what has not been returned yet
	from    int
	row     int64 // number of rows that were read
	end     error // of all further reads
}

// Open opens a file. Errors, including those of Read, say what is wrong with it. The fields of records
// for which top is true are members of the rows, named by their paths. If top is nil, all fields are, and
// a map is a list of its keys and one of its values, as earlier versions read files.
func Open(path string, top, ignored func(path string) bool) (l *Lines, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	l = &Lines{file: f, buffer: make([]parquet.Row, rowsAtOnce)}
	if err := whole(f, info.Size()); err != nil {
		return nil, err
	}
	err = guarded(func() error {
		file, err := parquet.OpenFile(f, info.Size(), parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
		if err != nil {
			return fmt.Errorf("damaged, or not a Parquet file: %w", err)
		}
		// Writers such as PyArrow write a table without rows as a group that has no pages of
		// values.
		l.groups = slices.DeleteFunc(slices.Clone(file.RowGroups()), func(g parquet.RowGroup) bool { return g.NumRows() == 0 })
		l.values = make([][]parquet.Value, len(file.Schema().Columns()))
		l.columns, err = columnsOf(file, top, ignored)
		return err
	})
	return l, err
}

// whole returns an error if a file does not end like a Parquet file.
func whole(f io.ReaderAt, size int64) error {
	tail := make([]byte, min(size, int64(len(Magic))))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(tail) != Magic || size < 2*int64(len(Magic)) {
		return fmt.Errorf("it does not end as a Parquet file does, with %s: it is truncated", Magic)
	}
	return nil
}

// guarded calls f. If the library panics, as it does for damaged files, guarded returns an error.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged: %v", r)
		}
	}()
	return f()
}

// Close closes the file. It is not needed after Read has returned an error or io.EOF.
func (l *Lines) Close() error {
	if l.rows != nil {
		l.rows.Close()
		l.rows = nil
	}
	return l.file.Close()
}

func (l *Lines) Read(p []byte) (int, error) {
	for l.from == len(l.out) && l.end == nil {
		l.out, l.from = l.out[:0], 0
		if l.end = guarded(l.fill); l.end != nil {
			l.Close()
			if l.end != io.EOF {
				l.end = fmt.Errorf("after row %d: %w", l.row, l.end)
			}
		}
	}
	if l.from == len(l.out) {
		return 0, l.end
	}
	n := copy(p, l.out[l.from:])
	l.from += n
	return n, nil
}

// fill encodes the next rows. The error is io.EOF after the last.
func (l *Lines) fill() error {
	if l.rows == nil {
		if len(l.groups) == 0 {
			return io.EOF
		}
		l.rows, l.groups = l.groups[0].Rows(), l.groups[1:]
	}
	n, err := l.rows.ReadRows(l.buffer)
	for _, row := range l.buffer[:n] {
		var bad error
		if l.out, bad = appendRow(l.out, l.columns, row, l.values); bad != nil {
			return bad
		}
		l.row++
	}
	if errors.Is(err, io.EOF) {
		err = l.rows.Close()
		l.rows = nil
	}
	if err == nil && n == 0 && l.rows != nil {
		return io.ErrNoProgress
	}
	return err
}
