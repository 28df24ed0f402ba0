package decode

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode/times"
	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learner"
)

// The declared types of fields that are not columns, and of columns that are not fields.
const (
	Ignored = "ignored"
	ID      = "id"   // tells records apart, so it is never an input
	Pair    = "pair" // the column A*B has the values of the columns A and B together, as a category
)

// IsColumn reports whether a field of a declared type is a column.
func IsColumn(typ string) bool { return !isExcluded(typ) && typ != Pair }

// isExcluded reports whether a field of a declared type is not an input.
func isExcluded(typ string) bool { return typ == Ignored || typ == ID }

// The types of columns, as they are declared.
var declarable = append([]learner.ColumnType{
	learner.NumericColumn, learner.CategoryColumn, learner.BooleanColumn, learner.TimeColumn, learner.TextColumn,
	learner.NormalColumn, learner.TrendColumn, learner.SinceColumn,
}, learner.EncodedColumns()...)

// otherNames are what types are called elsewhere.
var otherNames = map[string]string{
	"number": "numeric", "float": "numeric", "double": "numeric", "int": "numeric", "integer": "numeric",
	"string": "category", "str": "category", "enum": "category", "categorical": "category",
	"bool": "boolean", "date": "time", "datetime": "time", "timestamp": "time", "ignore": Ignored, "skip": Ignored,
	"cross": Pair, "interaction": Pair,
}

// ParseColumnType returns the type of that name, which may not be Ignored or ID.
func ParseColumnType(name string) (learner.ColumnType, error) {
	if t, is, err := learner.ParseDecayed(name); is {
		if err != nil {
			return 0, fmt.Errorf("%s is not the type of a column: %w", quote(name), err)
		}
		return t, nil
	}
	if base, format := cutFormat(name); format != "" {
		t, err := ParseColumnType(base)
		if err != nil {
			return 0, err
		}
		_, err = times.ParseFormat(format)
		return t, err
	}
	var names []string
	for _, t := range declarable {
		if t.String() == name {
			return t, nil
		}
		names = append(names, t.String())
	}
	names = append(names, learner.CategoryColumn.String()+":decay=10000")
	hint := otherNames[strings.ToLower(name)]
	if hint == "" {
		hint = spell.Nearest(name, append(slices.Clone(names), Ignored, ID, Pair))
	}
	if hint != "" {
		hint = "; did you mean " + hint + "?"
	}
	return 0, fmt.Errorf("%s is not the type of a column: want %s, %s, %s or %s%s", quote(name), strings.Join(names, ", "), Pair, ID, Ignored, hint)
}

// checkTypes checks the declared types of c.
func (c *Config) checkTypes() error {
	since := ""
	for _, name := range slices.Sorted(maps.Keys(c.Types)) {
		t := c.Types[name]
		if baseType(t) == learner.SinceColumn.String() {
			if since != "" {
				return fmt.Errorf("input.columns: %s and %s are both of type %s: want at most one", quote(since), quote(name), t)
			}
			since = name
		}
		if t == Pair {
			if err := c.checkPair(name); err != nil {
				return err
			}
		}
		if IsColumn(t) {
			if _, err := ParseColumnType(t); err != nil {
				return fmt.Errorf("input.columns: %s: %w", quote(name), err)
			}
		} else if slices.Contains(c.Columns, name) {
			return fmt.Errorf("input.columns: %s is both a column and of type %s", quote(name), t)
		}
	}
	return nil
}

// cutFormat returns the type of a column and the format of its times, of a declared type
// such as time:%d.%m.%Y or time:trend:%d.%m.%Y; the format is empty if there is none.
func cutFormat(typ string) (base, format string) {
	if i := strings.IndexByte(typ, '%'); i > 0 && typ[i-1] == ':' && strings.HasPrefix(typ, learner.TimeColumn.String()+":") {
		return typ[:i-1], typ[i:]
	}
	return typ, ""
}

// baseType returns a declared type without a format of times.
func baseType(typ string) string {
	base, _ := cutFormat(typ)
	return base
}

// WithFormat returns the type of a column as it is declared, if that is t with a format of
// times, and otherwise t.
func WithFormat(t, declared string) string {
	if base, format := cutFormat(declared); format != "" && base == t {
		return declared
	}
	return t
}

// timeFormats returns the formats of the columns that have one, and the types of all without
// formats. The types are valid.
func timeFormats(types map[string]string) (formats map[string]times.Format, without map[string]string) {
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

// checkDeclared returns an error if a declared column is not in the header. Files after
// the first may lack columns, but not all of them, and records that are only forwarded the
// fields that are no columns.
func (c *csvRows) checkDeclared() error {
	cfg := c.d.config
	if c.d.continues && !cfg.Sparse {
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
	for _, a := range c.d.schema.Aliases {
		if slices.Contains(c.header, a.Field) {
			return nil
		}
	}
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
