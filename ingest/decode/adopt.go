package decode

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// adoptAfter is the number of records with a value of a field after which the field becomes a
// column. With a much smaller number, a few wrong records would change the columns; with a
// larger one, columns would be adopted late.
const adoptAfter = 100

// adoptable lists the formats whose records have fields by name.
var adoptable = []string{"", "json", "json-schema", "cloudevents", "avro", "protobuf"}

// checkAdopt returns an error if columns cannot be adopted.
func (c *Config) checkAdopt() error {
	const option = "input.on_change: adopt"
	switch {
	case !c.Adopt:
		return nil
	case !slices.Contains(adoptable, c.Format):
		return fmt.Errorf("%s needs records with fields by name, which input.format %s does not have", option, c.Format)
	case c.Missing == "quarantine":
		return fmt.Errorf("%s needs input.missing impute or zero: records from before a column came do not have it", option)
	case c.Columns != nil:
		return fmt.Errorf("%s takes columns from the records: set input.columns to auto, with the types of some at most", option)
	case c.Above != 0:
		return fmt.Errorf("%s: the kernel requires inputs of one kind", option)
	case c.Sparse:
		return fmt.Errorf("%s: with input.sparse every input is hashed by its name, and none has to be adopted", option)
	case c.Late != nil:
		return fmt.Errorf("%s cannot be combined with input.labels: rows that wait for their label have the columns of their time", option)
	}
	return nil
}

// arrival is a field of the current record for which there is no column of its type.
type arrival struct {
	name string
	is   learner.ColumnType
}

// arrive notes a field that may become a column. It returns false if the field cannot become
// one.
func (d *Decoder) arrive(name []byte, v value) bool {
	if v.kind == null || v.kind == absent || v.kind >= object || len(name) > maxStrangeName || d.dense {
		return false
	}
	if _, declared := d.config.Types[string(name)]; declared || d.config.isWindowField(string(name), false) || d.config.isPaired(string(name)) {
		return false
	}
	if _, part := d.partType(string(name)); part {
		return false
	}
	is := typeOfValue(v, d.config.Zones)
	if is != learner.NumericColumn && !d.config.Infer || is == learner.NumericColumn && math.Abs(v.num) > d.config.MaxAbs {
		return false
	}
	if !d.config.Fixed && !slices.ContainsFunc(d.arrivals, func(a arrival) bool { return a.name == string(name) }) {
		d.arrivals = append(d.arrivals, arrival{string(name), is})
	}
	return true
}

// widened converts v, which is not of type t, to type t if that loses no information. Booleans
// and numbers written as text become numbers, 0 and 1 become booleans, and numbers and booleans
// become categories, by their text.
func (d *Decoder) widened(t learner.ColumnType, v value) (float64, bool) {
	switch is := t.Values(); {
	case is == learner.NumericColumn && v.kind == boolean:
		return truth(v), true
	case is == learner.NumericColumn && v.kind == text:
		x, err := strconv.ParseFloat(string(v.text), 64)
		return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
	case t == learner.BooleanColumn && v.kind == num && (v.num == 0 || v.num == 1):
		return v.num, true
	case is == learner.CategoryColumn && v.kind == num && !math.IsInf(v.num, 0):
		return learner.Category(xxhash.Sum64String(decimal.Canonical(v.text, v.num))), true
	case is == learner.CategoryColumn && v.kind == boolean:
		return learner.Category(xxhash.Sum64String(strconv.FormatBool(truth(v) == 1))), true
	}
	return 0, false
}

func truth(v value) float64 {
	if v.text[0] == 't' {
		return 1
	}
	return 0
}

// putOther is put for a value whose type is not that of the column, with Config.Adopt. It widens
// the value or, if that is not possible, treats it as missing and notes it as an arrival. It
// returns false if the value is invalid.
func (d *Decoder) putOther(i int, name []byte, t learner.ColumnType, v value) bool {
	if !d.config.Adopt || isPart(t) || t == learner.SourceColumn {
		return false
	}
	if x, ok := d.widened(t, v); ok {
		d.x[i] = x
		return true
	}
	if !d.arrive(name, v) {
		return false
	}
	x, _, err := d.missing(name, t, value{})
	if err != nil {
		return false
	}
	d.drop(1, name)
	d.x[i] = x
	return true
}

