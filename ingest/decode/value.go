package decode

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"unsafe"
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

// The powers of ten that a float64 holds exactly.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// scanNumber reads the JSON number that b begins with: its value, and its
// length, which is 0 if there is none. Beyond a float64 it is ±Inf.
//
// The value is strconv.ParseFloat's to the bit. Up to 2⁵³ and 22 decimals, one
// division or product of exact numbers gives it without the call (Clinger 1990,
// "How to read floating point numbers accurately").
func scanNumber(b []byte) (v float64, n int) {
	i := 0
	negative := i < len(b) && b[i] == '-'
	if negative {
		i++
	}
	if len(b)-i >= 10 && b[i]-'0' <= 9 && b[i+1] == '.' { // the usual form takes no loop
		w := binary.LittleEndian.Uint64(b[i+2:])
		if k := leadingDigits(w); k > 0 && k < 8 && b[i+2+k]|0x20 != 'e' {
			v = float64(uint64(b[i]-'0')*wholeTens[k]+lastDigits(w, k)) / tens[k]
			if negative {
				v = -v
			}
			return v, i + 2 + k
		}
	}
	start := i
	var m uint64
	for i < len(b) && b[i]-'0' <= 9 {
		m = m*10 + uint64(b[i]-'0')
		i++
	}
	digits := i - start
	if digits == 0 || b[start] == '0' && digits > 1 {
		return 0, 0
	}
	exp := 0
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		for len(b)-i >= 8 {
			w := binary.LittleEndian.Uint64(b[i:])
			k := leadingDigits(w)
			m = m*wholeTens[k] + lastDigits(w, k)
			if i += k; k < 8 {
				break
			}
		}
		for i < len(b) && b[i]-'0' <= 9 {
			m = m*10 + uint64(b[i]-'0')
			i++
		}
		if i == point {
			return 0, 0
		}
		digits += i - point
		exp = point - i
	}
	plain := digits <= 19 // or m has overflowed
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		plain = false
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		e := i
		for i < len(b) && b[i]-'0' <= 9 {
			i++
		}
		if i == e {
			return 0, 0
		}
		if i-e <= 2 && digits <= 19 { // so that the power of ten may be one of those below
			shift := 0
			for _, c := range b[e:i] {
				shift = shift*10 + int(c-'0')
			}
			if b[e-1] == '-' {
				shift = -shift
			}
			exp += shift
			plain = true
		}
	}
	if plain && m <= 1<<53 && exp >= -22 && exp <= 22 {
		if v = float64(m); exp <= 0 {
			v /= tens[-exp]
		} else {
			v *= tens[exp]
		}
		if negative {
			v = -v
		}
		return v, i
	}
	return parseFloat(b[:i]), i
}

// wholeTens are the powers of ten of the digits that lastDigits takes.
var wholeTens = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// leadingDigits returns how many of the eight characters of w, the first of which is the
// lowest byte, are digits before one that is none.
func leadingDigits(w uint64) int {
	t := w ^ 0x3030303030303030                                                      // below 10 for a digit
	other := (t | (t&^0x8080808080808080 + 0x7676767676767676)) & 0x8080808080808080 // 0x76 carries into the highest bit from 10 on
	return bits.TrailingZeros64(other) / 8
}

// lastDigits returns the number that the first k characters of w are, all digits, of which
// pairs, fours and the eight are added at once.
func lastDigits(w uint64, k int) uint64 {
	w = w << (64 - 8*k) & 0x0f0f0f0f0f0f0f0f // behind zeros
	w = w * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
	w = w * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
	return w * (10000<<32 + 1) >> 32
}

// parseFloat reads a number whose form has been checked.
func parseFloat(b []byte) float64 {
	v, _ := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), 64) // ErrRange comes with ±Inf
	return v
}

// number reads all of s as a decimal number in the looser spelling of files: a
// plus sign, leading zeros, and a point without digits on one side are all
// right. json reports whether s is a JSON number verbatim.
func number(s string) (v float64, json, ok bool) {
	b := view(s)
	if v, n := scanNumber(b); n == len(s) && n > 0 {
		return v, true, true
	}
	// Of what ParseFloat reads besides, hexadecimal, underscores, NaN and
	// infinities are not numbers here.
	for _, c := range b {
		if c-'0' > 9 && c != '+' && c != '-' && c != '.' && c|0x20 != 'e' {
			return 0, false, false
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false, false
	}
	return v, false, true
}

// canonical is the one spelling of a number as the name of a class: 1, 1.0 and
// 1e0 are one class.
func canonical(text []byte, v float64) string {
	whole := len(text) > 0
	for i, c := range text {
		whole = whole && (c-'0' <= 9 || i == 0 && c == '-')
	}
	switch {
	case v == 0:
		return "0" // and so is -0
	case whole && math.Abs(v) >= 1<<53:
		return string(text) // identifiers that a float64 would throw together
	case v == math.Trunc(v) && math.Abs(v) < 1e21:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// respelled is a number of a file in JSON's spelling, as near as can be to its
// own.
func respelled(s string, v float64) value {
	if s[0] == '+' {
		if _, n := scanNumber([]byte(s[1:])); n == len(s)-1 && n > 0 {
			return value{kind: num, num: v, text: []byte(s[1:])}
		}
	}
	if math.IsInf(v, 0) {
		return value{kind: text, text: []byte(s)} // JSON has no number for it
	}
	return value{kind: num, num: v, text: strconv.AppendFloat(nil, v, 'g', -1, 64)}
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

// spelled returns a number with its text, in the memory of d.
func (d *Decoder) spelled(v float64) value {
	from := len(d.scan.buf)
	d.scan.buf = appendNumber(d.scan.buf, v)
	return value{kind: num, num: v, text: d.scan.buf[from:len(d.scan.buf):len(d.scan.buf)]}
}

// spelled returns a number with its text.
func spelled(v float64) value { return value{kind: num, num: v, text: appendNumber(nil, v)} }

// appendNumber appends a number as in JSON; nothing for one that JSON does not have.
func appendNumber(dst []byte, v float64) []byte {
	switch {
	case math.IsInf(v, 0), v != v:
		return dst
	case v == math.Trunc(v) && math.Abs(v) < 1e21:
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// view returns the bytes of s, which must not be modified.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
