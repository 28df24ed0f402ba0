package decode

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
)

// scanner reads one JSON value. The bytes must be valid UTF-8.
type scanner struct {
	b   []byte
	i   int
	buf []byte // strings with escapes, unescaped
}

const maxDepth = 64 // maximum nesting of objects and lists

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// peek returns the next byte after white space, or 0.
func (s *scanner) peek() byte {
	if s.i < len(s.b) && s.b[s.i] > ' ' {
		return s.b[s.i]
	}
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) expect(c byte) *Error {
	if s.peek() != c {
		return s.unexpected("%q", c)
	}
	s.i++
	return nil
}

func (s *scanner) unexpected(want string, args ...any) *Error {
	if s.i >= len(s.b) {
		return bad("json", "unexpected end, want "+want, args...)
	}
	r, _ := utf8.DecodeRune(s.b[s.i:])
	return bad("json", "%q at byte %d, want "+want, append([]any{r, s.i}, args...)...)
}

// members reads an object. It calls f with each key, in order, and f reads the
// value.
func (s *scanner) members(f func(key []byte) *Error) *Error {
	if err := s.expect('{'); err != nil {
		return err
	}
	if s.peek() == '}' {
		s.i++
		return nil
	}
	for {
		if s.peek() != '"' {
			return s.unexpected("a name in quotes")
		}
		key, err := s.string()
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		if err := f(key); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.i++
		case '}':
			s.i++
			return nil
		default:
			return s.unexpected("',' or '}'")
		}
	}
}

// elements reads a list. It calls f for each element, and f reads the element.
func (s *scanner) elements(f func() *Error) *Error {
	if err := s.expect('['); err != nil {
		return err
	}
	if s.peek() == ']' {
		s.i++
		return nil
	}
	for {
		if err := f(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.i++
		case ']':
			s.i++
			return nil
		default:
			return s.unexpected("',' or ']'")
		}
	}
}

// value reads a scalar, or skips an object or a list.
func (s *scanner) value() (value, *Error) {
	switch c := s.peek(); {
	case c == '"':
		b, err := s.string()
		return value{kind: text, text: b}, err
	case (c == '-' || c-'0' <= 9) && !bytes.HasPrefix(s.b[s.i:], []byte("-Inf")):
		v, n := decimal.Scan(s.b[s.i:])
		if n == 0 {
			return value{}, bad("json", "invalid number at byte %d", s.i)
		}
		s.i += n
		return value{kind: num, num: v, text: s.b[s.i-n : s.i]}, nil
	case c == '{':
		return value{kind: object}, s.skip()
	case c == '[':
		return value{kind: array}, s.skip()
	}
	rest := s.b[s.i:]
	for _, word := range [...]struct {
		text string
		kind kind
	}{{"true", boolean}, {"false", boolean}, {"null", null}} {
		if len(rest) >= len(word.text) && string(rest[:len(word.text)]) == word.text {
			s.i += len(word.text)
			return value{kind: word.kind, text: rest[:len(word.text)]}, nil
		}
	}
	for _, word := range notJSON {
		if len(rest) >= len(word) && string(rest[:len(word)]) == word {
			return value{}, bad("json", "%s at byte %d is not JSON: leave the field out, or write null", word, s.i)
		}
	}
	return value{}, s.unexpected("a value")
}

// notJSON lists invalid values that some programs write.
var notJSON = [...]string{"NaN", "Infinity", "-Infinity", "nan", "inf", "None", "undefined"}

// skip reads past an object or a list without keeping anything.
func (s *scanner) skip() *Error { return s.skipTo(maxDepth) }

func (s *scanner) skipTo(depth int) *Error {
	if depth == 0 {
		return bad("json", "nested deeper than %d levels", maxDepth)
	}
	switch s.peek() {
	case '{':
		return s.members(func([]byte) *Error { return s.skipTo(depth - 1) })
	case '[':
		return s.elements(func() *Error { return s.skipTo(depth - 1) })
	}
	_, err := s.value()
	return err
}

// string reads a string. The result points into the input, or into buf.
func (s *scanner) string() ([]byte, *Error) {
	start := s.i + 1
	for i := start; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return s.b[start:i:i], nil
		case c == '\\':
			return s.unescape(start, i)
		case c < ' ':
			return nil, bad("json", "control character in a string, at byte %d", i)
		}
	}
	return nil, bad("json", "string without a closing quote")
}

// unescape reads the rest of a string from its first backslash.
func (s *scanner) unescape(start, i int) ([]byte, *Error) {
	from := len(s.buf)
	s.buf = append(s.buf, s.b[start:i]...)
	for i < len(s.b) {
		c := s.b[i]
		switch {
		case c == '"':
			s.i = i + 1
			return s.buf[from:len(s.buf):len(s.buf)], nil
		case c < ' ':
			return nil, bad("json", "control character in a string, at byte %d", i)
		case c != '\\':
			s.buf = append(s.buf, c)
			i++
			continue
		case i+1 >= len(s.b):
			return nil, bad("json", "string without a closing quote")
		}
		i++
		if s.b[i] == 'u' {
			r, n := s.escapedRune(i + 1)
			if n == 0 {
				return nil, bad("json", "invalid escape at byte %d", i-1)
			}
			s.buf = utf8.AppendRune(s.buf, r)
			i += 1 + n
			continue
		}
		k := bytes.IndexByte([]byte(`"\/bfnrt`), s.b[i])
		if k < 0 {
			return nil, bad("json", "invalid escape at byte %d", i-1)
		}
		s.buf = append(s.buf, "\"\\/\b\f\n\r\t"[k])
		i++
	}
	return nil, bad("json", "string without a closing quote")
}

// escapedRune reads the four hexadecimal digits at i and, if they are the first half of
// a surrogate pair, the escape of the second half.
func (s *scanner) escapedRune(i int) (r rune, n int) {
	r, ok := hex4(s.b, i)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 4
	}
	if i+6 > len(s.b) || s.b[i+4] != '\\' || s.b[i+5] != 'u' {
		return 0, 0
	}
	low, ok := hex4(s.b, i+6)
	if !ok {
		return 0, 0
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0
	}
	return r, 10
}

func hex4(b []byte, i int) (r rune, ok bool) {
	if i+4 > len(b) {
		return 0, false
	}
	for _, c := range b[i : i+4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
