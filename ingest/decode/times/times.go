// Package times parses points in time from text: in layouts that need no declaration, and in
// declared formats such as %d.%m.%Y.
package times

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxBytes is the length of the longest text that is read as a time.
const maxBytes = 40

// Parse returns the seconds since 1970 of a time from the year 0 to 9999: a date as 2006-01-02, or a
// date, a T or a space, and 15:04, 15:04:05 or 15:04:05.999, and then perhaps a zone. Without a zone
// the time is in UTC. Without zones, a zone is Z or as +01:00 and follows seconds.
func Parse(b []byte, zones bool) (seconds float64, ok bool) {
	if len(b) < len(time.DateOnly) || len(b) > maxBytes || b[4] != '-' || b[0]-'0' > 9 {
		return 0, false
	}
	layout, ok := layoutOf(b)
	if !ok || !zones && !slices.Contains(plain, layout) {
		return 0, false
	}
	t, err := time.Parse(layout, string(b))
	return unixSeconds(t), err == nil
}

// plain are the layouts of times in models that are older than zones of other forms.
var plain = []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", time.RFC3339}

// layoutOf returns the only layout of package time that b can have. It is false if there is none.
func layoutOf(b []byte) (string, bool) {
	clock := b[len(time.DateOnly):]
	if len(clock) == 0 {
		return time.DateOnly, true
	}
	separator := clock[0]
	if separator != 'T' && separator != ' ' {
		return "", false
	}
	layout := time.DateOnly + string(separator)
	_, minute, _ := bytes.Cut(clock[1:], []byte{':'})
	second := afterDigits(minute)
	if !bytes.HasPrefix(second, []byte{':'}) {
		zone, ok := zoneLayout(second)
		return layout + "15:04" + zone, ok
	}
	rest := afterDigits(second[1:])
	if len(rest) > 0 && (rest[0] == '.' || rest[0] == ',') {
		rest = afterDigits(rest[1:]) // package time accepts a fraction after any 05
	}
	zone, ok := zoneLayout(rest)
	return layout + "15:04:05" + zone, ok
}

// afterDigits returns what follows the digits at the start of b.
func afterDigits(b []byte) []byte { return bytes.TrimLeft(b, "0123456789") }

// zoneLayout returns the layout of a zone at the end of a time, with or without a space before it:
// Z, UTC, GMT, or the hours ahead of UTC, as +01:00, +0100 or +01.
func zoneLayout(zone []byte) (string, bool) {
	name := bytes.TrimPrefix(zone, []byte{' '})
	space := string(zone[:len(zone)-len(name)])
	switch text := string(name); {
	case text == "":
		return "", space == ""
	// Not MST, by which package time takes any abbreviation it does not know for UTC.
	case text == "UTC" || text == "GMT":
		return space + text, true
	case text == "Z" || len(text) == len("+01:00"):
		return space + "Z07:00", true
	case len(text) == len("+0100"):
		return space + "Z0700", true
	case len(text) == len("+01"):
		return space + "Z07", true
	}
	return "", false
}

func unixSeconds(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

// Format is a time format, as declared, and as a layout of package time.
type Format struct{ declared, layout string }

// String returns the format as it is declared.
func (f Format) String() string { return f.declared }

// Parse returns the seconds since 1970 of a time in the format.
func (f Format) Parse(b []byte) (seconds float64, ok bool) {
	if len(b) > maxBytes {
		return 0, false
	}
	t, err := time.Parse(f.layout, string(b))
	if err != nil {
		return 0, false
	}
	return unixSeconds(t), true
}

// directive holds the counterpart of a directive of strptime in a layout of package time: with any
// number of digits, and with a fixed number.
type directive struct{ any, fixed string }

var directives = map[byte]directive{
	'Y': {"2006", "2006"}, 'y': {"06", "06"}, 'm': {"1", "01"}, 'd': {"2", "02"}, 'b': {"Jan", "Jan"}, 'B': {"January", "January"},
	'H': {"15", "15"}, 'I': {"3", "03"}, 'M': {"4", "04"}, 'S': {"5", "05"}, 'p': {"PM", "PM"}, 'z': {"-0700", "-0700"},
}

// separators may stand between directives.
const separators = " .,/-:;T"

// ParseFormat reads a format such as %d.%m.%Y.
func ParseFormat(declared string) (Format, error) {
	var b strings.Builder
	day := map[byte]bool{}
	isDirective := func(i int) bool { return i >= 0 && i+1 < len(declared) && declared[i] == '%' }
	for i := 0; i < len(declared); i++ {
		c := declared[i]
		if c != '%' {
			if !strings.ContainsRune(separators, rune(c)) {
				return Format{}, fmt.Errorf("%q in the format of times %q: want directives such as %%d, separated by one of %q or nothing", string(c), declared, separators)
			}
			b.WriteByte(c)
			continue
		}
		if i+1 == len(declared) {
			return Format{}, fmt.Errorf("the format of times %q ends with a %%", declared)
		}
		d, ok := directives[declared[i+1]]
		if !ok {
			return Format{}, fmt.Errorf("%q in the format of times %q: want %%Y or %%y, %%m, %%b or %%B, %%d, %%H or %%I, %%M, %%S, %%p, %%z", declared[i:i+2], declared)
		}
		day[declared[i+1]] = true
		if isDirective(i-2) || isDirective(i+2) {
			b.WriteString(d.fixed)
		} else {
			b.WriteString(d.any)
		}
		i++
	}
	if !day['d'] || !(day['Y'] || day['y']) || !(day['m'] || day['b'] || day['B']) {
		return Format{}, fmt.Errorf("the format of times %q has no day, month or year: want %%d, %%m and %%Y", declared)
	}
	if _, err := time.Parse(b.String(), time.Date(2021, 11, 28, 21, 47, 39, 0, time.UTC).Format(b.String())); err != nil {
		return Format{}, fmt.Errorf("the format of times %q cannot be read back", declared)
	}
	return Format{declared, b.String()}, nil
}
