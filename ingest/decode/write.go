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
