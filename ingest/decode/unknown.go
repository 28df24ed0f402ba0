package decode

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// aliased is an Alias as a Decoder reads it.
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

// drop counts fields that are ignored because they are not columns, of which one has the
// given name.
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

// NewFields returns the ignored fields that have appeared since the last call. It does not
// know of all if they are many.
func (d *Decoder) NewFields() []string {
	all := d.strangers
	d.strangers = nil
	return all
}

// KnowFields has NewFields omit ignored fields of these names.
func (d *Decoder) KnowFields(names []string) {
	if d.strange == nil {
		d.strange = map[string]struct{}{}
	}
	for _, name := range names {
		d.strange[name] = struct{}{}
	}
}

// Dropped returns the number of fields that were ignored because they are not columns and
// not declared as ignored, since the last call, and the name of the first.
func (d *Decoder) Dropped() (n int64, field string) {
	n, field = d.dropped, d.droppedField
	d.dropped, d.droppedField = 0, ""
	return n, field
}
