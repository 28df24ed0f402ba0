package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"

	"github.com/accrete-ml/accrete/learner"
)

// npyFormat is a table of numbers that numpy.save wrote: a row of the table is an example.
// See the NEP 1, "A simple file format for NumPy arrays".
var npyFormat = format{
	name:      "npy",
	looksLike: func(first []byte) bool { return bytes.HasPrefix(first, []byte(npyMagic)) },
	open:      newNPY,
	check:     indicesOnly,
	examples:  []string{npyExample},
}

const npyMagic = "\x93NUMPY"

const npyExample = npyMagic + "\x01\x00\x47\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }           \n" +
	"\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x00\x3f" + "\x00\x00\x00\x00\x00\x00\xc0\x3f\x00\x00\x80\xbf"

// npyTypes are the types of numbers that are read, all with the least significant byte first.
var npyTypes = map[string]struct {
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

var npyHeader = regexp.MustCompile(`^\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \((\d*)(?:, ?(\d+))?,?\),? *\}\s*$`)

// npyRows are the rows of a table.
type npyRows struct {
	in      io.Reader
	limited *limitedReader
	d       *Decoder
	rows, n int
	columns int
	size    int
	at      func([]byte) float64
}

func newNPY(l *limitedReader, d *Decoder) (rows, error) {
	head := make([]byte, len(npyMagic)+4)
	if _, err := io.ReadFull(l, head); err != nil {
		return nil, errors.New("the header ends early")
	}
	length := int(binary.LittleEndian.Uint16(head[8:]))
	if version := head[6]; version != 1 {
		return nil, fmt.Errorf("version %d of the format is not supported: want 1", version)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(l, text); err != nil {
		return nil, errors.New("the header ends early")
	}
	m := npyHeader.FindSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("the header is %s: want one table of numbers", quote(text))
	}
	typ, known := npyTypes[string(m[1])]
	switch {
	case !known:
		return nil, fmt.Errorf("its numbers are of type %s: convert them, for example with astype('<f4')", quote(m[1]))
	case string(m[2]) == "True":
		return nil, errors.New("it is stored by columns: write it with numpy.ascontiguousarray")
	case len(m[4]) == 0:
		return nil, errors.New("it has no columns: want an array of two dimensions")
	}
	if err := indicesOnly(d.config); err != nil {
		return nil, err
	}
	r := &npyRows{in: l, limited: l, d: d, size: typ.size, at: typ.at}
	var err error
	if r.rows, err = strconv.Atoi(string(m[3])); err != nil {
		return nil, err
	}
	if r.columns, err = strconv.Atoi(string(m[4])); err != nil || r.columns == 0 || r.columns > d.config.MaxColumns {
		return nil, fmt.Errorf("it has %s columns: want 1 to %d", m[4], d.config.MaxColumns)
	}
	cfg := d.config
	if cfg.Label == "" && cfg.Labels == nil && !cfg.NoLabel && cfg.Task != learner.Novelty {
		return nil, fmt.Errorf("the columns have no names: choose the label by its index with --label (input.label), such as %d for the last", r.columns-1)
	}
	return r, nil
}

func (r *npyRows) read() (line, error) {
	if r.n == r.rows {
		return line{}, io.EOF
	}
	r.limited.n = 0
	b := make([]byte, r.columns*r.size)
	if _, err := io.ReadFull(r.in, b); err != nil {
		return line{}, fmt.Errorf("it ends in row %d of %d: it is truncated", r.n+1, r.rows)
	}
	r.n++
	return line{number: r.n, text: b}, nil
}

func (r *npyRows) label(l line) string {
	if i := r.d.split(r.columns).label; i >= 0 {
		return string(spelled(r.at(l.text[i*r.size:])).text)
	}
	return ""
}

func (r *npyRows) learn([]line, bool) error { return nil }

func (r *npyRows) take(l line) (record, *Error) {
	d := r.d
	d.list, d.x, d.fresh = d.list[:0], d.x[:0], d.fresh[:0]
	d.noLabels()
	return d.numbers(d.split(r.columns), func(i int) float64 { return r.at(l.text[i*r.size:]) })
}

func (r *npyRows) decode(l line) (Row, *Error) {
	values, err := r.take(l)
	if err != nil {
		return Row{}, err
	}
	return r.d.row(values)
}

func (r *npyRows) record(dst []byte, l line) ([]byte, *Error) {
	values, err := r.take(l)
	if err != nil {
		return dst, err
	}
	return r.d.appendRecord(dst, values)
}
