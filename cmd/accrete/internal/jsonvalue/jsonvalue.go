// Package jsonvalue appends the values of files of tables as JSON.
package jsonvalue

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendFloat appends a number with as many digits as tell it from others of that many bits. NaN, which
// many writers use for a missing value, becomes null. An infinite number becomes one that is too large
// for any row.
func AppendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "null"...)
	case math.IsInf(v, 0):
		return append(dst, "1e999"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

// AppendText appends a string. The error is for a string that is not UTF-8.
func AppendText(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf("%.20q is not text", s)
	}
	text, err := json.Marshal(s)
	return append(dst, text...), err
}
