package decode

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/internal/spell"
	"github.com/accrete-ml/accrete/learner"
)

// Window adds columns to a row: statistics of the earlier records of its key, in which a
// record counts half as much after every half-life of event time.
type Window struct {
	Key      string   `json:"key"`                // field; empty: the key of the record
	Of       string   `json:"of,omitempty"`       // field with numbers, for sum, mean and deviation
	Distinct string   `json:"distinct,omitempty"` // field whose different values are counted
	Time     string   `json:"time,omitempty"`     // field with the event time; empty: the timestamp of the record
	Over     []string `json:"over"`               // half-lives, such as 10m, 1h or 7d
	Features []string `json:"features"`           // names of learner.WindowFeature; empty: all but sum that have their field
	Lateness string   `json:"lateness"`           // of a record that is still added; empty: the longest half-life
	Keys     int      `json:"keys"`               // that are kept; 0: 100,000
}

const (
	defaultWindowKeys = 100_000
	maxWindows        = 64
)

// The columns of a row, beside fields, that windows need.
const (
	recordKey  = "record.key"
	recordTime = "record.time"
)

// windowOptions are the names that ParseWindow knows.
var windowOptions = []string{"key", "of", "distinct", "time", "over", "features", "lateness", "keys"}

// ParseWindow reads the form that String writes.
func ParseWindow(s string) (w Window, err error) {
	for _, option := range strings.Fields(s) {
		name, text, found := strings.Cut(option, "=")
		if !found || text == "" {
			return w, fmt.Errorf("%s: want options such as key=card of=amount over=1h,7d", quote(option))
		}
		if err := w.Set(name, strings.Split(text, ",")); err != nil {
			return w, err
		}
	}
	return w, nil
}

// Set sets an option by its name.
func (w *Window) Set(name string, values []string) error {
	one := map[string]*string{"key": &w.Key, "of": &w.Of, "distinct": &w.Distinct, "time": &w.Time, "lateness": &w.Lateness}[name]
	switch {
	case name == "over":
		w.Over = values
	case name == "features":
		w.Features = values
	case len(values) != 1:
		return fmt.Errorf("%s: want one value, not %d", name, len(values))
	case one != nil:
		*one = values[0]
	case name == "keys":
		n, err := strconv.Atoi(values[0])
		if err != nil {
			return fmt.Errorf("keys: %s is not a whole number", quote(values[0]))
		}
		w.Keys = n
	default:
		hint := ""
		if near := spell.Nearest(name, windowOptions); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return fmt.Errorf("unknown option %s: want %s%s", quote(name), strings.Join(windowOptions, ", "), hint)
	}
	return nil
}

// String returns the options as name=value, separated by spaces.
func (w Window) String() string {
	var all []string
	for _, o := range []struct{ name, value string }{
		{"key", w.Key}, {"of", w.Of}, {"distinct", w.Distinct}, {"time", w.Time},
		{"over", strings.Join(w.Over, ",")}, {"features", strings.Join(w.Features, ",")}, {"lateness", w.Lateness},
	} {
		if o.value != "" {
			all = append(all, o.name+"="+o.value)
		}
	}
	if w.Keys != 0 {
		all = append(all, "keys="+strconv.Itoa(w.Keys))
	}
	return strings.Join(all, " ")
}

// parseSpan reads a duration in Go's notation, or in days or weeks.
func parseSpan(s string) (seconds float64, err error) {
	d, err := time.ParseDuration(s)
	for unit, length := range map[string]float64{"d": 86400, "w": 7 * 86400} {
		if digits, is := strings.CutSuffix(s, unit); is {
			if v, err := strconv.ParseFloat(digits, 64); err == nil && v > 0 && v <= 1e6 {
				return v * length, nil
			}
		}
	}
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s is not a duration: want a number with a unit, such as 10m, 1h or 7d", quote(s))
	}
	return d.Seconds(), nil
}

