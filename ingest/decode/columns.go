package decode

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/hints"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/decode/times"
	"github.com/accrete-ml/accrete/learner"
)

// typed reports whether columns may have types other than numeric.
func (d *Decoder) typed() bool {
	return d.config.Infer || d.config.Types != nil || d.schema.Types != nil || d.config.Windows != nil
}

func (d *Decoder) ignores(name []byte) bool {
	return schema.IsExcluded(d.config.Types[string(name)]) && !d.config.isSource(string(name))
}

// firstType returns the type that a column has before its first value.
func (d *Decoder) firstType(name string) learner.ColumnType {
	if t, ok := d.windowType(name); ok {
		return t
	}
	if t, ok := d.config.Types[name]; ok && t != schema.Pair {
		known, _ := schema.ParseType(t)
		return known
	}
	if t, ok := d.partType(name); ok {
		return t
	}
	if t, ok := d.hints[name]; ok {
		return t
	}
	if d.config.Infer {
		return learner.UnknownColumn
	}
	return learner.NumericColumn
}

// firstTypes returns the types of columns before the first record.
func (d *Decoder) firstTypes(columns []string) []learner.ColumnType {
	types := make([]learner.ColumnType, len(columns))
	for i, name := range columns {
		types[i] = d.firstType(name)
	}
	return types
}

// useTypes sets the types of the columns to those of the schema with which a Decoder begins.
func (d *Decoder) useTypes(s *Schema) error {
	types, err := s.ColumnTypes()
	if err != nil {
		return err
	}
	d.setTypes(types)
	for i, name := range s.Columns {
		if t, declared := d.config.Types[name]; declared && d.typeOf(i).String() != t && d.typeOf(i) != learner.SourceColumn {
			return fmt.Errorf("input.columns: %s is declared as %s, and the model has learned it as %v", excerpt.Quote(name), t, d.typeOf(i))
		}
	}
	for _, name := range textsOf(s) {
		if t := d.config.Types[name]; t != learner.TextColumn.String() && !schema.IsExcluded(t) {
			return fmt.Errorf("input.columns: %s is declared as %s, and the model has learned it as %v", excerpt.Quote(name), t, learner.TextColumn)
		}
	}
	return nil
}

// setTypes sets the types of the columns. nil means that all are numeric.
func (d *Decoder) setTypes(types []learner.ColumnType) {
	if !slices.ContainsFunc(types, func(t learner.ColumnType) bool { return t != learner.NumericColumn }) {
		types = nil
	}
	d.types = types
}

// typeOf returns the type of column i.
func (d *Decoder) typeOf(i int) learner.ColumnType {
	if d.types == nil {
		return learner.NumericColumn
	}
	return d.types[i]
}

// settling is the type that a record determines for a column that has none yet.
type settling struct {
	column int
	is     learner.ColumnType
}

// raw returns the raw value of v in a column of type t, and the type of the column after
// this value.
func (d *Decoder) raw(name []byte, t learner.ColumnType, v value) (float64, learner.ColumnType, *Error) {
	switch {
	case t == learner.SourceColumn:
		x, err := d.source(name, v)
		return x, t, err
	case v.kind == num && t == learner.NumericColumn:
		return v.num, t, nil
	case v.kind == null || v.kind == absent:
		return d.missing(name, t, v)
	case t == learner.UnknownColumn && v.kind < object:
		t = typeOfValue(v, d.config.Zones)
	}
	switch is := t.Values(); {
	case is == learner.NumericColumn && v.kind == num:
		return v.num, t, nil
	case t == learner.BooleanColumn && v.kind == boolean:
		return truth(v), t, nil
	case is == learner.CategoryColumn && v.kind == text:
		return learner.Category(xxhash.Sum64(v.text)), t, nil
	case is == learner.CategoryColumn && v.kind == num && d.config.Types[string(name)] != "" && !math.IsInf(v.num, 0):
		return learner.Category(xxhash.Sum64String(decimal.Canonical(v.text, v.num))), t, nil
	case v.kind == instant && (is == learner.TimeColumn || is == learner.NumericColumn):
		return v.num, t, nil
	case is == learner.TimeColumn && d.formats != nil && (v.kind == text || v.kind == num):
		format, declared := d.formats[string(name)]
		if !declared {
			return d.time(name, t, v)
		}
		if seconds, ok := format.Parse(v.text); ok {
			return seconds, t, nil
		}
		return 0, t, bad("columns", "%s is %v, want a time as %v", excerpt.Quote(name), v, format)
	case is == learner.TimeColumn && (v.kind == text || v.kind == num):
		return d.time(name, t, v)
	}
	return 0, t, wrongType(name, v, t)
}

// time returns the raw value of v, which is text or a number, in a time column without a
// declared format.
func (d *Decoder) time(name []byte, t learner.ColumnType, v value) (float64, learner.ColumnType, *Error) {
	if v.kind == text {
		if seconds, ok := times.Parse(v.text, d.config.Zones); ok {
			return seconds, t, nil
		}
	} else if d.config.Types[string(name)] != "" {
		return v.num, t, nil
	}
	return 0, t, wrongType(name, v, t)
}

