package decode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/ingest/decode/times"
	"github.com/accrete-ml/accrete/ingest/decode/window"
	"github.com/accrete-ml/accrete/learner"
)

// Window is a group of columns that are statistics of the earlier records with the same key.
type Window = window.Window

// ParseWindow reads the format of Window.String.
func ParseWindow(s string) (Window, error) { return window.Parse(s) }

const maxWindows = 64

// checkWindow checks the fields of w.
func (c *Config) checkWindow(w *Window) error {
	for _, name := range []string{w.Key, w.Of, w.Distinct, w.Time} {
		if strings.ContainsAny(name, " =,;") {
			return fmt.Errorf("%s: want the name of a field without spaces, =, commas and semicolons", excerpt.Quote(name))
		}
		if name != "" && (name == c.Label || name == c.Weight || slices.Contains(c.Labels, name)) {
			return fmt.Errorf("%s is the label or the weight", excerpt.Quote(name))
		}
		if t := c.Types[name]; t == learner.TextColumn.String() || t == schema.Pair {
			return fmt.Errorf("%s is declared as %s", excerpt.Quote(name), t)
		}
		if name != "" && c.Columns != nil && !slices.Contains(c.Columns, name) && !schema.IsExcluded(c.Types[name]) && name != c.Key {
			return fmt.Errorf("%s is no column: declare it as %s, if it is not an input", excerpt.Quote(name), schema.ID)
		}
	}
	for _, name := range []string{w.Of, w.Distinct, w.Time} {
		if name != "" && (name == c.Key || name == w.Key) {
			return fmt.Errorf("%s is the key", excerpt.Quote(name))
		}
	}
	if t := c.Types[w.Of]; schema.IsExcluded(t) {
		return fmt.Errorf("of: %s is declared as %s: want a column of numbers", excerpt.Quote(w.Of), t)
	}
	return nil
}

// checkWindows checks the windows of c and fills in their defaults.
func (c *Config) checkWindows() error {
	if c.Time != "" {
		if err := c.checkTime(); err != nil {
			return fmt.Errorf("input.time: %w", err)
		}
	}
	if len(c.Windows) == 0 {
		c.Windows = nil
		return nil
	}
	if c.Above != 0 || len(c.Windows) > maxWindows {
		return fmt.Errorf("input.windows: want at most %d, and a kernel for inputs of any sign", maxWindows)
	}
	c.Windows = slices.Clone(c.Windows)
	seen := map[string]bool{}
	for i, w := range c.Windows {
		err := c.checkWindow(&w)
		e, invalid := w.Effective()
		err = cmp.Or(err, invalid)
		if err != nil {
			return fmt.Errorf("input.windows: %s: %w", w, err)
		}
		c.Windows[i] = e
		for _, name := range e.Columns() {
			if seen[name] || slices.Contains(c.Columns, name) || c.Types[name] != "" {
				return fmt.Errorf("input.windows: %s: two columns are named %s: leave one out with features", e, excerpt.Quote(name))
			}
			seen[name] = true
		}
	}
	return nil
}

// NeedsRecordTime reports whether windows use the timestamps of records. Rows of files have no
// timestamps.
func (c *Config) NeedsRecordTime() bool {
	return slices.ContainsFunc(c.Windows, func(w Window) bool { return w.Time == "" })
}

