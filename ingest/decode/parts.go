package decode

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode/ngram"
	"github.com/accrete-ml/accrete/learner"
	"github.com/cespare/xxhash/v2"
)

// textBuckets is the number of columns that a text becomes, a compromise: docs/columns.md
// has the errors with more and with fewer.
const textBuckets = 64

// keySuffix is appended to the name of a column of type time:since for the column with
// the key of the record.
const keySuffix = ":key"

// parts returns the names of the columns of a row that a column of a type has; nil for one
// of the same name.
func parts(name, typ string) []string {
	switch typ {
	case learner.TextColumn.String():
		all := make([]string, textBuckets)
		for i := range all {
			all[i] = fmt.Sprintf("%s:%02d", name, i)
		}
		return all
	case learner.SinceColumn.String():
		return []string{name, name + keySuffix}
	}
	return nil
}

// expand replaces the names of columns by those of their parts, and adds the pairs.
func (c *Config) expand(columns []string) []string {
	if len(c.Types) == 0 && len(c.Windows) == 0 || len(columns) == 0 {
		return columns
	}
	var all []string
	for _, name := range columns {
		if p := parts(name, c.Types[name]); p != nil {
			all = append(all, p...)
		} else {
			all = append(all, name)
		}
	}
	all = append(append(all, c.pairsOf()...), c.windowColumns()...)
	order(all)
	return all
}

// A Field is an input field and the columns of a row that it has.
type Field struct {
	Name    string
	Type    string // empty if it had no value
	At      int    // index of the first column
	Columns int    // their number, one after the other
	Pair    bool   // it is a pair of other fields, or a window, and in no record
}

// Fields returns the input fields of a schema.
func (s *Schema) Fields() (all []Field) {
	for i := 0; i < len(s.Columns); {
		f := Field{Name: s.Columns[i], Type: learner.NumericColumn.String(), At: i, Columns: 1}
		if s.Types != nil {
			f.Type = s.Types[i]
		}
		if f.Type == learner.TextColumn.String() {
			f.Name, f.Columns = strings.TrimSuffix(f.Name, ":00"), textBuckets
		}
		f.Pair = f.Type == Pair || f.Type == learner.WindowColumn.String()
		if i += f.Columns; f.Type != learner.RecordKeyColumn.String() && !(f.Type == learner.SourceColumn.String() && (f.Name == recordKey || f.Name == recordTime)) {
			all = append(all, f)
		}
	}
	return all
}

// setParts notes the parts of columns, and what they are.
func (d *Decoder) setParts(columns []string) {
	d.texts, d.since = nil, -1
	d.setPairs()
	d.setWindows(columns)
	for name, typ := range d.config.Types {
		p := parts(name, typ)
		if p == nil {
			continue
		}
		first, ok := d.column[p[0]]
		if !ok {
			continue
		}
		if typ == learner.TextColumn.String() {
			if d.texts == nil {
				d.texts = map[string]int{}
			}
			d.texts[name] = first
			continue
		}
		if i, ok := d.column[p[1]]; ok {
			d.since = i
		}
	}
}

// partType returns the type of a column that is a part of another.
func (d *Decoder) partType(name string) (learner.ColumnType, bool) {
	if d.config.Types[name] == Pair {
		return learner.PairColumn, true
	}
	if t, ok := d.windowType(name); ok {
		return t, true
	}
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return 0, false
	}
	switch t := d.config.Types[name[:i]]; {
	case t == learner.TextColumn.String() && slices.Contains(parts(name[:i], t), name):
		return learner.TextColumn, true
	case t == learner.SinceColumn.String() && name[i:] == keySuffix:
		return learner.RecordKeyColumn, true
	}
	return 0, false
}

// isPart reports whether columns of a type are parts of others, and no fields.
func isPart(t learner.ColumnType) bool {
	return t == learner.TextColumn || t == learner.RecordKeyColumn || t == learner.PairColumn || t == learner.WindowColumn
}

// putText sets the columns of a text to the shares of its n-grams.
func (d *Decoder) putText(name []byte, first int, v value) *Error {
	x := d.x[first : first+textBuckets]
	switch {
	case v.kind == text:
		ngram.Hash(x, v.text)
		return nil
	case v.kind == null || v.kind == absent:
		missing, _, err := d.missing(name, learner.TextColumn, v)
		for i := range x {
			x[i] = missing
		}
		return err
	}
	return wrongType(name, v, learner.TextColumn)
}

// SetKey has a Row that Decode returned know its Key, which it did not have.
func (d *Decoder) SetKey(r *Row) {
	if r.X != nil {
		d.putKey(r.X, r.Key)
	}
}

// putKey sets the column of the key of a record, if there is one.
func (d *Decoder) putKey(x []float64, key []byte) {
	if d.since >= 0 {
		x[d.since] = categoryOfKey(key)
	}
	if d.windows.key >= 0 {
		x[d.windows.key] = categoryOfKey(key)
	}
}

// categoryOfKey returns the raw value of the key of a record.
func categoryOfKey(key []byte) float64 {
	if key == nil {
		return math.NaN()
	}
	return learner.Category(xxhash.Sum64(key))
}
