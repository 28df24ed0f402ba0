package decode

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/learner"
)

// directive is a part of a format of times, as strptime has them, and what it is in a
// layout of package time: of any number of digits, and of a fixed one.
type directive struct{ any, fixed string }

var directives = map[byte]directive{
	'Y': {"2006", "2006"}, 'y': {"06", "06"}, 'm': {"1", "01"}, 'd': {"2", "02"}, 'b': {"Jan", "Jan"}, 'B': {"January", "January"},
	'H': {"15", "15"}, 'I': {"3", "03"}, 'M': {"4", "04"}, 'S': {"5", "05"}, 'p': {"PM", "PM"}, 'z': {"-0700", "-0700"},
}

// timeFormat is a format of times, as it is declared and for package time.
type timeFormat struct{ format, layout string }

// formatSeparators may stand between directives.
const formatSeparators = " .,/-:;T"

// timeLayout returns the layout of package time for a format such as %d.%m.%Y.
func timeLayout(format string) (string, error) {
	var b strings.Builder
	day := map[byte]bool{}
	isDirective := func(i int) bool { return i >= 0 && i+1 < len(format) && format[i] == '%' }
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' {
			if !strings.ContainsRune(formatSeparators, rune(c)) {
				return "", fmt.Errorf("%s in the format of times %s: want directives such as %%d, separated by one of %q or nothing", quote(string(c)), quote(format), formatSeparators)
			}
			b.WriteByte(c)
			continue
		}
		if i+1 == len(format) {
			return "", fmt.Errorf("the format of times %s ends with a %%", quote(format))
		}
		d, ok := directives[format[i+1]]
		if !ok {
			return "", fmt.Errorf("%s in the format of times %s: want %%Y or %%y, %%m, %%b or %%B, %%d, %%H or %%I, %%M, %%S, %%p, %%z", quote(format[i:i+2]), quote(format))
		}
		day[format[i+1]] = true
		if isDirective(i-2) || isDirective(i+2) {
			b.WriteString(d.fixed)
		} else {
			b.WriteString(d.any)
		}
		i++
	}
	if !day['d'] || !(day['Y'] || day['y']) || !(day['m'] || day['b'] || day['B']) {
		return "", fmt.Errorf("the format of times %s has no day, month or year: want %%d, %%m and %%Y", quote(format))
	}
	if _, err := time.Parse(b.String(), time.Date(2021, 11, 28, 21, 47, 39, 0, time.UTC).Format(b.String())); err != nil {
		return "", fmt.Errorf("the format of times %s cannot be read back", quote(format))
	}
	return b.String(), nil
}

// cutFormat returns the type of a column and the format of its times, of a declared type
// such as time:%d.%m.%Y or time:trend:%d.%m.%Y; the format is empty if there is none.
func cutFormat(typ string) (base, format string) {
	if i := strings.IndexByte(typ, '%'); i > 0 && typ[i-1] == ':' && strings.HasPrefix(typ, learner.TimeColumn.String()+":") {
		return typ[:i-1], typ[i:]
	}
	return typ, ""
}

// baseType returns a declared type without a format of times.
func baseType(typ string) string {
	base, _ := cutFormat(typ)
	return base
}

// WithFormat returns the type of a column as it is declared, if that is t with a format of
// times, and otherwise t.
func WithFormat(t, declared string) string {
	if base, format := cutFormat(declared); format != "" && base == t {
		return declared
	}
	return t
}

// layouts returns the layouts of the columns with a format of times, and the types of all
// without formats. The types are valid.
func layouts(types map[string]string) (layouts map[string]timeFormat, without map[string]string) {
	for name, t := range types {
		base, format := cutFormat(t)
		if format == "" {
			continue
		}
		if layouts == nil {
			layouts, without = map[string]timeFormat{}, maps.Clone(types)
		}
		layout, _ := timeLayout(format)
		layouts[name] = timeFormat{format, layout}
		without[name] = base
	}
	if layouts == nil {
		return nil, types
	}
	return layouts, without
}

// formatted returns the time v of a column that has a format of times; has reports whether
// it has one.
func (d *Decoder) formatted(name []byte, v value) (seconds float64, ok, has bool) {
	f, has := d.layouts[string(name)]
	if !has || len(v.text) > maxTimeBytes {
		return 0, false, has
	}
	t, err := time.Parse(f.layout, string(v.text))
	if err != nil {
		return 0, false, true
	}
	return unixSeconds(t), true, true
}

// maxTimeBytes is the length of the longest text that is read as a time.
const maxTimeBytes = 40

func unixSeconds(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}
