package decimal

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A number has strconv.ParseFloat's bits however it is spelled.
func TestNumbersAreParseFloats(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, s string) {
		want, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(want, 0) {
			return
		}
		v, n := Scan([]byte(s))
		if n != len(s) {
			t.Errorf("%s: %d of %d bytes read", s, n, len(s))
		} else if math.Float64bits(v) != math.Float64bits(want) {
			t.Errorf("%s: %x, ParseFloat %x", s, math.Float64bits(v), math.Float64bits(want))
		}
		for _, after := range []string{",7", ";12345678", " 12:3.25 13:1", "\x80\xff", "/", ":::::::::"} { // eight characters are read at once
			if w, m := Scan([]byte(s + after)); m != n || math.Float64bits(w) != math.Float64bits(v) {
				t.Errorf("%s%s: %v of %d bytes, alone %v of %d", s, after, w, m, v, n)
			}
		}
	}
	for _, s := range []string{"0", "-0", "9007199254740992", "9007199254740993", "9007199254740991.5", "0.1", "1e22", "1e23", "123456789012345678", "12345678901234567890",
		"99999999999999999999", "18446744073709551616", "0.0000000000000000000001", "0.00000000000000000000001", "5e-324", "2e-324", "1.7976931348623157e308", "1e309",
		"0.1234567890123456789", "100000000000000000.0", "8.41", "0.30000000000000004"} {
		check(t, s)
		check(t, "-"+strings.TrimPrefix(s, "-"))
	}
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,24})?([eE][-+]?[0-9]{1,3})?`)
	rapid.Check(t, func(t *rapid.T) { check(t, number.Draw(t, "number")) })
	rapid.Check(t, func(t *rapid.T) {
		check(t, strconv.FormatFloat(rapid.Float64().Draw(t, "v"), 'g', -1, 64))
		check(t, strconv.FormatFloat(rapid.Float64Range(-1e6, 1e6).Draw(t, "w"), 'f', rapid.IntRange(0, 20).Draw(t, "digits"), 64))
	})
}
