// Package schema describes the columns of records: the types that are declared for fields, and
// what the records so far have determined.
package schema

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// Schema is what the previous records have determined. A Schema that a Decoder has
// returned is never modified.
type Schema struct {
	Columns []string `json:"columns"` // inputs in the order of a row: sorted, or "0", "1", … by number
	Task    string   `json:"task"`    // a learner.Task
	Classes []string `json:"classes"` // in the order in which they appeared

	// Types has the types of the columns; nil if all are numeric. The type of a column that
	// has had no value yet is empty.
	Types []string `json:"types,omitempty"`

	// Writers holds the schemas of the registry that the records have needed, in the order of
	// their first use.
	Writers []Writer `json:"writers,omitempty"`

	// Arriving are fields that become columns if they come often enough.
	Arriving []Arriving `json:"arriving,omitempty"`

	// Adopted are further columns, with their types, that the records have and the model does
	// not. The Schema of a Decoder has none: see First and Whole.
	Adopted      []string `json:"adopted,omitempty"`
	AdoptedTypes []string `json:"adopted_types,omitempty"`

	// Aliases lists Columns that are read from another field if a record lacks them. Declared
	// aliases may also be for fields that are not columns.
	Aliases []Alias `json:"aliases,omitempty"`
}

// TypeNames returns the names of types for a Schema, nil if all are numeric.
func TypeNames(types []learner.ColumnType) []string {
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

// partTypes has the types, by name, of columns that are not fields.
var partTypes = map[string]learner.ColumnType{
	learner.RecordKeyColumn.String(): learner.RecordKeyColumn,
	learner.PairColumn.String():      learner.PairColumn,
	learner.WindowColumn.String():    learner.WindowColumn,
	learner.SourceColumn.String():    learner.SourceColumn,
	learner.GramColumn.String():      learner.GramColumn,
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
		t, err := ParseType(name)
		if err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		types[i] = t
	}
	return types, nil
}

// A Field is an input field with its columns in a row.
type Field struct {
	Name    string
	Type    string // empty if it had no value
	At      int    // index of the first column
	Columns int    // their number, one after the other
	Pair    bool   // it is a pair of other fields, or belongs to a window, so that records do not have it
}

// Fields returns the input fields of a schema.
func (s *Schema) Fields() (all []Field) {
	for i := 0; i < len(s.Columns); {
		f := Field{Name: s.Columns[i], Type: learner.NumericColumn.String(), At: i, Columns: 1}
		if s.Types != nil {
			f.Type = s.Types[i]
		}
		if f.Type == learner.TextColumn.String() {
			f.Name, f.Columns = strings.TrimSuffix(f.Name, ":00"), TextBuckets
			for s.TypeOf(f.At+f.Columns) == learner.GramColumn.String() {
				f.Columns++
			}
		}
		f.Pair = f.Type == Pair || f.Type == learner.WindowColumn.String()
		if i += f.Columns; f.Type != learner.RecordKeyColumn.String() && !(f.Type == learner.SourceColumn.String() && (f.Name == RecordKey || f.Name == RecordTime)) {
			all = append(all, f)
		}
	}
	return all
}

// ByField adds up what belongs to the columns of each field: of has size values for each column, and the
// result size values for each of the Fields. The columns of a text, and the key of a time, belong to the
// field before them.
func (s *Schema) ByField(of []float64, size int) []float64 {
	fields := s.Fields()
	sums := make([]float64, len(fields)*size)
	for i, f := range fields {
		to := len(s.Columns) * size
		if i+1 < len(fields) {
			to = fields[i+1].At * size
		}
		for j := f.At * size; j < to; j++ {
			sums[i*size+j%size] += of[j]
		}
	}
	return sums
}

// Alias is a column whose values are now in a field with another name. A record that has the
// column itself is read as before.
type Alias struct {
	Column string `json:"column"`
	Field  string `json:"field"`
	Type   string `json:"type"` // of the field; empty if it is declared
	Step   int64  `json:"step"` // step of the model from which on the field is read; 0 if it is declared

	// Declared means that the alias is one of the renames of the Decoder that decoded the rows.
	Declared bool `json:"declared,omitempty"`
}

// TypeOf returns the type of column i. Without types, all are numeric.
func (s *Schema) TypeOf(i int) string {
	if i >= len(s.Types) {
		return learner.NumericColumn.String()
	}
	return s.Types[i]
}

// A Writer is a schema of a registry with which records are written. Its text is complete: it does
// not reference other schemas.
type Writer struct {
	ID   string `json:"id"`   // a number, or a GUID
	Type string `json:"type"` // AVRO, PROTOBUF or JSON
	Text string `json:"text"` // for PROTOBUF, a FileDescriptorSet in base64 whose last file is the schema
}

// TextBuckets is the number of columns for the shares of the n-grams of a text. It is a compromise:
// docs/columns.md has the errors with more and with fewer columns.
const TextBuckets = 64

// The columns of a row, beside fields, that windows need.
const (
	RecordKey  = "record.key"
	RecordTime = "record.time"
)

// Declared returns the Aliases that are declared; nil for none.
func (s *Schema) Declared() (all []Alias) {
	for _, a := range s.Aliases {
		if a.Declared {
			all = append(all, a)
		}
	}
	return all
}
