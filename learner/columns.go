package learner

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// ColumnType is the type of a column of raw rows. The warm-up plans what the model sees
// of it; see docs/columns.md.
type ColumnType = encode.Type

// The types of columns.
const (
	NumericColumn  = encode.Numeric
	CategoryColumn = encode.Category // values are those of Category
	BooleanColumn  = encode.Boolean  // 0 or 1
	TimeColumn     = encode.Time     // seconds since 1970, UTC
	UnknownColumn  = encode.Unknown  // no value so far

	TextColumn      = encode.Text      // one of several columns of a text: the share of its n-grams
	NormalColumn    = encode.Normal    // like NumericColumn, and becomes normal scores
	TrendColumn     = encode.Trend     // like TimeColumn, and the model sees the time itself as well
	SinceColumn     = encode.Since     // like TimeColumn, with the time since the last record of the key
	PairColumn      = encode.Pair      // like CategoryColumn: one category for each pair of values of two other columns
	RecordKeyColumn = encode.RecordKey // follows a SinceColumn: values are those of Category, of the record's key
	WindowColumn    = encode.Window    // like NumericColumn, a result of Windows
	SourceColumn    = encode.Source    // a key or a time that Windows need, which is no input
	GramColumn      = encode.Gram      // follows the TextColumns of a text, in groups of TextKeys: the key of an n-gram, see Gram
)

// EncodedColumns returns the types of numeric columns that have an encoder of their own.
func EncodedColumns() []ColumnType { return encode.Encoded() }

// ParseDecayed reads the name of a type of categories whose statistics decay, such as
// "category:decay=10000" for a half-life of 10,000 rows. is reports whether name is meant
// as one.
func ParseDecayed(name string) (t ColumnType, is bool, err error) { return encode.ParseDecayed(name) }

// Category returns the raw value of a category with a 64-bit hash, of which it keeps 52
// bits: a whole number, which a float64 holds exactly.
func Category(hash uint64) float64 { return encode.Key(hash) }

// TextKeys is the number of GramColumns in a group. Each group of a text has statistics of its own: the
// words, for example.
const TextKeys = encode.TextKeys

// Gram returns the raw value of an n-gram with a 64-bit hash: like Category, but above 0. Columns of a
// group for which a text has no n-grams are 0.
func Gram(hash uint64) float64 { return max(1, Category(hash)) }

// Clocks reports for each column whether a monitor of the inputs has to ignore it because it
// changes all the time: times, and keys of records and of n-grams. It returns nil if there are no such columns.
func Clocks(types []ColumnType) (columns []bool) {
	for j, t := range types {
		switch t {
		case TimeColumn, TrendColumn, SinceColumn, RecordKeyColumn, SourceColumn, GramColumn:
			if columns == nil {
				columns = make([]bool, len(types))
			}
			columns[j] = true
		}
	}
	return columns
}

// Column describes a column of raw rows and what the model sees of it. Its fields are:
//
//	Width   int    // columns that the model sees
//	Becomes string // what they are, in words
//	Values  int    // of a category with statistics: values that are kept
type Column = encode.Column

// Columns describes what the model sees of each raw column, lags included; nil if it
// sees all of them as they are, or before the first fit.
func (l *Learner) Columns() []Column {
	if l.fit == nil || l.fit.Encoding == nil {
		return nil
	}
	return l.fit.Encoding.Columns()
}

// Encoding returns the number of values of a row as the model sees it, and the most
// memory in bytes that the encoding of categories and the windows take.
func (l *Learner) Encoding() (width int, bytes int64) {
	if l.fit != nil && l.fit.Encoding != nil {
		bytes = l.fit.Encoding.Bytes()
	}
	if w := l.Windows(); w != nil {
		bytes += w.MaxBytes
	}
	return l.width(), bytes
}

// width returns the number of values of a row as the model sees it.
func (l *Learner) width() int { return l.fit.Width(l.dim) }

// takeTypes takes the types of the columns of b while they may change the model. Types may differ
// between calls only for columns that had no value before.
func (l *Learner) takeTypes(b *Batch) {
	awaits := l.fit != nil && l.fit.Encoding.Awaits()
	if !awaits && !l.warming() {
		return
	}
	types := l.rowTypes(b)
	if awaits {
		l.fit.Encoding.Settle(types)
	}
	if l.warming() {
		l.warmup.Columns = types
	}
}

