package decode

import (
	"math"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/times"
)

// Extract appends a JSON object with chosen fields of a JSON record to dst, in the given
// order. Values keep their spelling. If the record has none of the fields, Extract appends
// nothing. A field is a member of the record or of its object features, or a path such as
// customer.city. A Decoder must have accepted the record.
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

// object reads an object. path is the prefix of the names of its members.
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

// KeyAt returns the text or number at a path of a JSON record.
func KeyAt(b []byte, path string) ([]byte, error) {
	v, err := valueAt(b, path)
	switch {
	case err != nil:
		return nil, err
	case (v.kind == text || v.kind == num) && len(v.text) > 0:
		return v.text, nil
	}
	return nil, bad("key", "%s is %v, want text or a number", excerpt.Quote(path), v)
}

// TimeAt returns the time at a path of a JSON record, in milliseconds since 1970. The time is
// text such as 2006-01-02T15:04:05Z, or a number of seconds. Numbers from 10¹¹ on are
// milliseconds. Zones are those of Config.Zones.
func TimeAt(b []byte, path string, zones bool) (int64, error) {
	v, err := valueAt(b, path)
	if err != nil {
		return 0, err
	}
	seconds, ok := v.num, v.kind == num
	switch {
	case v.kind == text:
		seconds, ok = times.Parse(v.text, zones)
	case ok && math.Abs(seconds) >= 1e11:
		seconds /= 1000
	}
	if !ok || math.Abs(seconds) > 1e12 {
		return 0, bad("time", "%s is %v, want a time such as 2006-01-02T15:04:05Z, or the seconds or milliseconds since 1970", excerpt.Quote(path), v)
	}
	return int64(math.Round(seconds * 1000)), nil
}

// valueAt returns the value at a path of a JSON object. Its kind is absent if there is none.
func valueAt(b []byte, path string) (v value, err *Error) {
	s := scanner{b: b}
	x := extraction{scanner: &s, fields: []string{path}, found: make([][]byte, 1)}
	if err := x.object("", maxDepth); err != nil {
		return v, err
	}
	if s.peek() != 0 || s.i < len(s.b) {
		return v, bad("json", "%d bytes after the end", len(s.b)-s.i)
	}
	if x.found[0] == nil {
		return v, nil
	}
	inner := scanner{b: x.found[0]}
	return inner.value()
}
