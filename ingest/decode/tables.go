package decode

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/table"
)

// Table is a compacted topic whose rows add columns to records.
type Table = table.Config

// ParseTable reads the format of Table.String.
func ParseTable(s string) (Table, error) { return table.Parse(s) }

// checkTables fills in the defaults of the tables of c and adds their columns to the inputs. The
// fields with the keys of rows are not inputs unless they are declared as such.
func (c *Config) checkTables() error {
	if len(c.Tables) == 0 {
		c.Tables = nil
		return nil
	}
	switch {
	case !slices.Contains(adoptable, c.Format):
		return fmt.Errorf("input.tables: want records with fields by name, which input.format %s does not have", c.Format)
	case c.Sparse:
		return fmt.Errorf("input.tables: cannot be combined with input.sparse")
	}
	c.Tables = slices.Clone(c.Tables)
	types := map[string]string{}
	maps.Copy(types, c.Types)
	var columns []string
	for i := range c.Tables {
		t, err := c.Tables[i].Effective()
		if err != nil {
			return fmt.Errorf("input.tables: %s: %w", c.Tables[i], err)
		}
		c.Tables[i] = t
		if slices.ContainsFunc(c.Tables[:i], func(o Table) bool { return o.Name() == t.Name() }) {
			return fmt.Errorf("input.tables: two tables are named %s: give one of them another name with as", excerpt.Quote(t.Name()))
		}
		if t.Key == c.Label || t.Key == c.Weight || slices.Contains(c.Labels, t.Key) {
			return fmt.Errorf("input.tables: %s: the key %s is the label or the weight", t, excerpt.Quote(t.Key))
		}
		if t.Key != c.Key && types[t.Key] == "" && !slices.Contains(c.Columns, t.Key) && !slices.Contains(columns, t.Key) {
			types[t.Key] = schema.ID
		}
		for _, name := range t.Columns() {
			if slices.Contains(columns, name) {
				return fmt.Errorf("input.tables: two tables have the column %s: give one of them another name with as", excerpt.Quote(name))
			}
		}
		columns = append(columns, t.Columns()...)
	}
	for _, name := range columns {
		switch typ := types[name]; {
		case schema.IsExcluded(typ) || name == c.Label || name == c.Weight || name == c.Key || slices.Contains(c.Labels, name):
			return fmt.Errorf("input.tables: the column %s of a table is also the label, the weight, the key, or no input", excerpt.Quote(name))
		case c.Columns != nil && !slices.Contains(c.Columns, name):
			c.Columns = append(slices.Clip(c.Columns), name)
		}
	}
	c.Types = types
	return nil
}

// hasTables returns an error if columns lacks one of the columns of the tables.
func (c *Config) hasTables(columns []string) error {
	for i := range c.Tables {
		for _, name := range c.Tables[i].Columns() {
			if !slices.Contains(columns, name) && !slices.Contains(columns, name+":00") {
				return fmt.Errorf("input.tables: the model has no column %s", excerpt.Quote(name))
			}
		}
	}
	return nil
}

// SetTables makes d enrich records with the rows of t, which d does not copy. Without SetTables,
// the columns of tables are read from fields of the records.
func (d *Decoder) SetTables(t *table.Tables) {
	d.tables = nil
	for i := range d.config.Tables {
		c := &d.config.Tables[i]
		e := enrichment{of: t.All[i], key: c.Key}
		for _, name := range c.Columns() {
			e.columns = append(e.columns, []byte(name))
		}
		d.tables = append(d.tables, e)
	}
}

// enrichment adds the fields of a table's rows to records.
type enrichment struct {
	of      *table.Table
	key     string
	columns [][]byte // names
	without int64    // records without a row
}

// enrich adds the fields of the rows that belong to a record. Fields that the record has itself
// take precedence.
func (d *Decoder) enrich(r *record) *Error {
	if r.form == array {
		return bad("columns", "x is a list, but input.tables are declared, which need names")
	}
	given := len(d.list)
	for i := range d.tables {
		e := &d.tables[i]
		row := e.of.Row(d.keyOf(e.key, r))
		if row == "" {
			e.without++
		}
		s := scanner{b: unsafe.Slice(unsafe.StringData(row), len(row))} // only read, never modified
		k := 0
		if row != "" {
			err := s.elements(func() *Error {
				v, err := s.value()
				if err == nil && k < len(e.columns) {
					d.addField(given, field{e.columns[k], v})
					k++
				}
				return err
			})
			if err != nil { // the row was not made by TableRow
				return err.of([]byte(e.of.Config().Name()))
			}
		}
		for ; k < len(e.columns); k++ {
			d.addField(given, field{e.columns[k], value{kind: null}})
		}
	}
	return nil
}

