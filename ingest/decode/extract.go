package decode

import (
	"math"
	"unicode/utf8"
)

// appendRecord appends r, whose inputs by name are in d.list, as a JSON record.
func (d *Decoder) appendRecord(dst []byte, r record) ([]byte, *Error) {
	var err *Error
	n := 0
	put := func(name string, v value) {
		if err != nil || v.kind == absent {
			return
		}
		if v.kind == num && v.text == nil {
			v = spelled(v.num)
		}
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		if dst, err = appendText(dst, name); err == nil {
			dst, err = appendValue(append(dst, ':'), v)
		}
	}
	if r.form == array {
		dst = append(dst, `{"x":[`...)
		for i, v := range d.x {
			if i > 0 {
				dst = append(dst, ',')
			}
			w := value{kind: null}
			if !math.IsNaN(v) {
				w = spelled(v)
			}
			if dst, err = appendValue(dst, w); err != nil {
				return dst, err
			}
		}
		dst = append(dst, ']')
	} else {
		dst = append(dst, `{"features":{`...)
		for _, f := range d.list {
			if !d.ignores(f.name) {
				put(string(f.name), f.value)
			}
		}
		dst = append(dst, '}')
	}
	n = 1
	name := func(configured, usual string) string {
		if configured != "" {
			return configured
		}
		return usual
	}
	put(name(d.config.Label, "label"), r.label)
	for i, field := range d.config.Labels {
		put(field, d.many[i])
	}
	put(name(d.config.Weight, "weight"), r.weight)
	put(name(d.config.Key, "key"), r.key)
	return append(dst, '}'), err
}

// appendValue writes v as JSON.
func appendValue(dst []byte, v value) ([]byte, *Error) {
	switch v.kind {
	case num, boolean:
		return append(dst, v.text...), nil
	case text:
		return appendText(dst, v.text)
	}
	return append(dst, "null"...), nil
}

// appendText writes b as a JSON string.
func appendText[T string | []byte](dst []byte, s T) ([]byte, *Error) {
	b := []byte(s)
	if !utf8.Valid(b) {
		return dst, bad("csv", "%s is not valid UTF-8", quote(b))
	}
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range b {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"'), nil
}

// Extract appends to dst a JSON object of chosen fields of a JSON record, in the given
// order and with their values as they are spelled, and nothing if it has none of them. A
// field is a member of the record or of its object features, or a path such as
// customer.city. The record is one that a Decoder has accepted.
func Extract(dst, value []byte, fields []string) []byte {
	if len(fields) == 0 || !utf8.Valid(value) {
		return dst
	}
	s := scanner{b: value}
	x := extraction{scanner: &s, fields: fields, found: make([][]byte, len(fields))}
	if s.peek() != '{' || x.object("", maxDepth) != nil {
		return dst
	}
	begin := len(dst)
	for i, raw := range x.found {
		if raw == nil {
			continue
		}
		if len(dst) == begin {
			dst = append(dst, '{')
		} else {
			dst = append(dst, ',')
		}
		dst = append(appendName(dst, fields[i]), ':')
		dst = append(dst, raw...)
	}
	if len(dst) > begin {
		dst = append(dst, '}')
	}
	return dst
}

type extraction struct {
	*scanner
	fields []string
	found  [][]byte
}

// object reads an object whose members have this path before their names.
func (x *extraction) object(path string, depth int) *Error {
	if depth == 0 {
		return bad("json", "nested deeper than %d levels", maxDepth)
	}
	return x.members(func(key []byte) *Error {
		name := path + string(key)
		object := x.peek() == '{'
		from := x.i
		switch {
		case object && path == "" && name == "features":
			if err := x.object("", depth-1); err != nil {
				return err
			}
		case object && x.within(name):
			if err := x.object(name+".", depth-1); err != nil {
				return err
			}
		default:
			if err := x.skipTo(depth); err != nil {
				return err
			}
		}
		for i, f := range x.fields {
			if f == name && x.found[i] == nil {
				x.found[i] = x.b[from:x.i]
			}
		}
		return nil
	})
}

// within reports whether a field is inside the object of this name.
func (x *extraction) within(name string) bool {
	for _, f := range x.fields {
		if len(f) > len(name) && f[:len(name)] == name && f[len(name)] == '.' {
			return true
		}
	}
	return false
}

// appendName appends a name as a JSON string.
func appendName(dst []byte, name string) []byte {
	dst = append(dst, '"')
	for _, c := range []byte(name) {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, `\u00`...)
			dst = append(dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
