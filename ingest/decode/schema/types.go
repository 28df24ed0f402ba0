package schema

import (
	"fmt"
	"maps"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/times"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learner"
)

// The declared types of fields that are not columns, and of columns that are not fields.
const (
	Ignored = "ignored"
	ID      = "id"   // identifies a record, so it is never an input
	Pair    = "pair" // the column A*B has the values of the columns A and B together, as a category
)

// IsColumn reports whether a field of a declared type is a column.
func IsColumn(typ string) bool { return !IsExcluded(typ) && typ != Pair }

// IsExcluded reports whether a field of a declared type is not an input.
func IsExcluded(typ string) bool { return typ == Ignored || typ == ID }

// Declarable lists the types that can be declared for columns.
var Declarable = append([]learner.ColumnType{
	learner.NumericColumn, learner.CategoryColumn, learner.BooleanColumn, learner.TimeColumn, learner.TextColumn,
	learner.NormalColumn, learner.TrendColumn, learner.SinceColumn,
}, learner.EncodedColumns()...)

// otherNames maps names that other programs use for types.
var otherNames = map[string]string{
	"number": "numeric", "float": "numeric", "double": "numeric", "int": "numeric", "integer": "numeric",
	"string": "category", "str": "category", "enum": "category", "categorical": "category",
	"bool": "boolean", "date": "time", "datetime": "time", "timestamp": "time", "ignore": Ignored, "skip": Ignored,
	"cross": Pair, "interaction": Pair,
}

// Suggest returns the type that a name which is none is a misspelling or another word of, or "".
func Suggest(name string) string {
	if is := otherNames[strings.ToLower(name)]; is != "" {
		return is
	}
	names := []string{Ignored, ID, Pair, learner.CategoryColumn.String() + ":decay=10000"}
	for _, t := range Declarable {
		names = append(names, t.String())
	}
	return spell.Nearest(name, names)
}

// ParseType returns the type of that name, which may not be Ignored or ID.
func ParseType(name string) (learner.ColumnType, error) {
	if t, is, err := learner.ParseDecayed(name); is {
		if err != nil {
			return 0, fmt.Errorf("%s is not the type of a column: %w", excerpt.Quote(name), err)
		}
		return t, nil
	}
	if base, format := cutFormat(name); format != "" {
		t, err := ParseType(base)
		if err != nil {
			return 0, err
		}
		_, err = times.ParseFormat(format)
		return t, err
	}
	var names []string
	for _, t := range Declarable {
		if t.String() == name {
			return t, nil
		}
		names = append(names, t.String())
	}
	names = append(names, learner.CategoryColumn.String()+":decay=10000")
	hint := Suggest(name)
	if hint != "" {
		hint = "; did you mean " + hint + "?"
	}
	return 0, fmt.Errorf("%s is not the type of a column: want %s, %s, %s or %s%s", excerpt.Quote(name), strings.Join(names, ", "), Pair, ID, Ignored, hint)
}

// cutFormat returns the type of a column and the format of its times, of a declared type
// such as time:%d.%m.%Y or time:trend:%d.%m.%Y; the format is empty if there is none.
func cutFormat(typ string) (base, format string) {
	if i := strings.IndexByte(typ, '%'); i > 0 && typ[i-1] == ':' && strings.HasPrefix(typ, learner.TimeColumn.String()+":") {
		return typ[:i-1], typ[i:]
	}
	return typ, ""
}

// BaseType returns a declared type without a format of times.
func BaseType(typ string) string {
	base, _ := cutFormat(typ)
	return base
}

// WithFormat returns the declared type of a column if it is t with a time format, and otherwise t.
func WithFormat(t, declared string) string {
	if base, format := cutFormat(declared); format != "" && base == t {
		return declared
	}
	return t
}

// TimeFormats returns the time formats of the columns that declare one, and types without their
// formats. The types must be valid.
func TimeFormats(types map[string]string) (formats map[string]times.Format, without map[string]string) {
	for name, t := range types {
		base, declared := cutFormat(t)
		if declared == "" {
			continue
		}
		if formats == nil {
			formats, without = map[string]times.Format{}, maps.Clone(types)
		}
		formats[name], _ = times.ParseFormat(declared)
		without[name] = base
	}
	if formats == nil {
		return nil, types
	}
	return formats, without
}