// countArrivals counts the arrivals of a valid record, and adopts fields that have arrived often
// enough. The current record is the last one without these columns.
func (d *Decoder) countArrivals(direct bool) {
	if len(d.arrivals) == 0 && len(d.schema.Arriving) == 0 || d.config.Fixed {
		return
	}
	s := *d.schema
	s.Arriving = slices.DeleteFunc(slices.Clone(s.Arriving), func(a schema.Arriving) bool { return d.hasOwn(a.Name, direct) })
	enough := false
	for _, a := range d.arrivals {
		enough = s.Arrive(a.name, a.is.String()) == adoptAfter || enough
	}
	d.arrivals = d.arrivals[:0]
	if enough {
		d.adopt(&s)
	}
	if slices.Equal(s.Arriving, d.schema.Arriving) && !enough {
		return
	}
	d.schema = &s
}

// hasOwn reports whether the current record has a value of the column's own type.
func (d *Decoder) hasOwn(name string, direct bool) bool {
	i, is := d.column[name]
	if !is || d.x[i] != d.x[i] || slices.ContainsFunc(d.arrivals, func(a arrival) bool { return a.name == name }) {
		return false
	}
	return direct || slices.ContainsFunc(d.list, func(f field) bool { return string(f.name) == name && f.kind != null })
}

// adopt appends fields that have arrived to the columns of s. It includes fields that have
// arrived at least half as often as required: usually such fields were introduced together with
// the others, but are not in every record.
func (d *Decoder) adopt(s *Schema) {
	s.Columns, d.types = slices.Clone(s.Columns), slices.Clone(d.types)
	if d.types == nil {
		d.types = make([]learner.ColumnType, len(s.Columns))
	}
	var rest []schema.Arriving
	for _, f := range s.Arriving {
		is, err := schema.ParseType(f.Type)
		if err != nil || f.Records < adoptAfter/2 || len(s.Columns) >= d.config.MaxColumns {
			rest = append(rest, f)
			continue
		}
		if i, was := d.column[f.Name]; was {
			s.Columns[i] = former(s.Columns, f.Name, d.types[i])
		}
		s.Columns, d.types = append(s.Columns, f.Name), append(d.types, is)
		d.adopted = append(d.adopted, f.Name)
	}
	s.Arriving = rest
	d.setTypes(d.types)
	s.Types = schema.TypeNames(d.types)
	d.schema = s
	d.mayRename(len(d.x))
	clear(d.column)
	d.setColumns(s.Columns)
	d.order, d.guess = d.order[:0], d.guess[:0]
}

// former returns a new name for a column whose field now has another type.
func former(columns []string, name string, was learner.ColumnType) string {
	for n := 1; ; n++ {
		out := fmt.Sprintf("%s (was %v)", name, was)
		if n > 1 {
			out = fmt.Sprintf("%s (was %v, %d)", name, was, n)
		}
		if !slices.Contains(columns, out) {
			return out
		}
	}
}

// Adopted returns the columns that were adopted since the last call. renames holds pairs of an
// older column and an adopted one that may be the same column under another name.
func (d *Decoder) Adopted() (names []string, renames [][2]int) {
	names, renames = d.adopted, d.renames
	d.adopted, d.renames = nil, nil
	return names, renames
}

// mostRenames bounds the pairs of columns that are considered after an adoption. Nearly all of
// them are ruled out by the first records, which have both columns.
const mostRenames = 1024

// mayRename notes pairs of a column that the current record lacks and an adopted column of the
// same type, which are those from index first on. It leaves out columns that pairs or windows
// refer to, because these refer to the field by name.
func (d *Decoder) mayRename(first int) {
	if !d.config.Renames {
		return
	}
	for i, x := range d.x[:first] {
		name := d.schema.Columns[i]
		if x == x || d.config.isPaired(name) || d.config.isWindowField(name, false) {
			continue
		}
		for j := first; j < len(d.schema.Columns) && len(d.renames) < mostRenames; j++ {
			if alike(d.typeOf(i), d.typeOf(j)) {
				d.renames = append(d.renames, [2]int{i, j})
			}
		}
	}
}

// alike reports whether columns of two types have the same kind of values, so that one can be
// read in place of the other.
func alike(a, b learner.ColumnType) bool {
	special := func(t learner.ColumnType) bool {
		return isPart(t) || t == learner.SourceColumn || t == learner.UnknownColumn
	}
	return !special(a) && !special(b) && a.Values() == b.Values()
}