// windowFields returns the fields that windows use, and the field with the event time.
func (c *Config) windowFields() (names []string) {
	for _, w := range c.Windows {
		for _, name := range []string{w.Key, w.Of, w.Distinct, w.Time} {
			if name != "" && name != c.Key {
				names = append(names, name)
			}
		}
	}
	if c.Time != "" {
		names = append(names, c.Time)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isSource reports whether a field is a column only because windows or the event time need it,
// and not an input.
func (c *Config) isSource(name string) bool {
	return schema.IsExcluded(c.Types[name]) && c.isWindowField(name, false)
}

// isWindowField reports whether a window uses a field, or the field is the event time. With time,
// it reports only uses as a time.
func (c *Config) isWindowField(name string, time bool) bool {
	if name != "" && name == c.Time {
		return true
	}
	for i := range c.Windows {
		w := &c.Windows[i]
		if name != "" && (w.Time == name || !time && (w.Key == name || w.Distinct == name || w.Of == name)) {
			return true
		}
	}
	return false
}

// keySource returns the name of the column with the key of a window.
func (c *Config) keySource(w *Window) string {
	if w.Key == "" || w.Key == c.Key {
		return schema.RecordKey
	}
	return w.Key
}

func (c *Config) timeSource(w *Window) string { return cmp.Or(w.Time, schema.RecordTime) }

// windowColumns returns the columns that windows and the event time add: the features of windows,
// and the columns that they need and that are not inputs.
func (c *Config) windowColumns() (names []string) {
	for i := range c.Windows {
		w := &c.Windows[i]
		names = append(names, w.Columns()...)
		for _, name := range []string{c.keySource(w), c.timeSource(w), w.Distinct} {
			if (name == schema.RecordKey || name == schema.RecordTime || c.isSource(name)) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if c.isSource(c.Time) && !slices.Contains(names, c.Time) {
		names = append(names, c.Time)
	}
	return names
}

// hasWindows returns an error if columns lacks one that windows or the event time need.
func (c *Config) hasWindows(columns []string) error {
	if len(c.Windows) == 0 && c.Time == "" {
		return nil
	}
	known := make(map[string]bool, len(columns))
	for _, name := range columns {
		known[name] = true
	}
	for _, name := range append(c.windowColumns(), c.windowFields()...) {
		if !known[name] {
			return fmt.Errorf("input.windows or input.time: the model has no column %s", excerpt.Quote(name))
		}
	}
	return nil
}

// windowType returns the type of a column that windows or the event time add.
func (d *Decoder) windowType(name string) (learner.ColumnType, bool) {
	if len(d.config.Windows) == 0 && d.config.Time == "" {
		return 0, false
	}
	if d.config.isSource(name) || name == schema.RecordKey || name == schema.RecordTime {
		return learner.SourceColumn, true
	}
	for i := range d.config.Windows {
		if slices.Contains(d.config.Windows[i].Columns(), name) {
			return learner.WindowColumn, true
		}
	}
	return 0, false
}

// windows is the layout of the windows of a Decoder, and its columns that are not read from
// fields.
type windows struct {
	layout    *learner.Windows
	noField   []bool // for each column: whether it is not read from a field
	key, time int    // columns of the key and the timestamp of the record; -1: none
}

// setWindows finds the columns of windows.
func (d *Decoder) setWindows(columns []string) {
	d.windows = windows{key: -1, time: -1}
	if len(d.config.Windows) == 0 || len(columns) == 0 {
		return
	}
	at := func(name string) int {
		if i, ok := d.column[name]; ok && name != "" {
			return i
		}
		return -1
	}
	d.windows = windows{layout: new(learner.Windows), noField: make([]bool, len(columns)), key: at(schema.RecordKey), time: at(schema.RecordTime)}
	for i := range d.config.Windows {
		w := &d.config.Windows[i]
		g := learner.WindowGroup{Key: at(d.config.keySource(w)), Time: at(d.config.timeSource(w)), Of: at(w.Of), Distinct: at(w.Distinct), MaxKeys: w.Keys}
		for _, over := range w.Over {
			h, _ := window.Seconds(over)
			g.HalfLives = append(g.HalfLives, h)
		}
		g.Lateness, _ = window.Seconds(w.Lateness)
		for _, name := range w.Features {
			f, _ := learner.ParseWindowFeature(name)
			g.Features = append(g.Features, f)
		}
		for _, name := range w.Columns() {
			g.To = append(g.To, at(name))
			d.windows.noField[at(name)] = true
		}
		d.windows.layout.Groups = append(d.windows.layout.Groups, g)
	}
	for _, i := range []int{d.windows.key, d.windows.time} {
		if i >= 0 {
			d.windows.noField[i] = true
		}
	}
}

// noField reports whether column i is not read from a field.
func (d *Decoder) noField(i int) bool {
	return d.types != nil && isPart(d.types[i]) || d.windows.noField != nil && d.windows.noField[i]
}

// checkWindowTypes returns an error if columns have types with which windows or the event time
// cannot be used. If columns is not nil, it holds the columns that the current record determines.
func (d *Decoder) checkWindowTypes(columns []string) *Error {
	if len(d.config.Windows) == 0 && d.config.Time == "" || columns == nil && len(d.fresh) == 0 {
		return nil
	}
	known := columns
	if known == nil {
		known = d.schema.Columns
	}
	typeOf := func(name string) learner.ColumnType {
		i := slices.Index(known, name)
		for _, f := range d.fresh {
			if f.column == i {
				return f.is.Values()
			}
		}
		if columns != nil || i < 0 {
			return d.firstType(name).Values()
		}
		return d.typeOf(i).Values()
	}
	isTime := func(t learner.ColumnType) bool {
		return t == learner.NumericColumn || t == learner.TimeColumn || t == learner.UnknownColumn || t == learner.SourceColumn
	}
	if name := d.config.Time; name != "" {
		if !slices.Contains(known, name) {
			return bad("columns", "input.time is %s, which the first record does not have", excerpt.Quote([]byte(name)))
		}
		if t := typeOf(name); !isTime(t) {
			return bad("columns", "%s is the event time (input.time), and of type %v: want times or seconds", excerpt.Quote([]byte(name)), t)
		}
	}
	for i := range d.config.Windows {
		w := &d.config.Windows[i]
		if t := typeOf(w.Of); w.Of != "" && t != learner.NumericColumn && t != learner.BooleanColumn && t != learner.UnknownColumn {
			return bad("columns", "a window is of %s, which is of type %v: want numbers", excerpt.Quote([]byte(w.Of)), t)
		}
		if t := typeOf(w.Time); w.Time != "" && !isTime(t) {
			return bad("columns", "%s is the time of a window, and of type %v: want times or seconds", excerpt.Quote([]byte(w.Time)), t)
		}
	}
	return nil
}

// source returns the raw value of a field that is not an input, but needed by windows or as the
// event time.
func (d *Decoder) source(name []byte, v value) (float64, *Error) {
	switch time := d.config.isWindowField(string(name), true); {
	case v.kind == null || v.kind == absent:
		return math.NaN(), nil
	case time && (v.kind == num || v.kind == instant):
		return v.num, nil
	case time && v.kind == text:
		if seconds, ok := times.Parse(v.text, d.config.Zones); ok {
			return seconds, nil
		}
	case !time && v.kind == num:
		return learner.Category(xxhash.Sum64String(decimal.Canonical(v.text, v.num))), nil
	case !time && (v.kind == text || v.kind == boolean):
		return learner.Category(xxhash.Sum64(v.text)), nil
	}
	if d.config.isWindowField(string(name), true) {
		return 0, bad("columns", "%s is %v, want %s", excerpt.Quote(name), v, wanted[learner.TimeColumn])
	}
	return 0, bad("columns", "%s is %v, want text, a number or a boolean", excerpt.Quote(name), v)
}

// clearWindows sets the columns of windows to missing. The learner sets their values.
func (d *Decoder) clearWindows(x []float64) {
	for i, no := range d.windows.noField {
		if no && i != d.windows.key {
			x[i] = math.NaN()
		}
	}
}

// checkTime checks the field with the event time.
func (c *Config) checkTime() error {
	switch t := c.Types[c.Time]; {
	case strings.ContainsAny(c.Time, " =,;"):
		return fmt.Errorf("%s: want the name of a field without spaces, =, commas and semicolons", excerpt.Quote(c.Time))
	case c.Time == c.Label || c.Time == c.Weight || c.Time == c.Key || slices.Contains(c.Labels, c.Time):
		return fmt.Errorf("%s is the label, the key or the weight", excerpt.Quote(c.Time))
	case c.Late != nil:
		return fmt.Errorf("with late labels it is input.labels.time: leave it out")
	case c.Sparse:
		return fmt.Errorf("input.sparse has no columns to take it from: leave it out, and it is the timestamp of the record")
	case t != "" && !schema.IsExcluded(t) && t != learner.NumericColumn.String() && !strings.HasPrefix(t, learner.TimeColumn.String()):
		return fmt.Errorf("%s is declared as %s: want a time, numeric or %s", excerpt.Quote(c.Time), t, schema.ID)
	case c.Missing == "zero" && !schema.IsExcluded(t) && !strings.HasPrefix(t, learner.TimeColumn.String()):
		return fmt.Errorf("input.missing: zero would read a missing %s as the year 1970: declare it as time or as %s", excerpt.Quote(c.Time), schema.ID)
	case c.Columns != nil && !slices.Contains(c.Columns, c.Time) && !schema.IsExcluded(t):
		return fmt.Errorf("%s is no column: declare it as %s, if it is not an input", excerpt.Quote(c.Time), schema.ID)
	}
	return nil
}

// setTime sets the event time of a row.
func (d *Decoder) setTime(r *Row) {
	if i, ok := d.column[d.config.Time]; ok && d.config.Time != "" && !math.IsNaN(r.X[i]) {
		r.Time, r.Timed = r.X[i], true
	}
}

// SetTime sets the timestamp of the record, in milliseconds since 1970, in a Row that Decode
// returned.
func (d *Decoder) SetTime(r *Row, milliseconds int64) {
	if d.config.Time == "" {
		r.Time, r.Timed = float64(milliseconds)/1000, true
	}
	if r.X != nil && d.windows.time >= 0 {
		r.X[d.windows.time] = float64(milliseconds) / 1000
	}
}
