package decode

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/ngram"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
	"github.com/cespare/xxhash/v2"
)

// keySuffix is appended to the name of a column of type time:since, to name a second column
// with the key of the record.
const keySuffix = ":key"

// gramKinds follow a colon in the names of the columns with the keys of n-grams: pairs, sequences of
// three, and words, in the order of ngram.Keys. Each kind has learner.TextKeys columns.
var gramKinds = [...]string{"p", "t", "w"}

// parts returns the names of the columns of a row into which a field of some type is split, or
// nil if the field is a single column of the same name.
func (c *Config) parts(name, typ string) []string {
	switch typ {
	case learner.TextColumn.String():
		all := make([]string, 0, c.textColumns())
		for i := range schema.TextBuckets {
			all = append(all, fmt.Sprintf("%s:%02d", name, i))
		}
		for i := range c.textColumns() - schema.TextBuckets {
			all = append(all, fmt.Sprintf("%s:%s%02d", name, gramKinds[i/learner.TextKeys], i%learner.TextKeys))
		}
		return all
	case learner.SinceColumn.String():
		return []string{name, name + keySuffix}
	}
	return nil
}

// expand replaces the names of columns by those of their parts, and adds the columns of pairs
// and windows.
func (c *Config) expand(columns []string) []string {
	if len(c.Types) == 0 && len(c.Windows) == 0 || len(columns) == 0 {
		return columns
	}
	var all []string
	for _, name := range columns {
		if p := c.parts(name, c.Types[name]); p != nil {
			all = append(all, p...)
		} else {
			all = append(all, name)
		}
	}
	all = append(append(all, c.pairsOf()...), c.windowColumns()...)
	schema.Order(all)
	return all
}

// withTexts declares the texts of a schema, which may have been inferred, and their columns as they are
// there.
func (c *Config) withTexts(s *Schema) {
	if texts := textsOf(s); texts != nil {
		c.declareTexts(texts)
		c.Grams = slices.Contains(s.Types, learner.GramColumn.String())
	}
}

// textsOf returns the names of the texts of a schema.
func textsOf(s *Schema) (names []string) {
	for i, column := range s.Columns {
		if name, first := strings.CutSuffix(column, ":00"); first && s.TypeOf(i) == learner.TextColumn.String() {
			names = append(names, name)
		}
	}
	return names
}

// declareTexts adds the type text to those of c for fields that have none.
func (c *Config) declareTexts(names []string) {
	types := maps.Clone(c.Types)
	if types == nil {
		types = map[string]string{}
	}
	for _, name := range names {
		if types[name] == "" {
			types[name] = learner.TextColumn.String()
		}
	}
	c.Types = types
}

// mostInferred bounds the texts of a file without a declaration: each takes the memory of 256 numbers in
// each row that is kept.
const mostInferred = 16

// inferTexts makes texts of fields of a file, unless the columns are known already. A field keeps its type
// if a pair, a window or the event time needs it as a whole, or if the name of another field would be among
// those of its columns, and so do fields beyond mostInferred. All fields keep their types if there would be
// more columns than the limit.
func (d *Decoder) inferTexts(names, fields []string) {
	names = slices.DeleteFunc(names, func(name string) bool {
		longer := func(other string) bool { return strings.HasPrefix(other, name+":") }
		return d.config.isPaired(name) || d.config.isWindowField(name, false) || slices.ContainsFunc(fields, longer)
	})
	names = names[:min(len(names), mostInferred)]
	if len(names) == 0 || d.continues || len(d.config.expand(fields))+len(names)*d.config.textColumns() > d.config.MaxColumns {
		return
	}
	d.config.declareTexts(names)
	if columns := d.config.expand(d.config.Columns); len(columns) > 0 {
		types := d.firstTypes(columns)
		d.schema = &Schema{Columns: columns, Task: d.schema.Task, Classes: d.schema.Classes, Types: schema.TypeNames(types)}
		d.setTypes(types)
		d.column = map[string]int{}
		d.setColumns(columns)
	}
}

// checkTexts returns an error if the columns of a text do not follow one another because the name of
// another field sorts between theirs.
func (c *Config) checkTexts(columns []string) *Error {
	for name, typ := range c.Types {
		if typ != learner.TextColumn.String() {
			continue
		}
		p := c.parts(name, typ)
		first := slices.Index(columns, p[0])
		for i, part := range p {
			if first >= 0 && (first+i == len(columns) || columns[first+i] != part) {
				return bad("columns", "the name of a field is between those of the columns of the text %s, %s to %s: rename the field", excerpt.Quote(name), p[0], p[len(p)-1])
			}
		}
	}
	return nil
}