// missing returns the raw value of a column that is absent or null.
func (d *Decoder) missing(name []byte, t learner.ColumnType, v value) (float64, learner.ColumnType, *Error) {
	switch {
	case d.config.Missing == "impute" || d.config.Missing == "zero" && t != learner.UnknownColumn && t.Values() != learner.NumericColumn && t != learner.BooleanColumn:
		return math.NaN(), t, nil
	case d.config.Missing == "zero":
		if t == learner.UnknownColumn {
			t = learner.NumericColumn
		}
		return 0, t, nil
	case v.kind == absent && !d.typed():
		return 0, t, bad("columns", "%s is missing", excerpt.Quote(name))
	case v.kind == absent:
		return 0, t, bad("columns", "%s is missing, want %s", excerpt.Quote(name), wanted[t.Values()])
	}
	return 0, t, wrongType(name, v, t)
}

// typeOfValue returns the type of a column whose first value is v. zones is Config.Zones.
func typeOfValue(v value, zones bool) learner.ColumnType {
	switch v.kind {
	case boolean:
		return learner.BooleanColumn
	case instant:
		return learner.TimeColumn
	case text:
		if _, ok := times.Parse(v.text, zones); ok {
			return learner.TimeColumn
		}
		return learner.CategoryColumn
	}
	return learner.NumericColumn
}

var wanted = [...]string{"a number", "the text of a category", "a boolean", "a time, such as 2006-01-02T15:04:05Z", "a number, text, a boolean or a time", "text"}

func wrongType(name []byte, v value, t learner.ColumnType) *Error {
	return bad("columns", "%s is %v, want %s", excerpt.Quote(name), v, wanted[t.Values()])
}

// Look starts collecting statistics of the values of the next records, for Hint.
func (d *Decoder) Look() { d.looks = hints.New() }

// look adds the values of d.list and the label to the statistics for Hint, LikeClasses and LongTail.
func (d *Decoder) look(y learner.Label) {
	if !d.looks.NextRow() {
		return
	}
	if y.Task == learner.Regression && y.Targets() == 1 {
		d.looks.Tail.Add(y.Value)
		if d.config.Task == learner.Auto {
			d.looks.Labels.Add(y.Value)
		}
	}
	for _, f := range d.list {
		switch f.kind {
		case num:
			d.looks.Number(f.name, f.num, f.value.text)
		case text:
			d.looks.Text(f.name, f.value.text)
		}
	}
}

// Hint returns a type that suits the values of a field better than its type typ. It returns ""
// if there is none, or without Look.
func (d *Decoder) Hint(name, typ string) string {
	if (typ == learner.NumericColumn.String() || typ == learner.SourceColumn.String()) && d.config.isWindowField(name, true) {
		typ = learner.TimeColumn.String()
	}
	return d.looks.Hint(name, typ)
}

// Looked reports whether the statistics that Look has started to collect are complete.
func (d *Decoder) Looked() bool { return d.looks != nil && d.looks.Done() }

// LikeClasses returns the number of different labels, of which Look has collected statistics, if they
// are read as values because the first one is a number, but look like classes. Otherwise it returns 0.
func (d *Decoder) LikeClasses() int {
	if d.looks == nil {
		return 0
	}
	return d.looks.Labels.Classes()
}

// LongTail returns the percentage of the variance of the labels, of which Look has collected statistics,
// that the largest hundredth of them has, if they have a long tail. Otherwise it returns 0.
func (d *Decoder) LongTail() int { return d.looks.Tail.Percent() }

// IsText reports whether the values of a field, of which Look has collected statistics, are probably
// sentences or descriptions.
func (d *Decoder) IsText(name string) bool { return d.looks.IsText(name) }

// checkTypes checks the declared types of c.
func (c *Config) checkTypes() error {
	since := ""
	for _, name := range slices.Sorted(maps.Keys(c.Types)) {
		t := c.Types[name]
		if schema.BaseType(t) == learner.SinceColumn.String() {
			if since != "" {
				return fmt.Errorf("input.columns: %s and %s are both of type %s: want at most one", excerpt.Quote(since), excerpt.Quote(name), t)
			}
			since = name
		}
		if t == schema.Pair {
			if err := c.checkPair(name); err != nil {
				return err
			}
		}
		if schema.IsColumn(t) {
			if _, err := schema.ParseType(t); err != nil {
				return fmt.Errorf("input.columns: %s: %w", excerpt.Quote(name), err)
			}
		} else if slices.Contains(c.Columns, name) {
			return fmt.Errorf("input.columns: %s is both a column and of type %s", excerpt.Quote(name), t)
		}
	}
	return nil
}

// plain reports whether every column is a numeric field, and the fields of a record are used
// for nothing else.
func (d *Decoder) plain() bool {
	return len(d.schema.Columns) > 0 && !d.config.Sparse && d.types == nil && d.looks.Done() && d.pairs == nil && d.since < 0 && d.tables == nil && d.aliases == nil
}
