package inputs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// Report describes an input column of a file.
type Report struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // empty if it had no value
	Missing  int64  `json:"missing"`
	Distinct int    `json:"distinct"` // in the first distinctRows rows, see mostDistinct

	more    bool   // there may be more distinct values
	Becomes string `json:"becomes"` // what the model sees of it

	// Importance is the total-effect index of the column on rows of the file, which says how much
	// the column matters for the scores (learner.Model.ImportanceOn). It is nil without a model
	// that has made a fit.
	Importance *float64 `json:"importance,omitempty"`

	// Identifier is set if the values in the first rows look like identifiers.
	Identifier bool `json:"identifier,omitempty"`

	// Hint suggests another type, if the first values look as if the column should have one.
	Hint string `json:"hint,omitempty"`

	IsText bool `json:"-"` // it is a category, but probably a text
}

// distinctRows is the number of rows in which distinct values are counted. For numbers with
// fractions, counting ends at mostDistinct values: a wide table has millions of them.
const distinctRows, mostDistinct = 10_000, 1000

// identifierRows is the number of rows that decide whether a column looks like an identifier: those
// of the warm-up. Fewer than identifierLeast rows decide nothing.
const (
	identifierRows  = 1000
	identifierLeast = 100
)

// Tally counts the values of the columns of a file.
type Tally struct {
	Rows    int
	Hint    func(name, typ string) string // hint for a field, see decode.Decoder.Hint; nil for none
	IsText  func(name string) bool        // whether a category is probably a text, see decode.Decoder.IsText; nil: none
	columns []valueCount

	sample   [][]float64 // rows at equal distances, at most sampleRows
	distance int
}

type valueCount struct {
	missing  int64
	distinct values
	counted  float64 // value that was added last, and need not be added again: many columns are 0 in most rows
	more     bool    // there may be more distinct values

	// The others describe the first identifierRows rows.
	last   float64
	breaks bool // a value is missing, not a whole number, or not above the one before
	unique bool // all values differ
}

// look updates last, breaks and unique with the value v in a row. Rows count from 1.
func (c *valueCount) look(row int, v float64) {
	c.breaks = c.breaks || v != math.Trunc(v) || row > 1 && !(v > c.last)
	c.last, c.unique = v, c.distinct.len() == row
}

// identifies reports whether the values look like identifiers: whole numbers that only increase, or
// categories of which no two are equal.
func (c *valueCount) identifies(typ string, rows int) bool {
	switch {
	case rows < identifierLeast:
		return false
	case typ == learner.NumericColumn.String():
		return !c.breaks
	}
	return strings.HasPrefix(typ, learner.CategoryColumn.String()) && c.unique
}

// timeHint returns a hint at the type time for numbers that only increase up to last, if that may be a
// time of the years 2000 to 2049.
func timeHint(typ string, last float64) string {
	if typ != learner.NumericColumn.String() {
		return ""
	}
	const from, to = 946_684_800, 2_524_608_000 // these years in seconds since 1970
	digits, is := strconv.FormatFloat(last, 'f', -1, 64), ""
	if last >= from && last < to {
		is = "seconds since 1970: if it is a time, declare it with the type time"
	}
	if last >= 1000*from && last < 1000*to {
		is = "milliseconds since 1970: if it is a time, divide it by 1,000 and declare it with the type time"
	}
	for layout, format := range map[string]string{"20060102": "%Y%m%d", "20060102150405": "%Y%m%d%H%M%S"} {
		if t, err := time.Parse(layout, digits); err == nil && t.Year() >= 2000 && t.Year() < 2050 {
			is = "dates: if it is a time, declare it with the type time:" + format
		}
	}
	if is == "" {
		return ""
	}
	return "increases from row to row, as an identifier does, and may be " + is
}

// Add counts the values of a row. The columns of a text count as one value, that of the first of them.
func (t *Tally) Add(x []float64, types []learner.ColumnType) {
	if t.columns == nil {
		t.columns = make([]valueCount, len(x))
	}
	t.Rows++
	t.take(x)
	for j := 0; j < len(x); j++ {
		c, v := &t.columns[j], x[j]
		if types != nil && types[j] == learner.TextColumn {
			v = whole(x[j : j+schema.TextBuckets])
			j += schema.TextBuckets - 1
		} else if types != nil && types[j] == learner.GramColumn {
			continue
		}
		if math.IsNaN(v) {
			c.missing++
		} else if t.Rows <= distinctRows && !c.more && (v != c.counted || c.distinct.len() == 0) {
			c.distinct.add(v)
			c.counted = v
			c.more = c.distinct.len() >= mostDistinct && v != math.Trunc(v)
		}
		if t.Rows <= identifierRows {
			c.look(t.Rows, v)
		}
	}
}

