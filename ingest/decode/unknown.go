package decode

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// aliased is an Alias in the form that a Decoder uses.
type aliased struct {
	column int
	field  string
	is     learner.ColumnType
}

// setAliases reads the aliases of a schema.
func (d *Decoder) setAliases(all []schema.Alias) error {
	for _, a := range all {
		if a.Declared {
			continue // see rename
		}
		i, ok := d.column[a.Column]
		_, taken := d.column[a.Field]
		is, err := schema.ParseType(a.Type)
		twice := slices.ContainsFunc(d.aliases, func(b aliased) bool { return b.column == i || b.field == a.Field })
		if !ok || taken || twice || err != nil || !alike(d.typeOf(i), is) {
			return fmt.Errorf("schema: column %q cannot be read from %q of type %q", a.Column, a.Field, a.Type)
		}
		d.aliases = append(d.aliases, aliased{i, a.Field, is})
	}
	return nil
}

// fillAliases sets columns that the record lacks to the value of the field in their alias.
func (d *Decoder) fillAliases() *Error {
	for _, a := range d.aliases {
		var v value
		given := false
		for _, f := range d.list {
			if string(f.name) != a.field {
				continue
			}
			if given {
				return bad("json", "duplicate field %s", excerpt.Quote(f.name))
			}
			v, given = f.value, true
		}
		own := d.x[a.column]
		if err := d.put(a.column, []byte(a.field), a.is, v); err != nil {
			return err
		}
		if x := d.x[a.column]; math.Abs(x) > d.config.MaxAbs {
			return bad("limits", "%s is %v, out of range ±%v", excerpt.Quote(a.field), v, d.config.MaxAbs)
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

// drop counts n fields that are ignored because they are not columns. name is the name of one
// of them.
func (d *Decoder) drop(n int, name []byte) {
	if d.dropped += int64(n); d.droppedField == "" {
		d.droppedField = string(name)
	}
	if _, known := d.strange[string(name)]; !known && len(name) <= maxStrangeName && len(d.strange) < maxStrange {
		d.strangers = append(d.strangers, string(name))
		d.KnowFields(d.strangers[len(d.strangers)-1:])
	}
}

// Bounds of the names of ignored fields that a Decoder remembers.
const (
	maxStrange     = 256
	maxStrangeName = 256 // bytes
)

// NewFields returns the names of ignored fields that have first appeared since the last call. The
// number of names that a Decoder remembers is bounded, so it may not return all of them.
func (d *Decoder) NewFields() []string {
	all := d.strangers
	d.strangers = nil
	return all
}

// KnowFields makes NewFields omit ignored fields with these names.
func (d *Decoder) KnowFields(names []string) {
	if d.strange == nil {
		d.strange = map[string]struct{}{}
	}
	for _, name := range names {
		d.strange[name] = struct{}{}
	}
}

// Dropped returns the number of fields that were ignored since the last call, because they are
// neither columns nor declared as ignored, and the name of the first one.
func (d *Decoder) Dropped() (n int64, field string) {
	n, field = d.dropped, d.droppedField
	d.dropped, d.droppedField = 0, ""
	return n, field
}

// Rename declares that records now have a column under the name of another field. From the next
// record on, the field is read as the column. A record that has the column itself is read as
// before.
type Rename struct {
	Column string
	Field  string
}

const (
	mostDeclared = 100 // renames of a model
	maxDeclared  = 256 // bytes of a name
)

// CheckRenames returns an error if the renames are invalid or contradict c.
func (c Config) CheckRenames(all []Rename) error {
	if len(all) == 0 {
		return nil
	}
	if !slices.Contains(adoptable, c.Format) {
		return fmt.Errorf("input.renames needs records with fields by name, which input.format %s does not have", c.Format)
	}
	if len(all) > mostDeclared {
		return fmt.Errorf("input.renames has %d columns: want at most %d", len(all), mostDeclared)
	}
	for i, r := range all {
		if r.Column == r.Field {
			return fmt.Errorf("input.renames: the column %s is renamed to itself: want the name of another field, or leave it out", excerpt.Quote(r.Column))
		}
		for _, name := range []string{r.Column, r.Field} {
			switch {
			case name == "" || len(name) > maxDeclared:
				return fmt.Errorf("input.renames: %s: want the names of a column and of a field, of at most %d bytes", excerpt.Quote(name), maxDeclared)
			case name == c.Label || name == c.Key || name == c.Weight || slices.Contains(c.Labels, name):
				return fmt.Errorf("input.renames: %s is the label, the key or the weight: give its new name to input.label, input.key or input.weight", excerpt.Quote(name))
			}
			twice := func(o Rename) bool { return o.Column == name || o.Field == name }
			if slices.ContainsFunc(all[:i], twice) {
				return fmt.Errorf("input.renames names %s twice", excerpt.Quote(name))
			}
		}
		if _, declared := c.Types[r.Field]; declared || slices.Contains(c.Columns, r.Field) || c.isWindowField(r.Field, false) {
			return fmt.Errorf("input.renames: %s is also declared as a field of its own: declare %s, which is read from it", excerpt.Quote(r.Field), excerpt.Quote(r.Column))
		}
	}
	return nil
}

// Rename replaces the renames with which records are read, from the next record on.
func (d *Decoder) Rename(all []Rename) error {
	if err := d.config.CheckRenames(all); err != nil {
		return err
	}
	for _, r := range all {
		switch {
		case len(d.schema.Columns) == 0 || d.config.Sparse:
		case d.hasField(r.Field):
			return fmt.Errorf("input.renames: %s is a column of the model, so that %s cannot be read from it", excerpt.Quote(r.Field), excerpt.Quote(r.Column))
		case !d.hasField(r.Column) && d.config.Types[r.Column] == "" && !d.config.isWindowField(r.Column, false) && !d.config.Adopt:
			return fmt.Errorf("input.renames: the model has no column %s", excerpt.Quote(r.Column))
		}
	}
	for _, r := range all {
		if d.isAlias([]byte(r.Field)) {
			return fmt.Errorf("input.renames: the model reads another column from %s", excerpt.Quote(r.Field))
		}
	}
	d.SetRenames(all)
	return nil
}

// SetRenames is Rename without checks, for renames that a Decoder of the same model has already
// accepted.
func (d *Decoder) SetRenames(all []Rename) {
	s := *d.schema
	s.Aliases = slices.DeleteFunc(slices.Clone(s.Aliases), func(a schema.Alias) bool { return a.Declared })
	for _, r := range slices.SortedFunc(slices.Values(all), func(a, b Rename) int { return cmp.Compare(a.Column, b.Column) }) {
		s.Aliases = append(s.Aliases, schema.Alias{Column: r.Column, Field: r.Field, Declared: true})
	}
	if len(s.Aliases) == 0 {
		s.Aliases = nil
	}
	d.schema = &s
	d.setRenames()
}

// Renames returns the renames with which records are read, sorted by column.
func (d *Decoder) Renames() (all []Rename) {
	for _, a := range d.schema.Declared() {
		all = append(all, Rename{a.Column, a.Field})
	}
	return all
}

// hasField reports whether the model has a column, or a text, that is read from a field of this
// name.
func (d *Decoder) hasField(name string) bool {
	i, column := d.column[name]
	_, texts := d.texts[name]
	return column && !d.noField(i) || texts
}

// renaming is a column that is read from another field.
type renaming struct {
	column []byte
	own    int // index of the column's own field in d.list; -1: the current record has none
}

// setRenames prepares the renames that are declared in the schema.
func (d *Decoder) setRenames() {
	d.renamed, d.owned = nil, nil
	for _, a := range d.schema.Declared() {
		if d.renamed == nil {
			d.renamed, d.owned = map[string]*renaming{}, map[string]*renaming{}
		}
		r := &renaming{column: []byte(a.Column)}
		d.renamed[a.Field], d.owned[a.Column] = r, r
	}
}

// rename gives fields of the record the names of the columns as which they are read. A value of
// the column itself takes precedence unless it is null. A renamed field that comes twice causes
// an error later, unless the record has the column itself.
func (d *Decoder) rename() {
	for _, r := range d.owned {
		r.own = -1
	}
	found := false
	for i := range d.list {
		name := d.list[i].name
		if r := d.owned[string(name)]; r != nil && r.own < 0 {
			r.own = i
		}
		found = found || d.renamed[string(name)] != nil
	}
	if !found {
		return
	}
	for i := range d.list {
		f := &d.list[i]
		r := d.renamed[string(f.name)]
		switch {
		case r == nil:
		case r.own < 0:
			f.name = r.column
		case d.list[r.own].kind == null:
			d.list[r.own].value = f.value
		}
	}
	d.list = slices.DeleteFunc(d.list, func(f field) bool { return d.renamed[string(f.name)] != nil })
}
