package decode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// Schema is what the records so far have determined. A Schema that a Decoder has
// returned never changes.
type Schema struct {
	Columns []string `json:"columns"` // inputs in the order of a row: sorted, or "0", "1", … by number
	Task    string   `json:"task"`    // a learner.Task
	Classes []string `json:"classes"` // in the order in which they appeared

	// Types are the types of the columns, empty for one without a value so far; nil if
	// all are numeric.
	Types []string `json:"types,omitempty"`

	// Writers are the schemas of the registry that the records have needed, in the order in
	// which they did.
	Writers []Writer `json:"writers,omitempty"`

	// Arriving are fields that become columns if they come often enough.
	Arriving []Arriving `json:"arriving,omitempty"`

	// Adopted are columns after Columns, with their types, that the records have and the model
	// does not. A Decoder has none: see First and Whole.
	Adopted      []string `json:"adopted,omitempty"`
	AdoptedTypes []string `json:"adopted_types,omitempty"`

	// Aliases are Columns that are read from other fields where a record lacks them. Those that
	// are declared may also be fields that are no columns.
	Aliases []Alias `json:"aliases,omitempty"`
}

// order puts column names in the order of a row: by bytes, unless they are the
// indices 0 to n-1, which go by number.
func order(names []string) {
	slices.Sort(names)
	if len(names) <= 10 {
		return // the same either way
	}
	seen := make([]bool, len(names))
	for _, name := range names {
		i, ok := index(name)
		if !ok || i >= len(names) || seen[i] {
			return
		}
		seen[i] = true
	}
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
}

// index reads a name that strconv.Itoa wrote.
func index(name string) (int, bool) {
	i, err := strconv.Atoi(name)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == name
}

// indexed reports whether the columns are those of the form {"x":[…]}.
func indexed(columns []string) bool {
	for i, name := range columns {
		if k, ok := index(name); !ok || k != i {
			return false
		}
	}
	return true
}

// repeated returns a name that occurs twice in sorted names.
func repeated(sorted []string) (string, bool) {
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return sorted[i], true
		}
	}
	return "", false
}

// schemaTypes returns the names of types for a Schema, nil if all are numeric.
func schemaTypes(types []learner.ColumnType) []string {
	names := make([]string, len(types))
	numeric := true
	for i, t := range types {
		numeric = numeric && t == learner.NumericColumn
		if t != learner.UnknownColumn {
			names[i] = t.String()
		}
	}
	if numeric {
		return nil
	}
	return names
}

// partTypes are the types of columns that are no fields, by name.
var partTypes = map[string]learner.ColumnType{
	learner.RecordKeyColumn.String(): learner.RecordKeyColumn,
	learner.PairColumn.String():      learner.PairColumn,
	learner.WindowColumn.String():    learner.WindowColumn,
	learner.SourceColumn.String():    learner.SourceColumn,
}

// ColumnTypes returns the types of the columns; nil if all are numeric.
func (s *Schema) ColumnTypes() ([]learner.ColumnType, error) {
	if s.Types == nil {
		return nil, nil
	}
	if len(s.Types) != len(s.Columns) {
		return nil, fmt.Errorf("schema: %d types of %d columns", len(s.Types), len(s.Columns))
	}
	types := make([]learner.ColumnType, len(s.Types))
	for i, name := range s.Types {
		if name == "" {
			types[i] = learner.UnknownColumn
			continue
		}
		if t, ok := partTypes[name]; ok {
			types[i] = t
			continue
		}
		t, err := ParseColumnType(name)
		if err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		types[i] = t
	}
	return types, nil
}

// A Field is an input field and the columns of a row that it has.
type Field struct {
	Name    string
	Type    string // empty if it had no value
	At      int    // index of the first column
	Columns int    // their number, one after the other
	Pair    bool   // it is a pair of other fields, or a window, and in no record
}

// Fields returns the input fields of a schema.
func (s *Schema) Fields() (all []Field) {
	for i := 0; i < len(s.Columns); {
		f := Field{Name: s.Columns[i], Type: learner.NumericColumn.String(), At: i, Columns: 1}
		if s.Types != nil {
			f.Type = s.Types[i]
		}
		if f.Type == learner.TextColumn.String() {
			f.Name, f.Columns = strings.TrimSuffix(f.Name, ":00"), textBuckets
		}
		f.Pair = f.Type == Pair || f.Type == learner.WindowColumn.String()
		if i += f.Columns; f.Type != learner.RecordKeyColumn.String() && !(f.Type == learner.SourceColumn.String() && (f.Name == recordKey || f.Name == recordTime)) {
			all = append(all, f)
		}
	}
	return all
}
