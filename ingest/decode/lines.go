package decode

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"
	"unsafe"
)

// lines reads the lines of a stream that are not empty.
type lines struct {
	in      *bufio.Reader
	limited *limitedReader
	n       int
}

func newLines(l *limitedReader) lines { return lines{in: bufio.NewReader(l), limited: l} }

func (j *lines) read() (line, error) {
	for {
		j.limited.n = 0
		b, err := j.in.ReadBytes('\n')
		if err != nil && (err != io.EOF || len(b) == 0) {
			return line{}, err
		}
		j.n++
		if b = bytes.TrimSpace(b); len(b) > 0 {
			return line{number: j.n, text: b}, nil
		}
	}
}

// cell reads a value of a text file: a number if it looks like one, with its text
// spelled as in JSON.
func cell(s string) value {
	if s == "" {
		return value{kind: null}
	}
	v, plain, ok := number(s)
	if !ok {
		return value{kind: text, text: view(s)}
	}
	if plain {
		return value{kind: num, num: v, text: view(s)}
	}
	return respelled(s, v)
}

// labelCell reads a label; asText where labels are text.
func labelCell(s string, asText bool) value {
	if asText && s != "" {
		return value{kind: text, text: view(s)}
	}
	return cell(s)
}

// view returns the bytes of s, which must not be modified.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

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