// effective returns w with all defaults filled in, or an error if w is invalid.
func (w Window) effective(c *Config) (Window, error) {
	for _, name := range []string{w.Key, w.Of, w.Distinct, w.Time} {
		if strings.ContainsAny(name, " =,;") {
			return w, fmt.Errorf("%s: want the name of a field without spaces, =, commas and semicolons", quote(name))
		}
		if name != "" && (name == c.Label || name == c.Weight || slices.Contains(c.Labels, name)) {
			return w, fmt.Errorf("%s is the label or the weight", quote(name))
		}
		if t := c.Types[name]; t == learner.TextColumn.String() || t == Pair {
			return w, fmt.Errorf("%s is declared as %s", quote(name), t)
		}
		if name != "" && c.Columns != nil && !slices.Contains(c.Columns, name) && !isExcluded(c.Types[name]) && name != c.Key {
			return w, fmt.Errorf("%s is no column: declare it as %s, if it is not an input", quote(name), ID)
		}
	}
	for _, name := range []string{w.Of, w.Distinct, w.Time} {
		if name != "" && (name == c.Key || name == w.Key) {
			return w, fmt.Errorf("%s is the key", quote(name))
		}
	}
	if t := c.Types[w.Of]; isExcluded(t) {
		return w, fmt.Errorf("of: %s is declared as %s: want a column of numbers", quote(w.Of), t)
	}
	if len(w.Over) == 0 || len(w.Over) > learner.MaxWindowHalfLives {
		return w, fmt.Errorf("over: want 1 to %d half-lives, such as [1h, 7d]", learner.MaxWindowHalfLives)
	}
	longest, text := 0.0, ""
	seen := map[float64]bool{}
	for _, over := range w.Over {
		h, err := parseSpan(over)
		if err != nil {
			return w, fmt.Errorf("over: %w", err)
		}
		if seen[h] {
			return w, fmt.Errorf("over: duplicate half-life %s", over)
		}
		if seen[h] = true; h > longest {
			longest, text = h, over
		}
	}
	w.Lateness = cmp.Or(w.Lateness, text)
	if w.Lateness != "0" && w.Lateness != "0s" {
		if _, err := parseSpan(w.Lateness); err != nil {
			return w, fmt.Errorf("lateness: %w", err)
		}
	}
	if w.Keys == 0 {
		w.Keys = defaultWindowKeys
	}
	if w.Keys < 1 || w.Keys > learner.MaxWindowKeys {
		return w, fmt.Errorf("keys: %d: want 1 to %d", w.Keys, learner.MaxWindowKeys)
	}
	var err error
	w.Features, err = w.features()
	return w, err
}

// features returns the names of the features in the order of a row.
func (w *Window) features() (names []string, err error) {
	var all []learner.WindowFeature
	for _, name := range w.Features {
		f, err := learner.ParseWindowFeature(name)
		if err != nil {
			return nil, fmt.Errorf("features: %w: want count, sum, mean, deviation, distinct or since", err)
		}
		if w.lacks(f) {
			return nil, fmt.Errorf("features: %s needs the option %s", name, map[bool]string{true: "distinct", false: "of"}[f == learner.WindowDistinct])
		}
		if slices.Contains(all, f) {
			return nil, fmt.Errorf("features: duplicate %s", name)
		}
		all = append(all, f)
	}
	if all == nil {
		for f := learner.WindowCount; f <= learner.WindowSince; f++ {
			if f != learner.WindowSum && !w.lacks(f) {
				all = append(all, f)
			}
		}
	}
	slices.Sort(all)
	for _, f := range all {
		names = append(names, f.String())
	}
	return names, nil
}

// lacks reports whether f is of a field that w does not have.
func (w *Window) lacks(f learner.WindowFeature) bool {
	switch f {
	case learner.WindowDistinct:
		return w.Distinct == ""
	case learner.WindowSum, learner.WindowMean, learner.WindowDeviation:
		return w.Of == ""
	}
	return false
}

// columns returns the names of the columns that an effective w adds, in the order of
// learner.WindowGroup.To.
func (w *Window) columns() (names []string) {
	by := "_by_" + cmp.Or(w.Key, "key")
	since := false
	for _, over := range w.Over {
		for _, f := range w.Features {
			switch f {
			case "since":
				since = true
			case "count":
				names = append(names, "count_"+over+by)
			case "distinct":
				names = append(names, w.Distinct+"_distinct_"+over+by)
			default:
				names = append(names, w.Of+"_"+f+"_"+over+by)
			}
		}
	}
	if since {
		names = append(names, "since"+by)
	}
	return names
}

// checkWindows makes the windows of c effective.
func (c *Config) checkWindows() error {
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
		e, err := w.effective(c)
		if err != nil {
			return fmt.Errorf("input.windows: %s: %w", w, err)
		}
		c.Windows[i] = e
		for _, name := range e.columns() {
			if seen[name] || slices.Contains(c.Columns, name) || c.Types[name] != "" {
				return fmt.Errorf("input.windows: %s: two columns are named %s: leave one out with features", e, quote(name))
			}
			seen[name] = true
		}
	}
	return nil
}

// NeedsRecordTime reports whether windows use the timestamps of records, which files do not
// have.
func (c *Config) NeedsRecordTime() bool {
	return slices.ContainsFunc(c.Windows, func(w Window) bool { return w.Time == "" })
}

