package decode

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/source"
	"github.com/accrete-ml/accrete/learner"
)

// jsonFormat is a JSON object: the value of a record, or a line of a file.
var jsonFormat = format{
	name:      "json",
	parse:     (*Decoder).parseJSON,
	looksLike: func(first []byte) bool { return first[0] == '{' },
	open:      func(l *source.Limited, d *Decoder) (rows, error) { return newJSONRows(l, d), nil },
	alone:     true,
	examples: []string{
		`{"x":[0.5,1.2],"y":1}`,
		`{"features":{"age":41,"amount":12.5},"y":"ok","weight":2,"key":"a"}`,
	},
}

// parseJSON reads a record of one of the three forms.
func (d *Decoder) parseJSON() (r record, err *Error) {
	s := &d.scan
	xs, features := 0, 0
	err = s.members(func(key []byte) *Error {
		name := unsafe.String(unsafe.SliceData(key), len(key)) // for comparisons only
		switch {
		case d.isLabel(name):
			return s.take(&r.label, key, "label")
		case slices.Contains(d.config.Labels, name):
			return s.take(&d.many[slices.Index(d.config.Labels, name)], key, "label with this name")
		case isNamed(name, d.config.Weight, "weight"):
			return s.take(&r.weight, key, "weight")
		case isNamed(name, d.config.Key, "key"):
			return s.take(&r.key, key, "key")
		case name == "x":
			if xs++; xs > 1 {
				return bad("json", "duplicate field %q", name)
			}
			if s.peek() == '[' {
				if r.form != absent {
					return bad("columns", "both x and features are present")
				}
				r.form = array
				return s.elements(d.element)
			}
		case name == "features":
			if features++; features > 1 {
				return bad("json", "duplicate field %q", name)
			}
			if s.peek() == '{' {
				if r.form != absent {
					return bad("columns", "both x and features are present")
				}
				r.form = object
				if d.dropIgnored(); len(d.list) > 0 {
					r.other, r.otherName = len(d.list), d.list[0].name
				}
				d.list = d.list[:0]
				return s.members(d.input)
			}
		}
		if r.form == object { // d.list holds only the features
			if d.config.Late == nil || !d.ignores(key) {
				r.other, r.otherName = r.other+1, key
			}
			_, err := s.value()
			return err
		}
		return d.input(key)
	})
	switch {
	case err != nil:
		return r, err
	case s.peek() != 0 || s.i < len(s.b):
		return r, bad("json", "%d bytes after the end", len(s.b)-s.i)
	case r.form == array && len(d.list) > 0:
		if d.dropIgnored(); len(d.list) > 0 {
			r.other, r.otherName = len(d.list), d.list[0].name
		}
	case r.form == absent && d.config.Label == "" && d.config.Labels == nil && !d.config.NoLabel && d.task != learner.Novelty:
		return r, bad("columns", "neither a list x nor an object features; for flat objects set the label field with --label (input.label)")
	case r.form == absent:
		// Here "weight" and "key" are columns like any other, unless configured.
		if d.config.Weight == "" && r.weight.kind != absent {
			d.list = append(d.list, field{[]byte("weight"), r.weight})
			r.weight = value{}
		}
		if d.config.Key == "" && r.key.kind != absent {
			d.list = append(d.list, field{[]byte("key"), r.key})
			r.key = value{}
		}
	}
	return r, nil
}

// dropIgnored drops the fields beside x or features that are declared as ignored, such as
// the key by which labels are joined.
func (d *Decoder) dropIgnored() {
	if d.config.Late == nil {
		return
	}
	d.list = slices.DeleteFunc(d.list, func(f field) bool { return d.ignores(f.name) })
}

// take reads a field that may come only once.
func (s *scanner) take(to *value, key []byte, what string) (err *Error) {
	if to.kind != absent {
		return bad("json", "%s is a second %s", excerpt.Quote(key), what)
	}
	*to, err = s.value()
	return err
}

// input reads one input with a name, or all inputs in an object or a list.
func (d *Decoder) input(key []byte) *Error {
	if d.nests(key, 0) {
		d.path = append(d.path[:0], key...)
		return d.nested(1)
	}
	return d.scalar(key)
}

// scalar reads one input with a name.
func (d *Decoder) scalar(key []byte) *Error {
	v, err := d.scan.value()
	if err != nil {
		return err.of(key)
	}
	if len(d.list) == d.config.MaxColumns {
		return bad("limits", "more than %d fields", d.config.MaxColumns)
	}
	d.list = append(d.list, field{key, v})
	return nil
}

