package decode

import "fmt"

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

// A value is a scalar, or the fact that there was something else.
type value struct {
	kind kind
	num  float64
	text []byte // of text, unescaped; of a number or a boolean, verbatim
}

// String describes a value in an error.
func (v value) String() string {
	switch v.kind {
	case text:
		return "text " + quote(v.text)
	case num:
		if v.text == nil {
			return fmt.Sprint(v.num)
		}
		return literal(v.text)
	case boolean:
		return literal(v.text)
	}
	return v.kind.String()
}
