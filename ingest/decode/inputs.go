package decode

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

func (d *Decoder) columnName(columns []string, i int) string {
	if columns == nil {
		columns = d.schema.Columns
	}
	return excerpt.Quote(columns[i])
}

// written returns the value v of input i, for an error. If the number is too large for a float64,
// it is the value as spelled in the record.
func (d *Decoder) written(columns []string, i int, v float64) value {
	if columns == nil {
		columns = d.schema.Columns
	}
	for _, f := range d.list {
		if math.IsInf(v, 0) && string(f.name) == columns[i] {
			return f.value
		}
	}
	return value{kind: num, num: v}
}

// settle replaces the schema if the current record adds columns, types, the task or a class.
func (d *Decoder) settle(columns []string, task learner.Task, class string) {
	if columns == nil && len(d.fresh) == 0 && class == "" && (task == learner.Auto || task == d.task) {
		return
	}
	s := *d.schema
	if columns != nil {
		s.Columns = columns
		d.setColumns(columns)
		d.setTypes(d.firstTypes(columns))
	}
	if len(d.fresh) > 0 {
		types := slices.Clone(d.types)
		for _, f := range d.fresh {
			types[f.column] = f.is
		}
		d.setTypes(types)
		d.fresh = d.fresh[:0]
	}
	s.Types = schema.TypeNames(d.types)
	if d.task == learner.Auto {
		d.task = task
		s.Task = task.String()
	}
	if class != "" {
		d.class[class] = len(s.Classes)
		s.Classes = append(slices.Clip(s.Classes), class)
	}
	d.schema = &s
}

func (d *Decoder) setColumns(columns []string) {
	for i, name := range columns {
		d.column[name] = i
	}
	d.dense = schema.Indexed(columns)
	d.setInner(columns)
	d.setParts(columns)
	d.seen = make([]uint32, len(columns))
	d.now = 0
}

// nextRow marks all columns as not seen.
func (d *Decoder) nextRow() {
	if d.now++; d.now == 0 { // it has wrapped
		clear(d.seen)
		d.now = 1
	}
}

// byIndex checks inputs by index, which are in d.x. It returns the columns if this record
// determines them.
func (d *Decoder) byIndex() (columns []string, err *Error) {
	switch want := len(d.schema.Columns); {
	case len(d.x) == 0:
		return nil, bad("columns", "x is empty")
	case want == 0 && d.config.Windows != nil:
		return nil, bad("columns", "x is a list, but windows are declared, which need names")
	case want == 0 && d.config.pairsOf() != nil:
		return nil, bad("columns", "x is a list, but pairs of columns are declared, which need names")
	case want == 0:
		columns = make([]string, len(d.x))
		for i := range columns {
			columns[i] = strconv.Itoa(i)
		}
		return columns, d.typeIndices(columns)
	case !d.dense:
		return nil, bad("columns", "x is a list, but the columns have names, such as %s", excerpt.Quote(d.schema.Columns[0]))
	case len(d.x) != want:
		return nil, bad("columns", "x has %d values, want %d", len(d.x), want)
	}
	if d.types != nil {
		return nil, d.typeIndices(d.schema.Columns)
	}
	return nil, nil
}

// typeIndices settles the types of columns from d.x, whose values are numbers or
// missing.
func (d *Decoder) typeIndices(columns []string) *Error {
	if !d.typed() {
		return nil
	}
	for i, v := range d.x {
		if is := d.config.Types[columns[i]]; schema.IsExcluded(is) {
			return bad("columns", "%s is declared as %s, but in a list x every value is an input", excerpt.Quote(columns[i]), is)
		}
		t := d.firstType(columns[i])
		if len(d.schema.Columns) > 0 {
			t = d.typeOf(i)
		}
		if v == v {
			if err := d.put(i, []byte(columns[i]), t, value{kind: num, num: v}); err != nil {
				return err
			}
		}
	}
	return nil
}

// put sets d.x[i] to the raw value of v, in a column of type t.
func (d *Decoder) put(i int, name []byte, t learner.ColumnType, v value) *Error {
	x, is, err := d.raw(name, t, v)
	if err != nil {
		if d.putOther(i, name, t, v) {
			return nil
		}
		return err
	}
	if is != t {
		d.fresh = append(d.fresh, settling{i, is})
	}
	d.x[i] = x
	return nil
}

// addDeclared adds to d.list, as null, the columns that are declared with a type and missing in
// the first record.
func (d *Decoder) addDeclared() {
	for _, name := range slices.Sorted(maps.Keys(d.config.Types)) {
		has := func(f field) bool { return string(f.name) == name }
		if schema.IsColumn(d.config.Types[name]) && !d.config.isSource(name) && !slices.ContainsFunc(d.list, has) {
			d.list = append(d.list, field{name: []byte(name), value: value{kind: null}})
		}
	}
}

// declaredIn reports whether a field that is null is an object or a list with declared columns, and not
// a column itself.
func (c *Config) declaredIn(name string) bool {
	if c.Types[name] != "" {
		return false
	}
	for declared, typ := range c.Types {
		if strings.HasPrefix(declared, name+".") && schema.IsColumn(typ) {
			return true
		}
	}
	return false
}

// twice returns the error of a field that a record has twice.
func (d *Decoder) twice(name []byte) *Error {
	if d.vw != nil {
		return bad("vw", "the feature %s comes twice: write it once with a value, or set input.sparse (fit --sparse), which adds such values", excerpt.Quote(name))
	}
	return bad("json", "duplicate field %s", excerpt.Quote(name))
}

