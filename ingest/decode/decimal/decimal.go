// Package decimal reads and writes decimal numbers as text.
package decimal

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// The powers of ten that a float64 holds exactly.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// Scan reads the JSON number at the beginning of b. It returns its value and its
// length, which is 0 if there is none. A number out of the range of a float64 is
// ±Inf.
//
// The value is bit-identical to that of strconv.ParseFloat. Up to 2⁵³ and 22
// decimals, a single division or product of exact numbers suffices, without the call
// (Clinger 1990, "How to read floating point numbers accurately").
func Scan(b []byte) (v float64, n int) {
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
		shift, n := exponent(b[i+1:])
		if n == 0 {
			return 0, 0
		}
		i += 1 + n
		exp += shift
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

// exponent reads the digits after an e, which may have a sign. It returns the exponent and its
// length. An exponent of more than two digits is returned as farPower, with its sign, because it
// is not in tens.
func exponent(b []byte) (e, n int) {
	if n < len(b) && (b[n] == '+' || b[n] == '-') {
		n++
	}
	sign := n
	for n < len(b) && b[n]-'0' <= 9 {
		e = e*10 + int(b[n]-'0')
		n++
	}
	switch {
	case n == sign:
		return 0, 0
	case n-sign > 2:
		return farPower, n
	case b[0] == '-':
		return -e, n
	}
	return e, n
}

// farPower is more than the digits of a number can make up for.
const farPower = 1 << 20

// wholeTens are the powers of ten of the digits that lastDigits takes.
var wholeTens = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// leadingDigits returns the number of leading digits among the eight characters of w. The first
// character is the lowest byte.
func leadingDigits(w uint64) int {
	t := w ^ 0x3030303030303030                                                      // below 10 for a digit
	other := (t | (t&^0x8080808080808080 + 0x7676767676767676)) & 0x8080808080808080 // 0x76 carries into the highest bit from 10 on
	return bits.TrailingZeros64(other) / 8
}

// lastDigits returns the number that the first k characters of w spell, all of which are digits.
// Each step combines neighbours: digits to pairs, pairs to fours, fours to the whole.
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

// Parse reads all of s as a decimal number. It accepts spellings that are common in
// files: a plus sign, leading zeros, and a point without digits on one side. json
// reports whether s is a JSON number verbatim.
func Parse(s string) (v float64, json, ok bool) {
	b := unsafe.Slice(unsafe.StringData(s), len(s)) // not modified
	if v, n := Scan(b); n == len(s) && n > 0 {
		return v, true, true
	}
	// Unlike ParseFloat, do not accept hexadecimal numbers, underscores, NaN and
	// infinities.
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

// Canonical returns the canonical spelling of a number, for the name of a class: 1,
// 1.0 and 1e0 are the same class.
func Canonical(text []byte, v float64) string {
	whole := len(text) > 0
	for i, c := range text {
		whole = whole && (c-'0' <= 9 || i == 0 && c == '-')
	}
	switch {
	case v == 0:
		return "0" // and so is -0
	case whole && math.Abs(v) >= 1<<53:
		return string(text) // different identifiers may be the same float64
	case v == math.Trunc(v) && math.Abs(v) < 1e21:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// IsDigits reports whether a number consists of digits only, so that it is already in
// canonical form. This holds for nearly all numbers that name classes.
func IsDigits(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return len(b) < 16
}

// Append appends a number as JSON. It appends nothing for NaN and infinities.
func Append(dst []byte, v float64) []byte {
	switch {
	case math.IsInf(v, 0), v != v:
		return dst
	case v == math.Trunc(v) && math.Abs(v) < 1e21:
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}
