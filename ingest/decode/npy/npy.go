// Package npy reads the header and the numbers of an array written by numpy.save. See NEP 1, "A
// simple file format for NumPy arrays".
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
)

// Magic is the beginning of every file.
const Magic = "\x93NUMPY"

// types lists the supported types of numbers, all little-endian.
var types = map[string]struct {
	size int
	at   func(b []byte) float64
}{
	"<f4": {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
	"<f8": {8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }},
	"|i1": {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	"|u1": {1, func(b []byte) float64 { return float64(b[0]) }},
	"|b1": {1, func(b []byte) float64 { return float64(b[0]) }},
	"<i2": {2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }},
	"<u2": {2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }},
	"<i4": {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }},
	"<u4": {4, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }},
	"<i8": {8, func(b []byte) float64 { return float64(int64(binary.LittleEndian.Uint64(b))) }},
	"<u8": {8, func(b []byte) float64 { return float64(binary.LittleEndian.Uint64(b)) }},
}

var header = regexp.MustCompile(`^\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \((\d*)(?:, ?(\d+))?,?\),? *\}\s*$`)

// Table describes an array that is stored by rows, as given in its header.
type Table struct {
	Rows, Columns int
	size          int
	at            func([]byte) float64
}

// ReadHeader reads the header of a table of 1 to maxColumns columns.
func ReadHeader(in io.Reader, maxColumns int) (*Table, error) {
	head := make([]byte, len(Magic)+4)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, errors.New("the header ends early")
	}
	if version := head[6]; version != 1 {
		return nil, fmt.Errorf("version %d of the format is not supported: want 1", version)
	}
	text := make([]byte, binary.LittleEndian.Uint16(head[8:]))
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, errors.New("the header ends early")
	}
	m := header.FindSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("the header is %.64q: want one table of numbers", text)
	}
	typ, known := types[string(m[1])]
	switch {
	case !known:
		return nil, fmt.Errorf("its numbers are of type %.64q: convert them, for example with astype('<f4')", m[1])
	case string(m[2]) == "True":
		return nil, errors.New("it is stored by columns: write it with numpy.ascontiguousarray")
	case len(m[4]) == 0:
		return nil, errors.New("it has no columns: want an array of two dimensions")
	}
	rows, err := strconv.Atoi(string(m[3]))
	if err != nil {
		return nil, err
	}
	columns, err := strconv.Atoi(string(m[4]))
	if err != nil || columns == 0 || columns > maxColumns {
		return nil, fmt.Errorf("it has %s columns: want 1 to %d", m[4], maxColumns)
	}
	return &Table{Rows: rows, Columns: columns, size: typ.size, at: typ.at}, nil
}

// RowBytes returns the size of a row.
func (t *Table) RowBytes() int { return t.Columns * t.size }

// At returns number i of a row.
func (t *Table) At(row []byte, i int) float64 { return t.at(row[i*t.size:]) }
