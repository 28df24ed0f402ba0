package decode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner"
)

// Row is one decoded record. It is valid until the next call of the Decoder or File
// that returned it.
type Row struct {
	X      []float64            // one value for each column of the schema; NaN if it is missing
	Types  []learner.ColumnType // of the columns, as of this row; nil if all are numeric. It never changes
	Label  learner.Label
	Weight float64 // finite, above 0 and at most a million; 1 if the record has none
	Key    []byte  // nil if the record has none
}

// Decoder reads the values of records, one at a time and in order.
type Decoder struct {
	config Config
	format *format
	schema *Schema
	task   learner.Task
	dense  bool                          // the columns are 0, 1, …
	column map[string]int                // index of each column
	types  []learner.ColumnType          // of each column; nil if all are numeric
	hints  map[string]learner.ColumnType // types from the first rows of a file
	class  map[string]int                // index of each class

	// Room for one record, kept for the next.
	scan  scanner
	list  []field
	x     []float64
	many  []value   // labels, if there are several
	more  []float64 // of the Label
	seen  []uint32  // serial number of the record that last gave each column
	now   uint32
	guess []int // column of the i-th field, in the record before
	fresh []settling
	path  []byte          // of the value at hand, inside an object or a list
	names []byte          // paths of the inputs, one after the other
	inner map[string]bool // paths of the objects and lists that hold columns
	texts map[string]int  // first column of each text
	since int             // column of the record's key, or -1

	continues bool // from a schema with columns

	dropped      int64 // fields since Dropped was called
	droppedField string
}

// A field is an input by name.
type field struct {
	name []byte
	value
}

// New returns a Decoder that continues from schema s; the zero Schema is the
// beginning.
func New(c Config, s Schema) (*Decoder, error) {
	f, err := recordFormat(c.Format)
	if err != nil {
		return nil, err
	}
	if c, err = c.Effective(); err != nil {
		return nil, err
	}
	d := &Decoder{config: c, format: f, task: c.Task, since: -1, column: map[string]int{}, class: map[string]int{}}
	if s.Task != "" {
		task, err := learner.ParseTask(s.Task)
		if err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		if c.Task != learner.Auto && task != learner.Auto && task != c.Task {
			return nil, fmt.Errorf("the task is %v, but the model has learned %v", c.Task, task)
		}
		d.task = max(d.task, task)
	}
	known := len(s.Columns)
	d.continues = known > 0
	if known == 0 {
		s.Columns = c.expand(c.Columns)
	} else if c.Columns != nil && !slices.Equal(s.Columns, c.expand(c.Columns)) {
		return nil, fmt.Errorf("input.columns differ from the %d columns of the model", len(s.Columns))
	}
	if len(s.Classes) > c.MaxClasses {
		return nil, fmt.Errorf("max_classes is %d, but the model has learned %d", c.MaxClasses, len(s.Classes))
	}
	if s.Columns == nil {
		s.Columns = []string{} // [] in JSON, not null
	}
	if s.Classes == nil {
		s.Classes = []string{}
	}
	d.schema = &Schema{Columns: slices.Clone(s.Columns), Task: d.task.String(), Classes: slices.Clone(s.Classes), Types: slices.Clone(s.Types)}
	if known == 0 {
		d.schema.Types = schemaTypes(d.firstTypes(s.Columns))
	}
	if err := d.useTypes(d.schema); err != nil {
		return nil, err
	}
	for i, name := range d.schema.Classes {
		d.class[name] = i
	}
	d.setColumns(d.schema.Columns)
	if len(d.column) != len(d.schema.Columns) || len(d.class) != len(d.schema.Classes) {
		return nil, fmt.Errorf("schema: duplicate column or class")
	}
	return d, nil
}

// Schema returns the schema so far. The pointer changes when the schema does; the
// Schema that it points to never changes.
func (d *Decoder) Schema() *Schema { return d.schema }

// Decode decodes the value of a record. Its error is an *Error, in which case the
// schema is unchanged.
func (d *Decoder) Decode(b []byte) (Row, error) {
	err := d.check(b)
	if err == nil {
		var row Row
		if row, err = d.decode(b); err == nil {
			return row, nil
		}
	}
	return Row{}, err
}

