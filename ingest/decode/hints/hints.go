// Package hints finds columns for which the first values suggest another type.
package hints

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
	"github.com/accrete-ml/accrete/ingest/decode/times"
	"github.com/accrete-ml/accrete/learner"
)

// countedRows is the number of rows whose values are counted, the same as in the warm-up.
// leastTexts is the smallest number of values that suggest a text or a code.
const (
	countedRows = 1000
	leastTexts  = 100
)

// fewCodes is the number of different values up to which whole numbers do not count as codes. A
// category with that few values would get a column for each of them.
const fewCodes = 16

// textWords is the mean number of words above which values that seldom repeat look like text. Most names
// have no more.
const textWords = 3

// Counter collects statistics of the values in the first rows.
type Counter struct {
	Labels Labels   // numbers that are labels, and may be classes
	Tail   LongTail // numbers that are labels

	rows   int
	fields map[string]*field
}

// farTime is in the year 5138 as seconds since 1970, and in 1973 as milliseconds.
const farTime, secondsOfYear = 1e11, 31_556_952

// field counts the values of a field.
type field struct {
	texts, words, dates, large int
	codes                      int                 // whole numbers of a field with the name of a code
	fractions                  bool                // a number of such a field is not whole
	distinct                   map[uint64]struct{} // hashes of texts, or these numbers
	date, number               string              // one of them
	first, second              int                 // the largest of the first and second parts of dates
	written                    int                 // numbers in a form that is not read as one
	writing                    string              // one of them
	other                      string              // a text that is no number
	far                        float64             // a number that is no time in seconds; 0: there is none
	spelt                      *times.Format       // format of the first text, if that is a date with the name of a month or with AM or PM
	spelled                    int                 // texts of this format
}

// speltFormats are formats of dates that otherDate does not recognise.
var speltFormats = func() (all []times.Format) {
	for _, text := range []string{"%d %b %Y", "%d %b %Y %H:%M", "%d %b %Y %H:%M:%S", "%d-%b-%Y", "%d-%b-%y", "%Y-%m-%d %I:%M %p", "%Y-%m-%d %I:%M:%S %p"} {
		if f, err := times.ParseFormat(text); err == nil {
			all = append(all, f)
		}
	}
	return all
}()

// spell counts a text that may be a date of one of speltFormats.
func (f *field) spell(text []byte) {
	if f.texts == 1 {
		for i := range speltFormats {
			if _, ok := speltFormats[i].Parse(text); ok {
				f.spelt, f.date = &speltFormats[i], string(text)
			}
		}
	}
	if f.spelt == nil {
		return
	}
	if _, ok := f.spelt.Parse(text); ok {
		f.spelled++
	}
}

// New returns a Counter that has seen no row.
func New() *Counter { return &Counter{fields: map[string]*field{}} }

// NextRow begins a row. It reports whether its values count.
func (c *Counter) NextRow() bool {
	c.rows++
	return c.rows <= countedRows
}

// Done reports whether no more rows count.
func (c *Counter) Done() bool { return c == nil || c.rows >= countedRows }

// Number counts a number, which is spelled as text.
func (c *Counter) Number(name []byte, v float64, text []byte) {
	if math.Abs(v) >= 1<<53 && len(text) > 0 && whole(text) {
		f := c.of(name)
		f.large, f.number = f.large+1, string(text)
	}
	if math.Abs(v) >= farTime {
		c.of(name).far = v
	}
	if namesCode(name) {
		f := c.of(name)
		f.codes++
		f.fractions = f.fractions || v != math.Trunc(v)
		f.distinct[math.Float64bits(v)] = struct{}{}
	}
}

