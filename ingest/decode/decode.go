package decode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/hints"
	"github.com/accrete-ml/accrete/ingest/decode/ngram"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/decode/times"
	"github.com/accrete-ml/accrete/ingest/decode/vw"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/learner"
)

// Row is one decoded record. It is valid until the next call of the Decoder or File
// that returned it.
type Row struct {
	X      []float64            // one value for each column of the schema; NaN if it is missing
	Types  []learner.ColumnType // types of the columns at this row; nil if all are numeric; never modified
	Label  learner.Label
	Weight float64 // finite, above 0 and at most a million; 1 if the record has none
	Key    []byte  // nil if the record has none

	Time  float64 // event time in seconds since 1970, see Decoder.SetTime
	Timed bool    // Time is known

	Sparse learner.Sparse // with Config.Sparse: the inputs, of which X is a projection

	Windows *learner.Windows // columns that the learner has to set; nil if there are none; never modified
}

// Clone returns a copy of r that does not share memory with the Decoder.
func (r Row) Clone() Row {
	r.X, r.Key, r.Label.More = slices.Clone(r.X), slices.Clone(r.Key), slices.Clone(r.Label.More)
	r.Sparse = learner.Sparse{Columns: slices.Clone(r.Sparse.Columns), Values: slices.Clone(r.Sparse.Values)}
	return r
}

// AppendTo appends r to b as an example. It does not set the key.
func (r *Row) AppendTo(b *learner.Batch) {
	b.Append(r.X, r.Label, r.Weight)
	b.SetTypes(r.Types)
	b.SetWindows(r.Windows)
	b.SetSparse(r.Sparse)
	if r.Timed {
		b.SetTime(r.Time)
	}
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

	formats map[string]times.Format // by column, for time columns with a declared format

	// Memory for one record, reused for the next.
	scan  scanner
	list  []field
	x     []float64
	many  []value   // labels, if there are several
	more  []float64 // values of the Label, if there are several
	seen  []uint32  // serial number of the record that last gave each column
	now   uint32
	guess []int // column of the i-th field in the previous record
	fresh []settling
	path  []byte          // path of the current value, inside an object or a list
	outer map[string]bool // paths of the objects and lists of the first record
	names []byte          // paths of the inputs, one after the other
	inner map[string]bool // paths of the objects and lists that hold columns
	texts map[string]int  // first column of each text
	grams ngram.Keys      // scratch, of a text
	since int             // column of the record's key, or -1
	pairs []pair

	windows windows
	tables  []enrichment // see SetTables

	hashed learner.Sparse // inputs, with Config.Sparse
	pieces []byte         // scratch, of names and texts together

	projected []float64 // scratch, used alternately with x
	numbered  numbered  // for LIBSVM files with Config.Sparse

	sparse bool       // a number that a record leaves out is 0
	vw     *vw.Reader // reads lines of Vowpal Wabbit
	parts  *indices   // roles in the last list of numbers

	header []byte             // SchemaHeader of the record; nil if it has none
	plans  map[string]planned // plans of schemas, by the bytes that name the schema
	order  []int              // columns of the inputs, in their order in the last record that had all

	looks *hints.Counter // nil without Look

	continues bool // New was called with a schema that has columns

	dropped      int64 // fields since Dropped was called
	droppedField string
	strange      map[string]struct{} // names of ignored fields
	strangers    []string            // names that were added to strange since NewFields was called

	arrivals []arrival // of the current record
	adopted  []string  // columns that were adopted since Adopted was called
	renames  [][2]int  // possible renames since Adopted was called
	aliases  []aliased

	renamed, owned map[string]*renaming // by field, and by column; see Rename
}

// A field is an input with a name.
type field struct {
	name []byte
	value
}

