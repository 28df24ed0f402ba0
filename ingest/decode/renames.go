package decode

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
)

// Rename is a column that records have under the name of another field now, as declared. A
// record that has the column itself is read as before. Nothing has to be found out: with the
// next record the model reads the field as the column.
type Rename struct {
	Column string
	Field  string
}

const (
	mostDeclared = 100 // renames of a model
	maxDeclared  = 256 // bytes of a name
)

// CheckRenames returns an error if records that are read with c cannot be read with the renames.
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
		for _, name := range []string{r.Column, r.Field} {
			switch {
			case name == "" || len(name) > maxDeclared:
				return fmt.Errorf("input.renames: %s: want the names of a column and of a field, of at most %d bytes", excerpt.Quote(name), maxDeclared)
			case name == c.Label || name == c.Key || name == c.Weight || slices.Contains(c.Labels, name):
				return fmt.Errorf("input.renames: %s is the label, the key or the weight: give its new name to input.label, input.key or input.weight", excerpt.Quote(name))
			}
			twice := func(o Rename) bool { return o.Column == name || o.Field == name }
			if slices.ContainsFunc(all[:i], twice) || r.Column == r.Field {
				return fmt.Errorf("input.renames names %s twice", excerpt.Quote(name))
			}
		}
		if _, declared := c.Types[r.Field]; declared || slices.Contains(c.Columns, r.Field) || c.isWindowField(r.Field, false) {
			return fmt.Errorf("input.renames: %s is also declared as a field of its own: declare %s, which is read from it", excerpt.Quote(r.Field), excerpt.Quote(r.Column))
		}
	}
	return nil
}

// Rename has the records from the next one on be read with these renames, in the place of
// those before.
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

// SetRenames is Rename for renames that a Decoder of the same model has been given: nothing is
// checked.
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

// Renames returns the renames that records are read with, by column.
func (d *Decoder) Renames() (all []Rename) {
	for _, a := range d.schema.Declared() {
		all = append(all, Rename{a.Column, a.Field})
	}
	return all
}

// hasField reports whether inputs of this name are columns of the model.
func (d *Decoder) hasField(name string) bool {
	i, column := d.column[name]
	_, texts := d.texts[name]
	return column && !d.noField(i) || texts
}

// setRenames has fields be read as columns according to the schema.
func (d *Decoder) setRenames() {
	d.renamed = nil
	for _, a := range d.schema.Declared() {
		if d.renamed == nil {
			d.renamed = map[string][]byte{}
		}
		d.renamed[a.Field] = []byte(a.Column)
	}
}

// rename gives the fields of the record the names of the columns as which they are read. A
// value of the column itself counts, if it is not null.
func (d *Decoder) rename() {
	for k := 0; k < len(d.list); k++ {
		f := &d.list[k]
		column, is := d.renamed[string(f.name)]
		if !is {
			continue
		}
		own := slices.IndexFunc(d.list, func(o field) bool { return string(o.name) == string(column) })
		if own < 0 || &d.list[own].name[0] == &column[0] { // the field comes twice, which is an error later
			f.name = column
			continue
		}
		if d.list[own].kind == null {
			d.list[own].value = f.value
		}
		d.list = slices.Delete(d.list, k, k+1)
		k--
	}
}
