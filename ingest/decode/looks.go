package decode

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/learner"
)

// lookRows is the number of records whose values Hints knows, those of the warm-up; fewer
// values than lookLeast say nothing of a text.
const (
	lookRows  = 1000
	lookLeast = 100
)

// textWords is the mean number of words from which on values that seldom repeat look like
// text: names have fewer.
const textWords = 4

// looks are what the values of the first records look like.
type looks struct {
	rows   int
	fields map[string]*fieldLook
}

// fieldLook counts the values of a field.
type fieldLook struct {
	texts, words, dates, large int
	distinct                   map[uint64]struct{} // hashes of texts
	date, number               string              // one of them
}

// Look has Hints know what the values of the next records look like.
func (d *Decoder) Look() { d.looks = &looks{fields: map[string]*fieldLook{}} }

// look counts the values of d.list.
func (d *Decoder) look() {
	if d.looks.rows++; d.looks.rows > lookRows {
		return
	}
	for _, f := range d.list {
		large := f.kind == num && math.Abs(f.num) >= 1<<53 && len(f.value.text) > 0 && whole(f.value.text)
		if f.kind != text && !large {
			continue
		}
		l := d.looks.fields[string(f.name)]
		if l == nil {
			l = &fieldLook{distinct: map[uint64]struct{}{}}
			d.looks.fields[string(f.name)] = l
		}
		if large {
			l.large, l.number = l.large+1, string(f.value.text)
			continue
		}
		l.texts++
		l.words += len(bytes.Fields(f.value.text))
		l.distinct[xxhash.Sum64(f.value.text)] = struct{}{}
		if otherDate(f.value.text) {
			l.dates, l.date = l.dates+1, string(f.value.text)
		}
	}
}

// whole reports whether the text of a number has digits only, and perhaps a minus.
func whole(b []byte) bool {
	for i, c := range b {
		if c-'0' > 9 && (i > 0 || c != '-') {
			return false
		}
	}
	return true
}

// otherDate reports whether b begins with a date that is not read as a time, such as
// 01.02.2024, 1/2/24 or 2024/02/01.
func otherDate(b []byte) bool {
	var lengths [3]int
	separator := byte(0)
	part := 0
	for _, c := range b {
		switch {
		case c-'0' <= 9:
			lengths[part]++
			continue
		case part == 2 && (c == ' ' || c == 'T'): // the time of day follows
		case part < 2 && (c == '.' || c == '/' || c == '-') && (separator == 0 || c == separator):
			separator = c
			part++
			continue
		default:
			return false
		}
		break
	}
	short := func(n int) bool { return n == 1 || n == 2 }
	year := func(n int) bool { return n == 2 || n == 4 }
	return short(lengths[1]) && (short(lengths[0]) && year(lengths[2]) || lengths[0] == 4 && separator != '-' && short(lengths[2]))
}

// formatOf returns the type of a column with a date such as 01.02.2024, with a format of
// times that may be its own.
func formatOf(date string) string {
	at := strings.IndexAny(date, "./-")
	separator, last := date[at:at+1], date[strings.LastIndexAny(date, "./-")+1:]
	year, clock := "%Y", ""
	if i := strings.IndexAny(last, " T"); i >= 0 {
		hours := []string{"%H", "%M", "%S"}
		clock, last = last[i:i+1]+strings.Join(hours[:min(3, 1+strings.Count(last, ":"))], ":"), last[:i]
	}
	if len(last) < 4 {
		year = "%y"
	}
	switch format := strings.Join([]string{"%d", "%m", year}, separator) + clock; {
	case at == 4:
		return "time:" + strings.Join([]string{"%Y", "%m", "%d"}, separator) + clock
	case separator == "/":
		return "time:" + format + ", or time:%m/%d/" + year + clock + " if the month is first"
	default:
		return "time:" + format
	}
}

// Hint returns what the values of a field, of that type, look as if they should rather be;
// empty if they do not, or without Look.
func (d *Decoder) Hint(name, typ string) string {
	if d.looks == nil || d.looks.fields[name] == nil {
		return ""
	}
	switch l := d.looks.fields[name]; {
	case typ == learner.NumericColumn.String() && l.large > 0:
		return fmt.Sprintf("has integers above 2^53, such as %.40s, of which neighbours are read as equal: declare it with the type category, or id if it is no input", l.number)
	case typ != learner.CategoryColumn.String():
	case l.dates > 0 && 10*l.dates >= 9*l.texts:
		return fmt.Sprintf("has dates such as %.40s, which are read as categories: declare the format, for example %s", l.date, formatOf(l.date))
	case l.texts >= lookLeast && l.words >= textWords*l.texts && 2*len(l.distinct) > l.texts:
		return fmt.Sprintf("has values of %.0f words that seldom repeat: the type text may suit it better", float64(l.words)/float64(l.texts))
	}
	return ""
}

// Look does what that of a Decoder does.
func (f *File) Look() { f.d.Look() }

// Hint does what that of a Decoder does.
func (f *File) Hint(name, typ string) string { return f.d.Hint(name, typ) }