func (d *Decoder) check(b []byte) *Error {
	switch {
	case len(b) > d.config.MaxBytes:
		return bad("limits", "%d bytes, the limit is %d", len(b), d.config.MaxBytes)
	case b == nil:
		return bad("json", "the value is null")
	case len(b) == 0:
		return bad("json", "the value is empty")
	case !utf8.Valid(b):
		return bad("json", "it is not valid UTF-8")
	}
	return nil
}

// record is a parsed record, before the schema is applied.
type record struct {
	label, weight, key value  // where there are several labels, they are in Decoder.many
	form               kind   // array for x, object for features, absent if every field is a column
	other              int    // fields beside x or features that mean nothing to us
	otherName          []byte // one of them
}

func (d *Decoder) decode(b []byte) (Row, *Error) {
	d.scan = scanner{b: b, buf: d.scan.buf[:0]}
	d.list = d.list[:0]
	d.x = d.x[:0]
	d.names = d.names[:0]
	d.noLabels()
	d.fresh = d.fresh[:0]
	r, err := d.format.parse(d)
	if err != nil {
		return Row{}, err
	}
	return d.row(r)
}

func (d *Decoder) isLabel(name string) bool {
	if d.config.Label != "" {
		return name == d.config.Label
	}
	return d.config.Labels == nil && (name == "y" || name == "label")
}

// noLabels makes room for the labels of a record, where there are several.
func (d *Decoder) noLabels() {
	if n := len(d.config.Labels); n > 0 {
		d.many = append(d.many[:0], make([]value, n)...)
	}
}

func isNamed(name, configured, usual string) bool {
	if configured != "" {
		return name == configured
	}
	return name == usual
}

// row makes a row of a record and, if everything in it is good, settles what
// it settles.
func (d *Decoder) row(r record) (row Row, err *Error) {
	if r.other > 0 {
		if d.config.Unknown != "ignore" {
			return row, bad("columns", "unknown field %s", quote(r.otherName))
		}
		d.drop(r.other, r.otherName)
	}
	var columns []string // that this record settles, if any
	if r.form == array {
		columns, err = d.byIndex()
	} else if len(d.schema.Columns) == 0 {
		columns, err = d.firstByName()
	} else {
		err = d.byName()
	}
	if err != nil {
		return row, err
	}
	for i, v := range d.x {
		if math.Abs(v) > d.config.MaxAbs {
			return row, bad("limits", "%s is %v, out of range ±%v", d.columnName(columns, i), v, d.config.MaxAbs)
		}
		if d.config.Above != 0 && v <= d.config.Above {
			return row, bad("limits", "%s is %v, but the kernel requires inputs %s", d.columnName(columns, i), v, features.Domain(d.config.Above))
		}
	}
	weight, err := d.weight(r.weight)
	if err != nil {
		return row, err
	}
	key, err := d.key(r.key)
	if err != nil {
		return row, err
	}
	label, class, err := d.label(r.label)
	if d.config.Labels != nil {
		label, err = d.labels()
	}
	if err != nil {
		return row, err
	}
	d.settle(columns, label.Task, class)
	d.putKey(d.x, key)
	return Row{X: d.x, Types: d.types, Label: label, Weight: weight, Key: key}, nil
}

func (d *Decoder) columnName(columns []string, i int) string {
	if columns == nil {
		columns = d.schema.Columns
	}
	return quote(columns[i])
}

// settle makes a new schema if there is something new.
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
	s.Types = schemaTypes(d.types)
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
	d.dense = indexed(columns)
	d.setInner(columns)
	d.setParts(columns)
	d.seen = make([]uint32, len(columns))
	d.now = 0
}