// setParts notes which columns are parts of fields, pairs or windows.
func (d *Decoder) setParts(columns []string) {
	d.texts, d.since = nil, -1
	d.setPairs()
	d.setWindows(columns)
	for name, typ := range d.config.Types {
		p := d.config.parts(name, typ)
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

// partType returns the type of a column that is a part of a field, a pair, or added by a window.
func (d *Decoder) partType(name string) (learner.ColumnType, bool) {
	if d.config.Types[name] == schema.Pair {
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
	case t == learner.TextColumn.String():
		return d.config.textPart(name[i+1:])
	case t == learner.SinceColumn.String() && name[i:] == keySuffix:
		return learner.RecordKeyColumn, true
	}
	return 0, false
}

// textPart returns the type of the column of a text that has this name after the colon.
func (c *Config) textPart(name string) (t learner.ColumnType, ok bool) {
	t, most := learner.TextColumn, schema.TextBuckets
	if c.Grams && name != "" && slices.Contains(gramKinds[:], name[:1]) {
		t, most, name = learner.GramColumn, learner.TextKeys, name[1:]
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || n >= most || name != fmt.Sprintf("%02d", n) {
		return 0, false
	}
	return t, true
}

// isPart reports whether columns of a type are parts, instead of fields of a record.
func isPart(t learner.ColumnType) bool {
	return t == learner.TextColumn || t == learner.GramColumn || t == learner.RecordKeyColumn || t == learner.PairColumn || t == learner.WindowColumn
}

// putText sets the columns of a text to the shares of its n-grams, and to their keys.
func (d *Decoder) putText(name []byte, first int, v value) *Error {
	x := d.x[first : first+d.config.textColumns()]
	switch {
	case v.kind == text:
		ngram.Hash(x[:schema.TextBuckets], v.text)
		if d.config.Grams {
			d.putGrams(x[schema.TextBuckets:], v.text)
		}
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

// putGrams sets x to the keys of the n-grams of a text.
func (d *Decoder) putGrams(x []float64, text []byte) {
	d.grams.Set(text, learner.TextKeys)
	clear(x)
	for kind, keys := range [...][]uint64{d.grams.Pairs, d.grams.Threes, d.grams.Words} {
		for i, hash := range keys {
			x[kind*learner.TextKeys+i] = learner.Gram(hash)
		}
	}
}

// textColumns returns the number of columns of a text.
func (c *Config) textColumns() int {
	if c.Grams {
		return schema.TextBuckets + len(gramKinds)*learner.TextKeys
	}
	return schema.TextBuckets
}

// SetKey updates a Row that Decode returned without a key, after its Key was set.
func (d *Decoder) SetKey(r *Row) {
	if r.X != nil {
		d.putKey(r.X, r.Key)
	}
}

// putKey sets the columns with the key of the record, if there are any.
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

// A pair holds the index of a column of type Pair, and the indices of its two columns.
type pair struct{ at, a, b int }

// splitPair returns the names of the two columns of the pair A*B.
func splitPair(name string) (a, b string, ok bool) {
	a, b, ok = strings.Cut(name, "*")
	return a, b, ok && a != "" && b != "" && a != b && !strings.Contains(b, "*")
}

// pairsOf returns the names of the declared pairs, sorted.
func (c *Config) pairsOf() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Types)) {
		if c.Types[name] == schema.Pair {
			names = append(names, name)
		}
	}
	return names
}

// isPaired reports whether a field is one of the two columns of a pair.
func (c *Config) isPaired(name string) bool {
	for pair, t := range c.Types {
		if a, b, _ := splitPair(pair); t == schema.Pair && (a == name || b == name) {
			return true
		}
	}
	return false
}

// checkPair checks the declaration of a pair.
func (c *Config) checkPair(name string) error {
	a, b, ok := splitPair(name)
	if !ok {
		return fmt.Errorf("input.columns: %s is declared as %s: want the names of two columns, such as origin*carrier", excerpt.Quote(name), schema.Pair)
	}
	for _, part := range []string{a, b} {
		switch t := c.Types[part]; {
		case schema.IsExcluded(t) || t == learner.TextColumn.String():
			return fmt.Errorf("input.columns: the pair %s contains %s, which is declared as %s", excerpt.Quote(name), excerpt.Quote(part), t)
		case part == c.Label || part == c.Key || part == c.Weight || slices.Contains(c.Labels, part):
			return fmt.Errorf("input.columns: the pair %s contains %s, which is the label, the key or the weight, and no column", excerpt.Quote(name), excerpt.Quote(part))
		case c.Columns != nil && !slices.Contains(c.Columns, part):
			return fmt.Errorf("input.columns: the pair %s contains %s, which is no column", excerpt.Quote(name), excerpt.Quote(part))
		}
	}
	return nil
}

// lacks returns an error if the columns, which the first record determines, lack a field that
// pairs, windows or Config.Time need.
func (d *Decoder) lacks(columns []string) *Error {
	for _, name := range d.config.pairsOf() {
		a, b, _ := splitPair(name)
		for _, part := range []string{a, b} {
			if !slices.Contains(columns, part) {
				return bad("columns", "the pair %s contains %s, which the first record does not have", excerpt.Quote(name), excerpt.Quote(part))
			}
		}
	}
	for _, name := range d.config.windowFields() {
		if !slices.Contains(columns, name) && !d.config.isSource(name) {
			what := "a window is of"
			if name == d.config.Time {
				what = "input.time is"
			}
			return bad("columns", "%s %s, which the first record does not have", what, excerpt.Quote(name))
		}
	}
	return nil
}

// setPairs notes the pairs among the columns.
func (d *Decoder) setPairs() {
	d.pairs = nil
	for _, name := range d.config.pairsOf() {
		a, b, _ := splitPair(name)
		at, found := d.column[name]
		i, hasA := d.column[a]
		j, hasB := d.column[b]
		if found && hasA && hasB {
			d.pairs = append(d.pairs, pair{at, i, j})
		}
	}
}

// putPairs sets the columns of the pairs from their two columns. The value of a pair is missing
// if both values are.
func (d *Decoder) putPairs(x []float64) {
	for _, p := range d.pairs {
		x[p.at] = together(x[p.a], x[p.b])
	}
}

func together(a, b float64) float64 {
	if a != a && b != b {
		return math.NaN()
	}
	var key [16]byte
	for i, v := range [...]float64{a, b} {
		if v != v {
			v = math.NaN() // in its canonical representation
		}
		binary.LittleEndian.PutUint64(key[8*i:], math.Float64bits(v+0)) // -0 is 0
	}
	return learner.Category(xxhash.Sum64(key[:]))
}