// addField adds a field of a row, unless it is among the first given fields of d.list, which the
// record has itself.
func (d *Decoder) addField(given int, f field) {
	for i := range given {
		if len(d.list[i].name) == len(f.name) && string(d.list[i].name) == string(f.name) {
			return
		}
	}
	d.list = append(d.list, f)
}

// keyOf returns the key of a row from a field of a record, or nil if the record has none.
func (d *Decoder) keyOf(name string, r *record) []byte {
	v := r.key
	if name != d.config.Key {
		v = value{}
		for i := range d.list {
			if string(d.list[i].name) == name {
				v = d.list[i].value
				break
			}
		}
	}
	switch v.kind {
	case text:
		return v.text
	case num:
		return []byte(decimal.Canonical(v.text, v.num))
	}
	return nil
}

// WithoutRow returns, for each table, the number of records without a row since the last call. It
// includes invalid records.
func (d *Decoder) WithoutRow() (n []int64) {
	for i := range d.tables {
		n = append(n, d.tables[i].without)
		d.tables[i].without = 0
	}
	return n
}

// Bounds of a row of a table.
const (
	maxTableKey  = 256     // bytes
	maxTableText = 1 << 10 // bytes of a value

	// maxTableRow is the maximum size in bytes of all values of a row, escaped as in the model
	// log. Records of the model log have at most 1 MiB, and a BATCH may have up to 32 KiB of rows
	// before the last one.
	maxTableRow = 64 << 10
)

// TableRow decodes a record of a table's topic, which is a JSON object. A record without a value
// deletes the row of its key. The error is an *Error.
func TableRow(c *table.Config, key, b []byte, maxBytes int) (row table.Row, err error) {
	row, bad := tableRow(c, key, b, maxBytes)
	if bad != nil {
		return row, bad
	}
	return row, nil
}

func tableRow(c *table.Config, key, b []byte, maxBytes int) (row table.Row, err *Error) {
	switch {
	case len(key) == 0:
		return row, bad("key", "the record has no key")
	case len(key) > maxTableKey || !utf8.Valid(key):
		return row, bad("key", "it has %d bytes or is not valid UTF-8: want at most %d", len(key), maxTableKey)
	case b == nil:
		return table.Row{Key: string(key)}, nil
	case len(b) == 0 || len(b) > maxBytes || !utf8.Valid(b):
		return row, bad("json", "%d bytes that are empty, more than %d or not valid UTF-8", len(b), maxBytes)
	}
	s := scanner{b: b}
	x := extraction{scanner: &s, fields: c.Fields, found: make([][]byte, len(c.Fields))}
	if err := x.object("", maxDepth); err != nil {
		return row, err
	}
	if s.peek() != 0 || s.i < len(s.b) {
		return row, bad("json", "%d bytes after the end", len(s.b)-s.i)
	}
	var values strings.Builder
	for i, raw := range x.found {
		text, err := scalarText(raw)
		if err != nil {
			return row, err.of([]byte(c.Fields[i]))
		}
		values.WriteByte("[,"[min(i, 1)])
		values.WriteString(text)
	}
	values.WriteByte(']')
	if values.Len() > maxTableRow {
		return row, bad("limits", "the values have %d bytes together, the limit is %d", values.Len(), maxTableRow)
	}
	return table.Row{Key: string(key), Values: values.String()}, nil
}

// scalarText returns the spelling of a scalar in a row and in the model log.
func scalarText(raw []byte) (string, *Error) {
	if raw == nil {
		return "null", nil
	}
	s := scanner{b: raw}
	switch v, err := s.value(); {
	case err != nil:
		return "", err
	case len(v.text) > maxTableText:
		return "", bad("limits", "%d bytes, the limit of a value in a table is %d", len(v.text), maxTableText)
	case v.kind == text:
		quoted, _ := json.Marshal(string(v.text)) // strings cannot fail
		return string(quoted), nil
	case v.kind == num && math.Abs(v.num) > maxAbs:
		return "", bad("limits", "%s is out of range", excerpt.Literal(v.text))
	case v.kind >= object:
		return "", bad("json", "it is %v, want text, a number, a boolean or null", v)
	default:
		return string(v.text), nil
	}
}
