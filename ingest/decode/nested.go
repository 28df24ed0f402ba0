package decode

import (
	"strconv"
	"strings"
)

// MaxDepth is the Config.Depth of a new model.
const MaxDepth = 8

// nests reports whether the value that comes next, at a path of the given depth, is an
// object or a list whose values are inputs of their own. One that is itself a column,
// or declared, is not.
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
	return !column
}

// nested reads the values of the object or list that comes next, which is at d.path.
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

// below reads the value at d.path. The paths of a record may be as long as a record, in
// total, because the same name can begin many of them.
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

// noObject reports whether f is null in place of an object or a list that holds columns,
// all of which are missing then.
func (d *Decoder) noObject(f field) bool { return f.kind == null && d.inner[string(f.name)] }