// windowFields returns the fields that windows are of.
func (c *Config) windowFields() (names []string) {
	for _, w := range c.Windows {
		for _, name := range []string{w.Key, w.Of, w.Distinct, w.Time} {
			if name != "" && name != c.Key {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isSource reports whether a field is no input, and a column for windows.
func (c *Config) isSource(name string) bool {
	return isExcluded(c.Types[name]) && c.isWindowField(name, false)
}

// isWindowField reports whether a window is of a field, or has it as its time.
func (c *Config) isWindowField(name string, time bool) bool {
	for i := range c.Windows {
		w := &c.Windows[i]
		if name != "" && (w.Time == name || !time && (w.Key == name || w.Distinct == name || w.Of == name)) {
			return true
		}
	}
	return false
}

// keySource returns the column with the key of a window, and timeSource that of its time.
func (c *Config) keySource(w *Window) string {
	if w.Key == "" || w.Key == c.Key {
		return recordKey
	}
	return w.Key
}

func (c *Config) timeSource(w *Window) string { return cmp.Or(w.Time, recordTime) }

// windowColumns returns the columns that windows add to those of fields: their features, and
// what they need and is no input.
func (c *Config) windowColumns() (names []string) {
	for i := range c.Windows {
		w := &c.Windows[i]
		names = append(names, w.columns()...)
		for _, name := range []string{c.keySource(w), c.timeSource(w), w.Distinct} {
			if (name == recordKey || name == recordTime || c.isSource(name)) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// windowType returns the type of a column that windows have added.
func (d *Decoder) windowType(name string) (learner.ColumnType, bool) {
	if len(d.config.Windows) == 0 {
		return 0, false
	}
	if d.config.isSource(name) || name == recordKey || name == recordTime {
		return learner.SourceColumn, true
	}
	for i := range d.config.Windows {
		if slices.Contains(d.config.Windows[i].columns(), name) {
			return learner.WindowColumn, true
		}
	}
	return 0, false
}

// windows is the layout of the windows of a Decoder, and the columns that are no fields.
type windows struct {
	layout    *learner.Windows
	noField   []bool // columns that are in no record
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
	d.windows = windows{layout: new(learner.Windows), noField: make([]bool, len(columns)), key: at(recordKey), time: at(recordTime)}
	for i := range d.config.Windows {
		w := &d.config.Windows[i]
		g := learner.WindowGroup{Key: at(d.config.keySource(w)), Time: at(d.config.timeSource(w)), Of: at(w.Of), Distinct: at(w.Distinct), MaxKeys: w.Keys}
		for _, over := range w.Over {
			h, _ := parseSpan(over)
			g.HalfLives = append(g.HalfLives, h)
		}
		g.Lateness, _ = parseSpan(w.Lateness)
		for _, name := range w.Features {
			f, _ := learner.ParseWindowFeature(name)
			g.Features = append(g.Features, f)
		}
		for _, name := range w.columns() {
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

// noField reports whether column i is in no record.
func (d *Decoder) noField(i int) bool {
	return d.types != nil && isPart(d.types[i]) || d.windows.noField != nil && d.windows.noField[i]
}

// checkWindowTypes returns an error if the columns, which are not settled yet if columns is
// not nil, have other types than windows need.
func (d *Decoder) checkWindowTypes(columns []string) *Error {
	if len(d.config.Windows) == 0 || columns == nil && len(d.fresh) == 0 {
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
	for i := range d.config.Windows {
		w := &d.config.Windows[i]
		if t := typeOf(w.Of); w.Of != "" && t != learner.NumericColumn && t != learner.BooleanColumn && t != learner.UnknownColumn {
			return bad("columns", "a window is of %s, which is of type %v: want numbers", quote([]byte(w.Of)), t)
		}
		if t := typeOf(w.Time); w.Time != "" && t != learner.NumericColumn && t != learner.TimeColumn && t != learner.UnknownColumn && t != learner.SourceColumn {
			return bad("columns", "%s is the time of a window, and of type %v: want times or seconds", quote([]byte(w.Time)), t)
		}
	}
	return nil
}

// source returns the raw value of a field that windows need, and that is no input.
func (d *Decoder) source(name []byte, v value) (float64, *Error) {
	switch time := d.config.isWindowField(string(name), true); {
	case v.kind == null || v.kind == absent:
		return math.NaN(), nil
	case time && (v.kind == num || v.kind == instant):
		return v.num, nil
	case time && v.kind == text:
		if seconds, ok := parseTime(v.text); ok {
			return seconds, nil
		}
	case !time && v.kind == num:
		return learner.Category(xxhash.Sum64String(canonical(v.text, v.num))), nil
	case !time && (v.kind == text || v.kind == boolean):
		return learner.Category(xxhash.Sum64(v.text)), nil
	}
	return 0, bad("columns", "%s is %v, want what windows need", quote(name), v)
}

// clearWindows makes the columns of windows missing, which the learner sets.
func (d *Decoder) clearWindows(x []float64) {
	for i, no := range d.windows.noField {
		if no && i != d.windows.key {
			x[i] = math.NaN()
		}
	}
}

// SetTime has a Row that Decode returned know the timestamp of its record, in milliseconds
// since 1970.
func (d *Decoder) SetTime(r *Row, milliseconds int64) {
	if r.X != nil && d.windows.time >= 0 {
		r.X[d.windows.time] = float64(milliseconds) / 1000
	}
}