// namesCode reports whether a column of this name probably contains codes: its last word is id,
// code, zip or similar. Words are separated by separators or capitals, as in user_id and shopId.
func namesCode(name []byte) bool {
	lower := bytes.ToLower(name)
	for _, word := range []string{"id", "code", "zip", "zipcode", "postcode"} {
		if !bytes.HasSuffix(lower, []byte(word)) {
			continue
		}
		at := len(name) - len(word)
		if at == 0 || !letter(name[at-1]) || name[at] < 'a' && name[at-1] >= 'a' {
			return true
		}
	}
	return false
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

// Text counts a text.
func (c *Counter) Text(name, text []byte) {
	f := c.of(name)
	f.texts++
	f.words += len(bytes.Fields(text))
	f.distinct[xxhash.Sum64(text)] = struct{}{}
	f.spell(text)
	if otherDate(text) {
		f.dates, f.date = f.dates+1, string(text)
		parts := bytes.FieldsFunc(text, func(c rune) bool { return c < '0' || c > '9' })
		first, _ := strconv.Atoi(string(parts[0]))
		second, _ := strconv.Atoi(string(parts[1]))
		f.first, f.second = max(f.first, first), max(f.second, second)
	} else if isWritten(text) {
		f.written, f.writing = f.written+1, string(text)
	} else if _, n := decimal.Scan(text); n < len(text) {
		f.other = string(text)
	}
}

// isWritten reports whether a text is a number with a sign of a currency, a unit or separators of
// thousands, or one with a fraction.
func isWritten(text []byte) bool {
	s := strings.TrimFunc(strings.Map(asDigit, string(text)), func(c rune) bool { return strings.ContainsRune("$€£¥%() ", c) })
	trimmed := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ°²")
	if unit := len(s) - len(trimmed); unit == 1 && !strings.HasSuffix(trimmed, " ") || unit > 6 {
		return false // a code, such as 12A, or words
	}
	switch strings.ToLower(s[len(trimmed):]) {
	case "st", "nd", "rd", "th":
		return false // a rank, such as 3rd
	}
	s = strings.NewReplacer(",", "", " ", "", "'", "", "\u00a0", "").Replace(trimmed)
	_, n := decimal.Scan([]byte(s))
	if len(s) > 1 && s[0] == '0' && s[1]-'0' <= 9 {
		return false // a code, such as the number of a telephone
	}
	return n == len(s) && n > 0 && (s != string(text) || strings.Contains(s, "."))
}

// asDigit returns 1 for a digit of another script, which counts as some digit, and others as they are.
func asDigit(r rune) rune {
	if r >= 0x80 && unicode.IsDigit(r) {
		return '1'
	}
	return r
}

func (c *Counter) of(name []byte) *field {
	f := c.fields[string(name)]
	if f == nil {
		f = &field{distinct: map[uint64]struct{}{}}
		c.fields[string(name)] = f
	}
	return f
}

// IsText reports whether the values of a field are probably sentences or descriptions: of more than three
// words on average, more than half of them different, and no dates.
func (c *Counter) IsText(name string) bool {
	if c == nil {
		return false
	}
	f := c.fields[name]
	return f != nil && f.texts >= leastTexts && f.words > textWords*f.texts && 2*len(f.distinct) > f.texts && !f.hasDates()
}

// hasDates reports whether nearly all texts are dates.
func (f *field) hasDates() bool { return f.dates > 0 && 10*f.dates >= 9*f.texts }

// Hint returns a type that suits the values of a field better than its type typ, or "" if there
// is none.
func (c *Counter) Hint(name, typ string) string {
	if c == nil || c.fields[name] == nil {
		return ""
	}
	switch f := c.fields[name]; {
	case typ == learner.NumericColumn.String() && f.large > 0:
		return fmt.Sprintf("has integers above 2^53, such as %.40s, of which neighbours are read as equal: declare it with the type category, or id if it is not an input", f.number)
	case typ == learner.NumericColumn.String() && f.codes >= leastTexts && !f.fractions && len(f.distinct) > fewCodes && len(f.distinct) < f.codes:
		return "has whole numbers that repeat, and the name of a code: if the order of the numbers means nothing, declare it with the type category"
	case strings.HasPrefix(typ, learner.TimeColumn.String()) && f.far != 0:
		return fmt.Sprintf("has numbers such as %.0f, which are read as seconds since 1970, in the year %.0f: divide milliseconds by 1,000", f.far, 1970+f.far/secondsOfYear)
	case f.spelt != nil && 10*f.spelled >= 9*f.texts && (typ == learner.CategoryColumn.String() || typ == learner.TextColumn.String()):
		return fmt.Sprintf("has dates such as %.40s, which are not read as times: declare the format, for example time:%v", f.date, f.spelt)
	case typ != learner.CategoryColumn.String():
	case f.hasDates():
		return fmt.Sprintf("has dates such as %.40s, which are read as categories: declare the format, for example %s", f.date, FormatOf(f.date, f.first, f.second))
	case f.texts >= leastTexts && 10*f.written >= 9*f.texts && f.other != "":
		return fmt.Sprintf("has numbers such as %.40s beside values such as %.40s, and is read as a category: write all of them as plain numbers, such as 1234.5, or leave them out", f.writing, f.other)
	case f.texts >= leastTexts && 10*f.written >= 9*f.texts:
		return fmt.Sprintf("has numbers such as %.40s, which are read as categories: write them as plain numbers, such as 1234.5", f.writing)
	case c.IsText(name):
		return fmt.Sprintf("has values of %.0f words that seldom repeat: with the type text, the words count and not only the whole value", float64(f.words)/float64(f.texts))
	}
	return ""
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

// FormatOf returns the type of a column with a date such as 01.02.2024, with a format of
// times that may be its own. first and second are the largest of the first two parts of all dates.
func FormatOf(date string, first, second int) string {
	at := strings.IndexAny(date, "./-")
	separator, last := date[at:at+1], date[strings.LastIndexAny(date, "./-")+1:]
	year, clock := "%Y", ""
	if i := strings.IndexAny(last, " T"); i >= 0 {
		hours := []string{"%H", "%M", "%S"}
		half := ""
		if strings.HasSuffix(last, "AM") || strings.HasSuffix(last, "PM") {
			hours[0], half = "%I", " %p"
		}
		clock, last = last[i:i+1]+strings.Join(hours[:min(3, 1+strings.Count(last, ":"))], ":")+half, last[:i]
	}
	if len(last) < 4 {
		year = "%y"
	}
	switch format := strings.Join([]string{"%d", "%m", year}, separator) + clock; {
	case at == 4:
		return "time:" + strings.Join([]string{"%Y", "%m", "%d"}, separator) + clock
	case second > 12:
		return "time:" + strings.Join([]string{"%m", "%d", year}, separator) + clock
	case separator == "/" && first <= 12:
		return "time:" + format + ", or time:%m/%d/" + year + clock + " if the month is first"
	default:
		return "time:" + format
	}
}
