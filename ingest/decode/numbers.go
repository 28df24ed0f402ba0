package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/ingest/decode/npy"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/decode/source"
	"github.com/accrete-ml/accrete/learner"
)

// float32Format is a list of little-endian IEEE 754 numbers of four bytes. The columns are named
// by their indices, as are the label, the weight and the key. NaN is a missing value or, for the
// label, no label.
var float32Format = format{
	name:   "float32",
	parse:  (*Decoder).parseFloat32,
	binary: true,
	check:  indicesOnly,
	examples: []string{
		float32s(0.5, -1.25, 3e-5, 7),
	},
}

// indicesOnly checks that the fields with a role are indices.
func indicesOnly(c Config) error {
	for _, o := range []struct {
		option string
		names  []string
	}{
		{"input.label", append([]string{c.Label}, c.Labels...)}, {"input.weight", []string{c.Weight}}, {"input.key", []string{c.Key}},
	} {
		for _, name := range o.names {
			if _, ok := schema.Index(name); !ok && name != "" {
				return fmt.Errorf("%s is %q: want the index of a number, such as 0 for the first", o.option, name)
			}
		}
	}
	return nil
}

// float32s returns a record with some numbers.
func float32s(x ...float32) string {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return string(b)
}

// indices holds the roles of the numbers in lists of length n.
type indices struct {
	n           int
	label       int // index; -1: none, as for labels, weight and key
	labels      []int
	weight, key int
	dense       bool     // the inputs are the first numbers, so that they are named 0, 1, …
	inputs      int      // number of inputs
	names       [][]byte // names of the inputs; nil for other numbers
}

// split returns the roles of the numbers in a list of length n.
func (d *Decoder) split(n int) *indices {
	if d.parts != nil && d.parts.n == n {
		return d.parts
	}
	at := func(name string) int {
		if i, ok := schema.Index(name); ok && i < n {
			return i
		}
		return -1
	}
	p := &indices{n: n, label: at(d.config.Label), weight: at(d.config.Weight), key: at(d.config.Key), names: make([][]byte, n)}
	for _, name := range d.config.Labels {
		p.labels = append(p.labels, at(name))
	}
	others := append([]int{p.label, p.weight, p.key}, p.labels...)
	p.dense = d.config.pairsOf() == nil
	for i := range n {
		if slices.Contains(others, i) {
			continue
		}
		p.dense = p.dense && i == p.inputs
		p.inputs++
		p.names[i] = strconv.AppendInt(nil, int64(i), 10)
		p.dense = p.dense && !d.ignores(p.names[i])
	}
	d.parts = p
	return p
}

// parseFloat32 reads the value of a record.
func (d *Decoder) parseFloat32() (r record, err *Error) {
	b := d.scan.b
	if len(b)%4 != 0 {
		return r, bad("float32", "%d bytes: want four for each number", len(b))
	}
	p := d.split(len(b) / 4)
	if !p.dense || !d.dense { // otherwise, read the inputs without a function call for each
		return d.numbers(p, func(i int) float64 { return float32At(b, i) })
	}
	if r, err = d.others(p, func(i int) float64 { return float32At(b, i) }); err != nil {
		return r, err
	}
	r.form = array
	d.x = slices.Grow(d.x[:0], p.inputs)[:p.inputs]
	for i := range d.x {
		v := float32At(b, i)
		if v != v {
			if v, err = d.notANumber(i); err != nil {
				return r, err
			}
		}
		d.x[i] = v
	}
	return r, nil
}

func float32At(b []byte, i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
}

// notANumber returns the value of an input that is NaN.
func (d *Decoder) notANumber(i int) (float64, *Error) {
	switch d.config.Missing {
	case "quarantine":
		return 0, bad("columns", "value %d is NaN, want a number", i)
	case "zero":
		return 0, nil
	}
	return math.NaN(), nil
}

// others reads the numbers that are not inputs.
func (d *Decoder) others(p *indices, at func(int) float64) (r record, err *Error) {
	if p.n > d.config.MaxColumns {
		return r, bad("limits", "more than %d numbers", d.config.MaxColumns)
	}
	take := func(i int) value {
		if i < 0 || math.IsNaN(at(i)) {
			return value{}
		}
		return d.spelled(at(i))
	}
	r.label, r.weight, r.key = take(p.label), take(p.weight), take(p.key)
	for i, k := range p.labels {
		d.many[i] = take(k)
	}
	return r, nil
}

// numbers reads a list of numbers.
func (d *Decoder) numbers(p *indices, at func(int) float64) (r record, err *Error) {
	if r, err = d.others(p, at); err != nil {
		return r, err
	}
	if p.dense && (d.dense || len(d.schema.Columns) == 0) {
		r.form = array
		for i := range p.inputs {
			v := at(i)
			if v != v {
				if v, err = d.notANumber(i); err != nil {
					return r, err
				}
			}
			d.x = append(d.x, v)
		}
		return r, nil
	}
	r.form = object
	for i, name := range p.names {
		if name == nil {
			continue
		}
		v := value{kind: num, num: at(i)}
		if v.num != v.num {
			v = value{kind: null}
		}
		d.list = append(d.list, field{name, v})
	}
	return r, nil
}

// npyFormat is a two-dimensional array written by numpy.save. Each of its rows is an example.
var npyFormat = format{
	name:      "npy",
	looksLike: func(first []byte) bool { return bytes.HasPrefix(first, []byte(npy.Magic)) },
	open:      newNPY,
	check:     indicesOnly,
	examples:  []string{npyExample},
}

const npyExample = npy.Magic + "\x01\x00\x47\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }           \n" +
	"\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x00\x3f" + "\x00\x00\x00\x00\x00\x00\xc0\x3f\x00\x00\x80\xbf"

// npyRows reads the rows of an array.
type npyRows struct {
	in    *source.Limited
	d     *Decoder
	table *npy.Table
	n     int
}

func newNPY(l *source.Limited, d *Decoder) (rows, error) {
	table, err := npy.ReadHeader(l, d.config.MaxColumns)
	if err != nil {
		return nil, err
	}
	if err := indicesOnly(d.config); err != nil {
		return nil, err
	}
	cfg := d.config
	if cfg.Label == "" && cfg.Labels == nil && !cfg.NoLabel && cfg.Task != learner.Novelty {
		return nil, fmt.Errorf("the columns have no names: choose the label by its index with --label (input.label), such as %d for the last", table.Columns-1)
	}
	return &npyRows{in: l, d: d, table: table}, nil
}

func (r *npyRows) read() (line, error) {
	if r.n == r.table.Rows {
		return line{}, io.EOF
	}
	r.in.NextRow()
	b := make([]byte, r.table.RowBytes())
	if _, err := io.ReadFull(r.in, b); err != nil {
		return line{}, fmt.Errorf("it ends in row %d of %d: it is truncated", r.n+1, r.table.Rows)
	}
	r.n++
	return line{number: r.n, text: b}, nil
}

func (r *npyRows) label(l line) string {
	if i := r.d.split(r.table.Columns).label; i >= 0 {
		return string(spelled(r.table.At(l.text, i)).text)
	}
	return ""
}

func (r *npyRows) learn([]line, bool) error { return nil }

func (r *npyRows) take(l line) (record, *Error) {
	d := r.d
	d.begin()
	return d.numbers(d.split(r.table.Columns), func(i int) float64 { return r.table.At(l.text, i) })
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
