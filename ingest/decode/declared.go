package decode

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/internal/spell"
)

// checkDeclared returns an error if a declared column is not in the header. Files after
// the first may lack columns, but not all of them, and records that are only forwarded the
// fields that are no columns.
func (c *csvRows) checkDeclared() error {
	cfg := c.d.config
	if c.d.continues {
		return c.checkKnown()
	}
	names := slices.Clone(cfg.Columns)
	for name, t := range cfg.Types {
		switch {
		case t == Pair:
			a, b, _ := splitPair(name)
			names = append(names, a, b)
		case !isExcluded(t) || !cfg.NoLabel:
			names = append(names, name)
		}
	}
	if !cfg.NoLabel {
		names = append(names, cfg.windowFields()...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !slices.Contains(c.header, name) {
			return c.noColumn(name)
		}
	}
	return nil
}

// checkKnown returns an error if the header has no column of the schema, whose rows would
// all be missing values.
func (c *csvRows) checkKnown() error {
	var want []string
	for _, f := range c.d.schema.Fields() {
		if slices.Contains(c.header, f.Name) {
			return nil
		}
		if !f.Pair {
			want = append(want, f.Name)
		}
	}
	return fmt.Errorf("the file has no column of the model: its columns are %s, and those of the model are %s", some(c.header), some(want))
}

// noColumn returns the error for a declared column that is not in the header, which may
// be the name of one and a type that does not exist.
func (c *csvRows) noColumn(name string) error {
	for i := range name {
		if name[i] == ':' && slices.Contains(c.header, name[:i]) {
			if _, err := ParseColumnType(name[i+1:]); err != nil {
				return fmt.Errorf("input.columns: %s: %w", quote(name[:i]), err)
			}
		}
	}
	hint := ""
	if near := spell.Nearest(name, c.header); near != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", quote(near))
	}
	return fmt.Errorf("input.columns: there is no column %s%s; the columns are %s", quote(name), hint, some(c.header))
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