// byIndex checks d.x.
func (d *Decoder) byIndex() (columns []string, err *Error) {
	switch want := len(d.schema.Columns); {
	case len(d.x) == 0:
		return nil, bad("columns", "x is empty")
	case want == 0:
		columns = make([]string, len(d.x))
		for i := range columns {
			columns[i] = strconv.Itoa(i)
		}
		return columns, d.typeIndices(columns)
	case !d.dense:
		return nil, bad("columns", "x is a list, but the columns have names, such as %s", quote(d.schema.Columns[0]))
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
		if is := d.config.Types[columns[i]]; !IsColumn(is) {
			return bad("columns", "%s is declared as %s, but in a list x every value is an input", quote(columns[i]), is)
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
		return err
	}
	if is != t {
		d.fresh = append(d.fresh, settling{i, is})
	}
	d.x[i] = x
	return nil
}

// firstByName makes columns of d.list, and d.x.
func (d *Decoder) firstByName() (columns []string, err *Error) {
	slices.SortFunc(d.list, func(a, b field) int { return cmp.Compare(string(a.name), string(b.name)) })
	for i, f := range d.list {
		if i > 0 && string(f.name) == string(d.list[i-1].name) {
			return nil, bad("json", "duplicate field %s", quote(f.name))
		}
		_, part := d.partType(string(f.name))
		switch {
		case d.ignores(f.name):
		case part && d.config.Unknown == "ignore":
		case part:
			return nil, bad("columns", "unknown field %s", quote(f.name))
		case f.kind == num, f.kind == null && d.config.Missing != "quarantine", f.kind < object && d.typed() && d.firstType(string(f.name)) != learner.NumericColumn:
			columns = append(columns, string(f.name))
		case d.config.Unknown == "ignore" && f.kind > num: // text, objects and lists cannot become columns
		default:
			return nil, d.notInput(f)
		}
	}
	if len(columns) == 0 {
		return nil, bad("columns", "no inputs")
	}
	order(columns)
	if columns = d.config.expand(columns); len(columns) > d.config.MaxColumns {
		return nil, bad("limits", "%d columns, the limit is %d", len(columns), d.config.MaxColumns)
	}
	place := make(map[string]int, len(columns))
	for i, name := range columns {
		if _, twice := place[name]; twice {
			return nil, bad("columns", "field %s has the name of a part of another", quote(name))
		}
		place[name] = i
	}
	d.x = append(d.x[:0], make([]float64, len(columns))...)
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
		return bad("columns", "%s is %v, nested deeper than %d levels", quote(f.name), f.value, d.config.Depth)
	}
	return wrongType(f.name, f.value, d.firstType(string(f.name)))
}

// String describes a value in an error.
func (v value) String() string {
	switch v.kind {
	case text:
		return "text " + quote(v.text)
	case num:
		if v.text == nil {
			return fmt.Sprint(v.num)
		}
		return literal(v.text)
	case boolean:
		return literal(v.text)
	}
	return v.kind.String()
}

