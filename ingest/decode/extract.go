package decode

import "unicode/utf8"

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