// New returns a Decoder that continues with schema s. The zero Schema is for a
// new model.
func New(c Config, s Schema) (*Decoder, error) {
	f, err := recordFormat(c.Format)
	if err != nil {
		return nil, err
	}
	if c, err = c.Effective(); err != nil {
		return nil, err
	}
	if f.check != nil {
		if err := f.check(c); err != nil {
			return nil, err
		}
	}
	if err := f.checkSchema(c); err != nil {
		return nil, err
	}
	d := &Decoder{format: f, task: c.Task, sparse: f.sparse, since: -1, column: map[string]int{}, class: map[string]int{}}
	d.formats, c.Types = schema.TimeFormats(c.Types)
	d.config = c
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
	c.withTexts(&s)
	d.config = c
	known := len(s.Columns)
	if d.continues = known > 0; c.Sparse {
		if known > 0 && !slices.Equal(s.Columns, projections) {
			return nil, fmt.Errorf("input.sparse: the model has learned %d columns that are not sparse", known)
		}
		d.config.Infer, s.Columns, known = false, slices.Clone(projections), len(projections)
	}
	if known == 0 {
		s.Columns = c.expand(c.Columns)
	} else if c.Columns != nil && !slices.Equal(s.Columns, c.expand(c.Columns)) {
		return nil, fmt.Errorf("input.columns differ from the %d columns of the model", len(s.Columns))
	} else if err := cmp.Or(c.hasWindows(s.Columns), c.hasTables(s.Columns)); err != nil {
		return nil, err
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
	d.schema = &Schema{Columns: slices.Clone(s.Columns), Task: d.task.String(), Classes: slices.Clone(s.Classes), Types: slices.Clone(s.Types), Writers: s.Writers, Arriving: s.Arriving, Aliases: s.Aliases}
	if known == 0 {
		d.schema.Types = schema.TypeNames(d.firstTypes(s.Columns))
	}
	if err := d.useTypes(d.schema); err != nil {
		return nil, err
	}
	for i, name := range d.schema.Classes {
		d.class[name] = i
	}
	if err := c.checkTexts(d.schema.Columns); err != nil {
		return nil, err
	}
	d.setColumns(d.schema.Columns)
	if len(d.column) != len(d.schema.Columns) || len(d.class) != len(d.schema.Classes) {
		return nil, fmt.Errorf("schema: duplicate column or class")
	}
	d.setRenames()
	return d, d.setAliases(s.Aliases)
}

// Schema returns the schema so far. The pointer changes when the schema does; the
// Schema that it points to never changes.
func (d *Decoder) Schema() *Schema { return d.schema }

// Decode decodes the value of a record. Its error is an *Error, in which case the
// schema is unchanged.
func (d *Decoder) Decode(b []byte) (Row, error) { return d.DecodeWith(b, nil) }

// DecodeWith is Decode for a record with a SchemaHeader.
func (d *Decoder) DecodeWith(b, header []byte) (Row, error) {
	d.header = header
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
	return d.checkAs(d.format.name, b, !d.format.binary && !d.config.Framed)
}

func (d *Decoder) checkJSON(b []byte) *Error { return d.checkAs("json", b, true) }

// checkAs checks the size of a value, and the encoding of one that is text.
func (d *Decoder) checkAs(stage string, b []byte, isText bool) *Error {
	switch {
	case len(b) > d.config.MaxBytes:
		return bad("limits", "%d bytes, the limit is %d", len(b), d.config.MaxBytes)
	case b == nil:
		return bad(stage, "the value is null")
	case len(b) == 0:
		return bad(stage, "the value is empty")
	case isText && !utf8.Valid(b):
		return bad(stage, "it is not valid UTF-8")
	}
	return nil
}

// record is a parsed record, before the schema is applied.
type record struct {
	label, weight, key value  // several labels are in Decoder.many instead
	form               kind   // array for x, object for features, absent if every field is a column
	other              int    // number of fields beside x or features that have no meaning
	otherName          []byte // name of one of them
}

// begin clears what d holds of the previous record, which may have been rejected anywhere.
func (d *Decoder) begin() {
	d.list, d.x = d.list[:0], d.x[:0]
	d.names, d.outer = d.names[:0], nil
	d.fresh, d.arrivals = d.fresh[:0], d.arrivals[:0]
	d.noLabels()
}

func (d *Decoder) decode(b []byte) (Row, *Error) {
	d.scan = scanner{b: b, buf: d.scan.buf[:0]}
	d.begin()
	r, err := d.format.parse(d)
	if err != nil {
		return Row{}, err
	}
	if d.tables != nil {
		d.rename() // now, because the keys of tables are given by the names of columns
		if err := d.enrich(&r); err != nil {
			return Row{}, err
		}
	}
	row, err := d.row(r)
	if err != nil && err.Stage == "json" {
		err.Stage = d.format.name
	}
	return row, err
}

func isNamed(name, configured, usual string) bool {
	if configured != "" {
		return name == configured
	}
	return name == usual
}

// row makes a row of a record and, if the record is valid, extends the schema by what
// the record determines.
func (d *Decoder) row(r record) (row Row, err *Error) {
	if r.other > 0 {
		if d.config.Unknown != "ignore" {
			return row, bad("columns", "unknown field %s", excerpt.Quote(r.otherName))
		}
		d.drop(r.other, r.otherName)
	}
	var columns []string // all columns, if this record determines them
	if d.renamed != nil && r.form != settled {
		d.rename()
	}
	if d.config.Sparse {
		err = d.hash(r.form)
	} else if r.form == settled {
		// The inputs are in d.x already.
	} else if r.form == array {
		columns, err = d.byIndex()
	} else if len(d.schema.Columns) == 0 {
		columns, err = d.firstByName()
	} else {
		err = d.byName()
		if err == nil && d.aliases != nil {
			err = d.fillAliases()
		}
	}
	if err != nil {
		return row, err
	}
	most, above := d.config.MaxAbs, d.config.Above
	for i, v := range d.x {
		if d.config.Sparse {
			break // hash has checked the inputs themselves
		}
		if math.Abs(v) > most {
			return row, bad("limits", "%s is %v, out of range ±%v", d.columnName(columns, i), d.written(columns, i, v), most)
		}
		if above != 0 && v <= above {
			return row, bad("limits", "%s is %v, but the kernel requires inputs %s", d.columnName(columns, i), v, kernel.Domain(above))
		}
	}
	if err := d.checkWindowTypes(columns); err != nil {
		return row, err
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
	d.clearWindows(d.x)
	d.putKey(d.x, key)
	d.putPairs(d.x)
	if d.looks != nil {
		d.look(label)
	}
	row = Row{X: d.x, Types: d.types, Label: label, Weight: weight, Key: key, Sparse: d.hashed, Windows: d.windows.layout}
	d.setTime(&row)
	if d.config.Adopt {
		d.countArrivals(r.form == settled)
	}
	return row, nil
}

// Late returns how labels that come later are joined, or nil if labels come with their rows.
func (d *Decoder) Late() *join.Config { return d.config.Late }

// ByTime reports whether records are decoded in the order of their timestamps.
func (d *Decoder) ByTime() bool { return d.config.ByTime }

// KeyField returns the configured field with the key of a record, or "".
func (d *Decoder) KeyField() string { return d.config.Key }

// Schema is what the previous records have determined.
type Schema = schema.Schema

// Writer is a schema of a registry with which records are written.
type Writer = schema.Writer