// whole returns a whole number that stands for a text with these shares of n-grams; NaN if it is missing.
func whole(shares []float64) float64 {
	h := uint64(0)
	for _, v := range shares {
		if math.IsNaN(v) {
			return v
		}
		h = (h ^ math.Float64bits(v)) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return float64(h >> 12)
}

// Report describes the columns. It returns nil if all are plain numbers, have no missing values and
// no hints, and do not look like identifiers.
func (t *Tally) Report(known *schema.Schema, seen []learner.Column) []Report {
	all := t.All(known, seen)
	if known.Types == nil && !slices.ContainsFunc(all, func(c Report) bool { return c.Missing > 0 || c.Becomes != "number" || c.Identifier || c.Hint != "" }) {
		return nil
	}
	return all
}

// All describes the columns.
func (t *Tally) All(known *schema.Schema, seen []learner.Column) []Report {
	var all []Report
	for _, f := range known.Fields() {
		if f.At >= len(t.columns) {
			return nil
		}
		n := t.columns[f.At]
		c := Report{Name: f.Name, Type: f.Type, Missing: n.missing, Distinct: n.distinct.len(), more: n.more, Becomes: "number"}
		if seen := becomes(f, seen); seen != "" {
			c.Becomes = seen
		}
		if t.Hint != nil {
			c.Hint = t.Hint(f.Name, f.Type)
		}
		c.IsText = t.IsText != nil && c.Type == learner.CategoryColumn.String() && t.IsText(f.Name)
		if c.Hint == "" && n.identifies(c.Type, t.Rows) {
			c.Hint = timeHint(c.Type, n.last)
			c.Identifier = c.Hint == ""
		}
		all = append(all, c)
	}
	return all
}

// Decided returns all as it is if a model has been fitted, which decides what columns become.
func Decided(all []Report, fitted bool) []Report {
	for i := range all {
		if !fitted {
			all[i].Becomes = undecided
		}
	}
	return all
}

// undecided is what a column becomes before the first fit.
const undecided = "decided in the warm-up"

// becomes returns what the model sees of a field. It is empty if that is unknown, or the field as
// it is.
func becomes(f schema.Field, seen []learner.Column) string {
	if f.At >= len(seen) {
		return ""
	}
	text := seen[f.At].Becomes
	if f.Columns > 1 {
		width := 0
		for _, c := range seen[f.At : f.At+f.Columns] {
			text, width = cmp.Or(text, c.Becomes), width+c.Width
		}
		text = fmt.Sprintf("%s in %d columns", text, width)
	}
	if next := f.At + f.Columns; f.Type == learner.SinceColumn.String() && next < len(seen) {
		text += "; " + seen[next].Becomes
	}
	return text
}

// Declaration returns the columns, and the fields that types excludes, as input.columns.
func (t *Tally) Declaration(known *schema.Schema, types map[string]string) string {
	var all []Column
	for _, c := range t.All(known, nil) {
		of := Column{Name: c.Name, Type: schema.WithFormat(c.Type, types[c.Name]), note: c.Hint}
		if c.Identifier {
			of.note = "looks like an identifier: id if it is not an input"
		}
		all = append(all, of)
	}
	return YAML(append(all, notInputs(types)...))
}

// distinct returns the number of distinct values, with a plus if there may be more.
func (c *Report) distinct() string {
	text := display.Thousands(int64(c.Distinct))
	if c.more {
		text += "+"
	}
	return text
}

// mostImportant returns the columns that have a line in Text, in the order of all.
func mostImportant(all []Report) []Report {
	if len(all) <= mostLines {
		return all
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	if all[0].Importance != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(*all[b].Importance, *all[a].Importance) })
	}
	order = order[:mostLines]
	slices.Sort(order)
	some := make([]Report, 0, mostLines)
	for _, i := range order {
		some = append(some, all[i])
	}
	return some
}

// mostLines is the number of columns up to which Text has a line for each.
const mostLines = 60

// Text returns a line for each column, or for the mostLines of the greatest importance.
func Text(all []Report) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	header, importance := "", func(Report) string { return "" }
	if all[0].Importance != nil {
		header, importance = "importance\t", func(c Report) string { return fmt.Sprintf("%.3f\t", *c.Importance) }
	}
	fmt.Fprintln(w, "column\ttype\tmissing\tdistinct\t"+header+"becomes")
	lines := mostImportant(all)
	for _, c := range lines {
		fmt.Fprintf(w, "%.40s\t%s\t%s\t%s\t%s%s\n", c.Name, cmp.Or(c.Type, "unknown"), display.Thousands(c.Missing), c.distinct(), importance(c), c.Becomes)
	}
	w.Flush()
	if n := len(all) - len(lines); n > 0 {
		less := "of less importance, "
		if all[0].Importance == nil {
			less = ""
		}
		fmt.Fprintf(&b, "and %s columns %swhich --json lists\n", display.Thousands(int64(n)), less)
	}
	hinted := false
	for _, c := range all {
		if c.Hint != "" {
			fmt.Fprintf(&b, "%.40s %s\n", c.Name, c.Hint)
		}
		if c.Identifier {
			fmt.Fprintf(&b, "%.40s looks like an identifier: declare it with the type id if it is not an input\n", c.Name)
		}
		hinted = hinted || c.Hint != "" || c.Identifier
	}
	if hinted {
		b.WriteString("types are declared with input.columns, or --columns 'NAME:TYPE,*', where * stands for all other columns\n")
	}
	return b.String()
}