// byName puts d.list into d.x by the columns of the schema.
func (d *Decoder) byName() *Error {
	columns := d.schema.Columns
	if d.now++; d.now == 0 { // it has wrapped
		clear(d.seen)
		d.now = 1
	}
	if cap(d.x) < len(columns) {
		d.x = make([]float64, len(columns))
	}
	d.x = d.x[:len(columns)]
	given := 0
	for k, f := range d.list {
		// Records have their fields in one order, as a rule.
		if k == len(d.guess) {
			d.guess = append(d.guess, 0)
		}
		i := d.guess[k]
		if i >= len(columns) || columns[i] != string(f.name) || d.types != nil && isPart(d.types[i]) {
			var ok bool
			if i, ok = d.texts[string(f.name)]; ok {
				if d.seen[i] == d.now {
					return bad("json", "duplicate field %s", quote(f.name))
				}
				for j := range textBuckets {
					d.seen[i+j] = d.now
				}
				given += textBuckets
				if err := d.putText(f.name, i, f.value); err != nil {
					return err
				}
				continue
			}
			if i, ok = d.column[string(f.name)]; !ok || d.types != nil && isPart(d.types[i]) {
				if d.ignores(f.name) || d.noObject(f) {
					continue
				}
				if d.config.Unknown == "ignore" {
					d.drop(1, f.name)
					continue
				}
				if d.inner[string(f.name)] {
					return bad("columns", "%s is %v, want an object or a list", quote(f.name), f.value)
				}
				return bad("columns", "unknown field %s", quote(f.name))
			}
			d.guess[k] = i
		}
		if d.seen[i] == d.now {
			return bad("json", "duplicate field %s", quote(f.name))
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
	for i, name := range columns {
		if d.seen[i] == d.now || i == d.since {
			continue
		}
		if d.types != nil && d.types[i] == learner.TextColumn {
			name = name[:len(name)-len(":00")]
		}
		if err := d.put(i, []byte(name), d.typeOf(i), value{}); err != nil {
			return err
		}
	}
	return nil
}

func (d *Decoder) weight(v value) (float64, *Error) {
	switch {
	case v.kind == absent:
		return 1, nil
	case v.kind != num:
		return 0, bad("weight", "it is %v, want a number", v)
	case !(v.num > 0 && v.num <= maxWeight):
		return 0, bad("weight", "it is %v: want more than 0, and at most %d", v, int(maxWeight))
	}
	return v.num, nil
}

func (d *Decoder) key(v value) ([]byte, *Error) {
	switch v.kind {
	case absent, null:
		return nil, nil
	case text, num:
		return v.text, nil
	}
	return nil, bad("key", "it is %v, want text or a number", v)
}

// label reads a label. class is its name if it is a new one.
func (d *Decoder) label(v value) (l learner.Label, class string, err *Error) {
	switch v.kind {
	case absent, null:
		return l, "", nil
	case object, array:
		return l, "", bad("label", "it is %v: want text, a boolean, a number, or null for none", v)
	case num:
		if d.task != learner.Classification {
			if !(math.Abs(v.num) <= d.config.MaxAbs) {
				return l, "", bad("limits", "the label is %v, out of range ±%v", v, d.config.MaxAbs)
			}
			return learner.Label{Task: learner.Regression, Value: v.num}, "", nil
		}
		if d.config.Task != learner.Classification {
			return l, "", bad("label", "it is the number %v, but labels have been text so far; if numbers are class names, set learner.task to classification", v)
		}
		if math.IsInf(v.num, 0) {
			return l, "", bad("label", "it is out of range for a float64")
		}
		if !plainDigits(v.text) {
			return d.classify([]byte(canonical(v.text, v.num)))
		}
	default:
		if d.task == learner.Regression {
			return l, "", bad("label", "it is %v, but the task is regression", v)
		}
	}
	return d.classify(v.text)
}

// labels reads the labels where there are several. A record that lacks any of them
// has none.
func (d *Decoder) labels() (l learner.Label, err *Error) {
	d.more = d.more[:0]
	for i, v := range d.many {
		switch name := d.config.Labels[i]; {
		case v.kind == absent || v.kind == null:
		case v.kind != num:
			return l, bad("label", "%s is %v, but each of the %d labels must be a number, or null for none", quote(name), v, len(d.many))
		case !(math.Abs(v.num) <= d.config.MaxAbs):
			return l, bad("limits", "the label %s is %v, out of range ±%v", quote(name), v, d.config.MaxAbs)
		default:
			d.more = append(d.more, v.num)
		}
	}
	if len(d.more) < len(d.many) {
		return l, nil
	}
	return learner.Label{Task: learner.Regression, Value: d.more[0], More: d.more[1:]}, nil
}

// plainDigits says whether a number is its own canonical form, which nearly
// all are that name classes.
func plainDigits(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return len(b) < 16
}

func (d *Decoder) classify(name []byte) (l learner.Label, class string, err *Error) {
	i, ok := d.class[string(name)]
	if !ok {
		switch {
		case len(name) == 0:
			return l, "", bad("label", "it is empty text; use null for no label")
		case len(name) > maxClassName:
			return l, "", bad("label", "class name of %d bytes, the limit is %d", len(name), maxClassName)
		case len(d.schema.Classes) >= d.config.MaxClasses:
			return l, "", bad("label", "%s would be class %d, but max_classes is %d", quote(name), len(d.schema.Classes)+1, d.config.MaxClasses)
		}
		i, class = len(d.schema.Classes), string(name)
	}
	return learner.Label{Task: learner.Classification, Class: i}, class, nil
}
