package decode

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/accrete-ml/accrete/ingest/decode/csvline"
	"github.com/accrete-ml/accrete/ingest/decode/decimal"
	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/learner"
)

// The kinds of a JSON value.
type kind byte

const (
	absent kind = iota
	null
	boolean
	num
	text
	instant // a time in seconds since 1970, of a format that has them
	object
	array
	settled // a record whose inputs are in Decoder.x
)

var kindNames = [...]string{"nothing", "null", "a boolean", "a number", "text", "a time", "an object", "a list", "a record"}

func (k kind) String() string { return kindNames[k] }

// A value is a scalar, or the kind of a value that is not a scalar.
type value struct {
	kind kind
	num  float64
	text []byte // unescaped text, or the verbatim spelling of a number or a boolean
}

// String describes a value for an error.
func (v value) String() string {
	switch v.kind {
	case text:
		return "text " + excerpt.Quote(v.text)
	case num:
		if len(v.text) == 0 { // infinities have no text
			return fmt.Sprint(v.num)
		}
		return excerpt.Literal(v.text)
	case boolean:
		return excerpt.Literal(v.text)
	}
	return v.kind.String()
}

// respelled returns a number of a file in a spelling that JSON allows, as close as
// possible to its own.
func respelled(s string, v float64) value {
	if s[0] == '+' {
		if _, n := decimal.Scan([]byte(s[1:])); n == len(s)-1 && n > 0 {
			return value{kind: num, num: v, text: []byte(s[1:])}
		}
	}
	if math.IsInf(v, 0) {
		return value{kind: text, text: []byte(s)} // JSON has no number for it
	}
	return value{kind: num, num: v, text: strconv.AppendFloat(nil, v, 'g', -1, 64)}
}

// cell reads a value of a text file. If it looks like a number, it is one, with its text
// in a spelling that JSON allows.
func cell(s string) value {
	if s == "" {
		return value{kind: null}
	}
	v, plain, ok := decimal.Parse(s)
	if !ok {
		return value{kind: text, text: view(s)}
	}
	if plain {
		return value{kind: num, num: v, text: view(s)}
	}
	return respelled(s, v)
}

// labelCell reads a label. With asText, labels are text even if they look like numbers. A boolean in
// any spelling, such as True, is the class of that meaning, as in JSON.
func (d *Decoder) labelCell(s string, asText bool) value {
	if word := csvline.Boolean(s); word != "" {
		if name := d.spelling(s, word); name != word {
			return value{kind: text, text: view(name)}
		}
		return value{kind: boolean, text: view(word)}
	}
	if asText && s != "" {
		return value{kind: text, text: view(s)}
	}
	return cell(s)
}

// spelling returns the name of the class for a cell that is the boolean word in some spelling: a class
// that is known, with the same spelling if there is one, or else the word itself.
func (d *Decoder) spelling(cell, word string) string {
	if _, known := d.class[cell]; known {
		return cell
	}
	for _, name := range d.schema.Classes {
		if strings.EqualFold(name, word) {
			return name
		}
	}
	return word
}

// spelled returns a number with its text, which uses the memory of d.
func (d *Decoder) spelled(v float64) value {
	from := len(d.scan.buf)
	d.scan.buf = decimal.Append(d.scan.buf, v)
	return value{kind: num, num: v, text: d.scan.buf[from:len(d.scan.buf):len(d.scan.buf)]}
}

// spelled returns a number with its text.
func spelled(v float64) value {
	if v == 1 { // as for each word in a line of Vowpal Wabbit
		return value{kind: num, num: 1, text: one[:1:1]}
	}
	return value{kind: num, num: v, text: decimal.Append(nil, v)}
}

var one = []byte("1")

// view returns the bytes of s, which must not be modified.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

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
		return dst, bad("csv", "%s is not valid UTF-8", excerpt.Quote(b))
	}
	return appendName(dst, b), nil
}

// appendName appends a name as a JSON string.
func appendName[T string | []byte](dst []byte, name T) []byte {
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

// Error is the reason why a record is invalid. The text is short and printable, whatever
// the record contains.
type Error struct {
	Stage  string // what was being read: "json", "columns", "label", "weight", "key" or "limits"; in files also "csv" and "libsvm"
	Reason string
}

func (e *Error) Error() string { return e.Stage + ": " + e.Reason }

func bad(stage, format string, args ...any) *Error {
	return &Error{stage, fmt.Sprintf(format, args...)}
}

// of adds the name of the field in which the JSON is invalid.
func (e *Error) of(name []byte) *Error { return bad(e.Stage, "%s: %s", excerpt.Quote(name), e.Reason) }

// advise adds what the user can do about an error in a file.
func (d *Decoder) advise(err *Error) *Error {
	if err.Stage != "columns" {
		return err
	}
	switch {
	case strings.Contains(err.Reason, "is text") && strings.HasSuffix(err.Reason, wanted[learner.NumericColumn]) && d.config.Infer:
		return bad(err.Stage, "%s: convert it to numbers, or declare another type of the column, such as category (fit --columns, or input.columns)", err.Reason)
	case strings.Contains(err.Reason, "is text") && strings.HasSuffix(err.Reason, wanted[learner.NumericColumn]):
		return bad(err.Stage, "%s: convert it to numbers, or leave the column out", err.Reason)
	case strings.Contains(err.Reason, "is text") && strings.HasSuffix(err.Reason, wanted[learner.TimeColumn]) && d.config.Infer && !d.continues:
		return bad(err.Stage, "%s: write all of them so, or declare their format, for example time:%%d.%%m.%%Y (fit --columns, or input.columns)", err.Reason)
	case strings.Contains(err.Reason, "is null"):
		return bad(err.Stage, "%s: fill the cell, or read it as 0 (fit --missing zero, or input.missing: zero)", err.Reason)
	}
	return err
}

// LineError is the error of one row of a file.
type LineError struct {
	File string
	Line int
	Err  *Error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s, line %d: %v", e.File, e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

func (f *File) lineError(err *Error) error { return &LineError{f.name, f.now.number, err} }