// firstByName derives the columns from d.list, which is that of the first record, and sets d.x.
func (d *Decoder) firstByName() (columns []string, err *Error) {
	d.addDeclared()
	slices.SortFunc(d.list, func(a, b field) int { return cmp.Compare(string(a.name), string(b.name)) })
	for i, f := range d.list {
		if i > 0 && string(f.name) == string(d.list[i-1].name) {
			return nil, d.twice(f.name)
		}
		if d.outer[string(f.name)] {
			return nil, d.twice(f.name)
		}
		_, part := d.partType(string(f.name))
		switch {
		case d.ignores(f.name), d.config.isSource(string(f.name)), f.kind == null && d.config.declaredIn(string(f.name)):
		case part && d.config.Unknown == "ignore":
		case part:
			return nil, bad("columns", "unknown field %s", excerpt.Quote(f.name))
		case f.kind == num, f.kind == instant, f.kind == null && d.config.Missing != "quarantine", f.kind < object && d.typed() && d.firstType(string(f.name)) != learner.NumericColumn:
			columns = append(columns, string(f.name))
		case d.config.Unknown == "ignore" && f.kind > num: // text, objects and lists cannot become columns
		default:
			return nil, d.notInput(f)
		}
	}
	if len(columns) == 0 {
		return nil, bad("columns", "no inputs")
	}
	schema.Order(columns)
	if err := d.lacks(columns); err != nil {
		return nil, err
	}
	if columns = d.config.expand(columns); len(columns) > d.config.MaxColumns {
		return nil, bad("limits", "%d columns, the limit is %d", len(columns), d.config.MaxColumns)
	}
	place := make(map[string]int, len(columns))
	for i, name := range columns {
		if _, twice := place[name]; twice {
			return nil, bad("columns", "field %s has the name of a part of another", excerpt.Quote(name))
		}
		place[name] = i
	}
	if err := d.config.checkTexts(columns); err != nil {
		return nil, err
	}
	d.x = append(d.x[:0], make([]float64, len(columns))...)
	if i, ok := place[d.config.Time]; ok {
		d.x[i] = math.NaN() // the record may lack it
	}
	for _, f := range d.list {
		if i, ok := place[string(f.name)+":00"]; ok && d.config.Types[string(f.name)] == learner.TextColumn.String() {
			if err := d.putText(f.name, i, f.value); err != nil {
				return nil, err
			}
		} else if i, ok := place[string(f.name)]; ok {
			if err := d.put(i, f.name, d.firstType(string(f.name)), f.value); err != nil {
				return nil, err
			}
		}
	}
	return columns, nil
}

func (d *Decoder) notInput(f field) *Error {
	if d.config.Depth > 0 && f.kind >= object && d.config.Types[string(f.name)] == "" {
		return bad("columns", "%s is %v, nested deeper than %d levels", excerpt.Quote(f.name), f.value, d.config.Depth)
	}
	return wrongType(f.name, f.value, d.firstType(string(f.name)))
}

// byName stores the values of d.list in d.x, in the order of the schema's columns.
func (d *Decoder) byName() *Error {
	columns := d.schema.Columns
	d.nextRow()
	if cap(d.x) < len(columns) {
		d.x = make([]float64, len(columns))
	}
	d.x = d.x[:len(columns)]
	given := 0
	for k, f := range d.list {
		// Usually, all records have their fields in the same order.
		if k == len(d.guess) {
			d.guess = append(d.guess, 0)
		}
		i := d.guess[k]
		if i >= len(columns) || columns[i] != string(f.name) || d.noField(i) {
			var ok bool
			if i, ok = d.texts[string(f.name)]; ok {
				if d.seen[i] == d.now {
					return d.twice(f.name)
				}
				for j := range d.config.textColumns() {
					d.seen[i+j] = d.now
				}
				given += d.config.textColumns()
				if err := d.putText(f.name, i, f.value); err != nil {
					return err
				}
				continue
			}
			if i, ok = d.column[string(f.name)]; !ok || d.noField(i) {
				if d.ignores(f.name) || d.noObject(f) || d.isAlias(f.name) {
					continue
				}
				if d.config.Unknown == "ignore" {
					if d.config.Adopt {
						d.arrive(f.name, f.value)
					}
					d.drop(1, f.name)
					continue
				}
				if d.inner[string(f.name)] {
					return bad("columns", "%s is %v, want an object or a list", excerpt.Quote(f.name), f.value)
				}
				return bad("columns", "unknown field %s", excerpt.Quote(f.name))
			}
			d.guess[k] = i
		}
		if d.seen[i] == d.now {
			return d.twice(f.name)
		}
		d.seen[i] = d.now
		given++
		if f.kind == num && d.types == nil {
			d.x[i] = f.num
			continue
		}
		if err := d.put(i, f.name, d.typeOf(i), f.value); err != nil {
			return err
		}
	}
	if given == len(columns) {
		return nil
	}
	return d.putMissing()
}

// putMissing sets the columns that the record does not have.
func (d *Decoder) putMissing() *Error {
	for i, name := range d.schema.Columns {
		if d.seen[i] == d.now || i == d.since || d.types != nil && d.types[i] == learner.PairColumn || d.windows.noField != nil && d.windows.noField[i] {
			continue
		}
		t := d.typeOf(i)
		if t == learner.TextColumn || t == learner.GramColumn {
			name, t = name[:strings.LastIndexByte(name, ':')], learner.TextColumn
		}
		if d.sparse && t == learner.NumericColumn {
			d.x[i] = 0
			continue
		}
		if err := d.put(i, []byte(name), t, value{}); err != nil {
			return err
		}
	}
	return nil
}