// rowTypes returns the types of the columns of the rows of b with their lags; nil if all are
// numeric.
func (l *Learner) rowTypes(b *Batch) []ColumnType {
	if b.types != nil && len(b.types) != b.Dim() {
		panic(fmt.Sprintf("learner: %d types for rows of %d values", len(b.types), b.Dim()))
	}
	if !slices.ContainsFunc(b.types, func(t ColumnType) bool { return t != NumericColumn }) {
		return nil
	}
	if l.config.Metric != nil || l.config.Above() != 0 {
		panic("learner: the metric or the kernel is for numeric columns")
	}
	types := slices.Clone(b.types)
	for range l.config.Lags {
		types = append(append(types, b.types...), make([]ColumnType, l.config.labelSize())...)
	}
	return types
}

// encoded fills dst with the raw rows of b as the model sees them.
func encoded(dst, b *Batch, e *encode.Encoding, n int) *Batch {
	return dst.derive(n, e.Width(), func(x []float64, i int) { e.Apply(x, b.X(i)) })
}

// underMetric fills dst with the first n rows of b, transformed by the metric m.
func underMetric(dst, b *Batch, m *Metric, n int) *Batch {
	scratch := make([]float64, m.Dim())
	return dst.derive(n, m.Dim(), func(x []float64, i int) { m.Apply(x, scratch, b.X(i), b.Key(i)) })
}

// encodeRows lets the encoding of a new fit learn the rows of the warm-up, except for those that
// will be pending, and returns all rows as the model sees them.
func (l *Learner) encodeRows() []float64 {
	e, n, d := l.fit.Encoding, len(l.warmup.Labels), l.dim
	if e == nil {
		return l.warmup.X
	}
	whole := n - n%l.minibatchAt(l.labelled)
	x := e.Rows(l.warmup.X[:whole*d], l.warmup.Labels[:whole], l.warmup.Weights[:whole])
	e.OutOfFold(x, l.warmup.X[:whole*d], l.warmup.Labels[:whole], l.warmup.Weights[:whole], l.config.Folds)
	x = append(x, make([]float64, (n-whole)*e.Width())...)
	for i := whole; i < n; i++ {
		e.Apply(x[i*e.Width():(i+1)*e.Width()], l.warmup.X[i*d:(i+1)*d])
	}
	l.raw = append(l.raw[:0], l.warmup.X[whole*d:]...)
	return x
}

// learnEncoding has the encoding learn the pending rows.
func (l *Learner) learnEncoding() {
	e := l.fit.Encoding
	if e == nil {
		return
	}
	for i := range l.pending.Labels {
		e.Learn(l.raw[i*l.dim:(i+1)*l.dim], &l.pending.Labels[i], l.pending.Weights[i])
	}
	e.Bound()
	l.raw = l.raw[:0]
}

// saveColumns saves what the columns need beside the encoding.
func (l *Learner) saveColumns(a *state.Arrays) {
	if l.warming() && l.warmup.Columns != nil {
		types, halfLives := make([]byte, len(l.warmup.Columns)), make([]int64, len(l.warmup.Columns))
		decayed := false
		for j, t := range l.warmup.Columns {
			types[j], halfLives[j] = byte(t), int64(t.HalfLife()) // the lowest bits are the kind
			decayed = decayed || halfLives[j] > 0
		}
		state.Own(a, "columns.types", 1, types)
		if decayed {
			state.Own(a, "columns.halflives", 1, halfLives)
		}
	}
	if l.fit != nil && l.fit.Encoding != nil {
		state.Put(a, "pending.raw", l.dim, l.raw)
	}
}

func (l *Learner) loadColumns(s *state.Reader, pending int) {
	if l.warming() && len(s.In) > 0 && s.In[0].Name == "columns.types" {
		for _, t := range state.Take[byte](s, "columns.types", l.dim, 1) {
			l.warmup.Columns = append(l.warmup.Columns, ColumnType(t))
			s.Require(ColumnType(t).Valid(), "a column of type %d", t)
		}
		l.loadHalfLives(s)
		s.Require(l.config.Metric == nil, "a metric is for numeric columns")
	}
	if l.fit != nil && l.fit.Encoding != nil {
		l.raw = state.TakeRaw(s, "pending.raw", pending, l.dim)
	}
}

func (l *Learner) loadHalfLives(s *state.Reader) {
	if s.Err != nil || len(s.In) == 0 || s.In[0].Name != "columns.halflives" {
		return
	}
	for j, rows := range state.Take[int64](s, "columns.halflives", l.dim, 1) {
		t := l.warmup.Columns[j]
		s.Require(rows == 0 || rows > 0 && rows <= encode.MaxHalfLife && t == CategoryColumn, "a half-life of %d rows for a column of type %v", rows, t)
		if rows > 0 && s.Err == nil {
			l.warmup.Columns[j] = encode.Decayed(int(rows))
		}
	}
}