// element reads one input by index.
func (d *Decoder) element() *Error {
	v, err := d.scan.value()
	if err != nil {
		return err
	}
	return d.indexed(v)
}

// indexed appends an input by index.
func (d *Decoder) indexed(v value) *Error {
	switch {
	case len(d.x) == d.config.MaxColumns:
		return bad("limits", "more than %d inputs", d.config.MaxColumns)
	case v.kind == null && d.config.Missing == "zero":
		v.num = 0
	case v.kind == null && d.config.Missing == "impute":
		v.num = math.NaN()
	case v.kind != num:
		return bad("columns", "x[%d] is %v, want a number", len(d.x), v)
	}
	d.x = append(d.x, v.num)
	return nil
}

// jsonRows is a file with one record in each line, as in a topic.
type jsonRows struct {
	lines
	d     *Decoder
	first []string // fields of the first row
}

func newJSONRows(l *source.Limited, d *Decoder) *jsonRows {
	j := &jsonRows{lines: newLines(l), d: d}
	j.Reuse = true // no rows are read ahead
	return j
}

func (j *jsonRows) label(line) string        { return "" }
func (j *jsonRows) learn([]line, bool) error { return nil }
func (j *jsonRows) decode(l line) (Row, *Error) {
	if err := j.d.check(l.text); err != nil {
		return Row{}, err
	}
	row, err := j.d.decode(l.text)
	if err != nil && strings.HasPrefix(err.Reason, "unexpected end") {
		err = bad(err.Stage, "%s: an object has to be on one line", err.Reason)
	}
	if err == nil && j.first == nil {
		j.first = fields(l.text)
	}
	return row, err
}

// fields returns the names of the fields of a valid record.
func fields(b []byte) []string {
	names := []string{}
	s := scanner{b: b}
	_ = s.members(func(key []byte) *Error {
		names = append(names, string(key))
		return s.skipTo(maxDepth)
	})
	return names
}

func (j *jsonRows) record(dst []byte, l line) ([]byte, *Error) { return append(dst, l.text...), nil }

// MaxDepth is the Config.Depth of a new model.
const MaxDepth = 8

// nests reports whether the next value, at a path of the given depth, is an object or a
// list whose values are separate inputs. An object or list that is itself a column, or
// declared, is not.
func (d *Decoder) nests(path []byte, depth int) bool {
	if depth >= d.config.Depth {
		return false
	}
	if c := d.scan.peek(); c != '{' && c != '[' {
		return false
	}
	if _, declared := d.config.Types[string(path)]; declared {
		return false
	}
	_, column := d.column[string(path)]
	return !column && !d.isAlias(path) // the learner reads a column from an alias
}

// nested reads the values of the next object or list, which is at d.path.
func (d *Decoder) nested(depth int) *Error {
	if len(d.schema.Columns) == 0 {
		if d.outer == nil {
			d.outer = map[string]bool{}
		}
		d.outer[string(d.path)] = true
	}
	return d.inside(depth)
}

func (d *Decoder) inside(depth int) *Error {
	end, i := len(d.path), 0
	if d.scan.peek() == '[' {
		return d.scan.elements(func() *Error {
			d.path = strconv.AppendInt(append(d.path[:end], '.'), int64(i), 10)
			i++
			return d.below(depth)
		})
	}
	return d.scan.members(func(key []byte) *Error {
		d.path = append(append(d.path[:end], '.'), key...)
		return d.below(depth)
	})
}

// below reads the value at d.path. The total length of the paths of a record is limited to
// MaxBytes, because a long name of an object is repeated in all paths below it.
func (d *Decoder) below(depth int) *Error {
	if d.nests(d.path, depth) {
		return d.nested(depth + 1)
	}
	if len(d.names)+len(d.path) > d.config.MaxBytes {
		return bad("limits", "the paths of nested fields have more than %d bytes in total", d.config.MaxBytes)
	}
	from := len(d.names)
	d.names = append(d.names, d.path...)
	return d.scalar(d.names[from:len(d.names):len(d.names)])
}

// setInner notes the objects that hold columns.
func (d *Decoder) setInner(columns []string) {
	if d.config.Depth == 0 {
		return
	}
	d.inner = map[string]bool{}
	for _, name := range columns {
		for i := strings.IndexByte(name, '.'); i >= 0; {
			d.inner[name[:i]] = true
			next := strings.IndexByte(name[i+1:], '.')
			if next < 0 {
				break
			}
			i += 1 + next
		}
	}
}

// noObject reports whether f is null in place of an object or a list that holds columns. All of
// these are then missing.
func (d *Decoder) noObject(f field) bool { return f.kind == null && d.inner[string(f.name)] }
