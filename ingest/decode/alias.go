package decode

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner"
)

// Alias is a column that is read from another field, whose name the column has now. A record
// that has the column itself is read as before.
type Alias struct {
	Column string `json:"column"`
	Field  string `json:"field"`
	Type   string `json:"type"` // of the field; empty if it is declared
	Step   int64  `json:"step"` // of the model, from which on it is read so; 0 if it is declared

	// Declared is one of the renames of the Decoder that has decided the rows: see Rename.
	Declared bool `json:"declared,omitempty"`
}

// aliased is an Alias as a Decoder reads it.
type aliased struct {
	column int
	field  string
	is     learner.ColumnType
}

// setAliases reads the aliases of a schema.
func (d *Decoder) setAliases(all []Alias) error {
	d.setRenames(all)
	for _, a := range all {
		if a.Declared {
			continue
		}
		i, ok := d.column[a.Column]
		_, taken := d.column[a.Field]
		is, err := ParseColumnType(a.Type)
		twice := slices.ContainsFunc(d.aliases, func(b aliased) bool { return b.column == i || b.field == a.Field })
		if !ok || taken || twice || err != nil || !alike(d.typeOf(i), is) {
			return fmt.Errorf("schema: column %q cannot be read from %q of type %q", a.Column, a.Field, a.Type)
		}
		d.aliases = append(d.aliases, aliased{i, a.Field, is})
	}
	return nil
}

// fillAliases sets the columns that the record lacks to the fields that they are read from.
func (d *Decoder) fillAliases() *Error {
	for _, a := range d.aliases {
		var v value
		given := false
		for _, f := range d.list {
			if string(f.name) != a.field {
				continue
			}
			if given {
				return bad("json", "duplicate field %s", quote(f.name))
			}
			v, given = f.value, true
		}
		own := d.x[a.column]
		if err := d.put(a.column, []byte(a.field), a.is, v); err != nil {
			return err
		}
		if x := d.x[a.column]; math.Abs(x) > d.config.MaxAbs {
			return bad("limits", "%s is %v, out of range ±%v", quote(a.field), v, d.config.MaxAbs)
		}
		if own == own {
			d.x[a.column] = own
		}
	}
	return nil
}

// isAlias reports whether a column is read from a field.
func (d *Decoder) isAlias(field []byte) bool {
	return slices.ContainsFunc(d.aliases, func(a aliased) bool { return a.field == string(field) })
}

// mostRenames bounds the pairs of columns that are looked at after an adoption. Nearly all of
// them end with the first records, which have both columns.
const mostRenames = 1024

// mayRename notes which columns the record at hand lacks while others of their type, from index
// first on, have arrived. A pair or a window is made of a field by its name, which stays.
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

// alike reports whether columns of two types have the same values, so that one can be read in
// the place of the other.
func alike(a, b learner.ColumnType) bool {
	special := func(t learner.ColumnType) bool {
		return isPart(t) || t == learner.SourceColumn || t == learner.UnknownColumn
	}
	return !special(a) && !special(b) && a.Values() == b.Values()
}

// TypeOf returns the type of column i.
func (s *Schema) TypeOf(i int) string {
	if s.Types == nil {
		return learner.NumericColumn.String()
	}
	return s.Types[i]
}

// First returns s with its first n columns, as those of a model that has no others, and the
// others apart.
func (s *Schema) First(n int) *Schema {
	if n >= len(s.Columns) {
		return s
	}
	of := *s
	of.Columns, of.Adopted = s.Columns[:n:n], s.Columns[n:]
	if s.Types != nil {
		of.Types, of.AdoptedTypes = s.Types[:n:n], s.Types[n:]
		if !slices.ContainsFunc(of.Types, func(t string) bool { return t != learner.NumericColumn.String() }) {
			of.Types = nil
		}
	}
	return &of
}

// Whole returns the Schema of which s is the First.
func (s *Schema) Whole() *Schema {
	if len(s.Adopted) == 0 {
		return s
	}
	of := *s
	of.Columns, of.Adopted = slices.Concat(s.Columns, s.Adopted), nil
	of.Aliases = declared(s.Aliases)
	if s.Types != nil || s.AdoptedTypes != nil {
		types := func(names []string, n int) []string {
			if names == nil {
				return slices.Repeat([]string{learner.NumericColumn.String()}, n)
			}
			return names
		}
		of.Types, of.AdoptedTypes = slices.Concat(types(s.Types, len(s.Columns)), types(s.AdoptedTypes, len(s.Adopted))), nil
	}
	return &of
}
