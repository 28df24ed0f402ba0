package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/test/oracle/keyed"
)

// window is the CONFIG record's description of a window, with every default filled in. Its columns
// are statistics of the earlier records with the same key.
type window struct {
	Key, Of, Distinct, Time, Lateness string
	Over, Features                    []string
	Keys                              int
}

// The names of the columns that are not fields.
const (
	recordKey  = "record.key"
	recordTime = "record.time"
)

func (w *window) key() string  { return cmp.Or(w.Key, recordKey) }
func (w *window) time() string { return cmp.Or(w.Time, recordTime) }

// columns returns the names of the columns of a window.
func (w *window) columns() (names []string) {
	by := "_by_" + cmp.Or(w.Key, "key")
	for _, over := range w.Over {
		for _, f := range w.Features {
			switch f {
			case "count":
				names = append(names, "count_"+over+by)
			case "distinct":
				names = append(names, w.Distinct+"_distinct_"+over+by)
			case "sum", "mean", "deviation":
				names = append(names, w.Of+"_"+f+"_"+over+by)
			}
		}
	}
	if slices.Contains(w.Features, "since") {
		names = append(names, "since"+by)
	}
	return names
}

// windowed returns the columns that exist for windows: "window" marks a statistic, "source" a field
// that only windows need.
func (in *input) windowed() map[string]string {
	is := map[string]string{}
	for _, w := range in.Windows {
		for _, name := range w.columns() {
			is[name] = "window"
		}
		for _, name := range []string{w.key(), w.time(), w.Distinct} {
			if name == recordKey || name == recordTime || notColumns[in.Types[name]] {
				is[name] = "source"
			}
		}
	}
	return is
}

// source parses a field that only windows need.
func (d *decoder) source(name string, raw json.RawMessage) (v float64, ok bool) {
	if string(raw) == "null" {
		return math.NaN(), true
	}
	s, isText := "", raw[0] == '"'
	json.Unmarshal(raw, &s)
	n, isNumber := number(raw)
	for _, w := range d.input.Windows {
		if w.Time == name {
			if isNumber {
				return n, true
			}
			seconds, isTime := instant(s)
			return seconds, isText && isTime
		}
	}
	switch {
	case isNumber:
		s = className(string(raw), n)
	case raw[0] == 't' || raw[0] == 'f':
		s = string(raw)
	case !isText:
		return 0, false
	}
	return float64(xxhash.Sum64String(s) >> 12), true
}

// withRecord sets the columns of the key and the timestamp of a record.
func (d *decoder) withRecord(x []float64, columns []string, key []byte, r Record) {
	if i := slices.Index(columns, recordTime); i >= 0 && i < len(x) && d.windowed[recordTime] != "" {
		x[i] = float64(r.Time) / 1000
	}
	if i := slices.Index(columns, recordKey); i >= 0 && i < len(x) && d.windowed[recordKey] != "" {
		if x[i] = math.NaN(); key != nil {
			x[i] = float64(xxhash.Sum64(key) >> 12)
		}
	}
}

func halfLife(s string) float64 {
	for unit, seconds := range map[string]float64{"d": 86400, "w": 7 * 86400} {
		if n, err := strconv.ParseFloat(strings.TrimSuffix(s, unit), 64); err == nil && strings.HasSuffix(s, unit) {
			return n * seconds
		}
	}
	d, _ := time.ParseDuration(s)
	return d.Seconds()
}

// windows compares the features of rows with their definition.
type windows struct {
	layout learner.Windows
	tables []*keyed.Table
}

// windows returns the windows of a model with columns; nil if it has none.
func (d *decoder) windows() *windows {
	if len(d.input.Windows) == 0 {
		return nil
	}
	at := func(name string) int { return slices.Index(d.schema.Columns, name) }
	out := new(windows)
	for _, w := range d.input.Windows {
		g := learner.WindowGroup{Key: at(w.key()), Time: at(w.time()), Of: at(w.Of), Distinct: at(w.Distinct), Lateness: halfLife(w.Lateness), MaxKeys: w.Keys}
		for _, over := range w.Over {
			g.HalfLives = append(g.HalfLives, halfLife(over))
		}
		for _, name := range w.Features {
			f, _ := learner.ParseWindowFeature(name)
			g.Features = append(g.Features, f)
		}
		for _, name := range w.columns() {
			g.To = append(g.To, at(name))
		}
		out.layout.Groups = append(out.layout.Groups, g)
		out.tables = append(out.tables, keyed.New(keyed.Group{HalfLives: g.HalfLives, Features: w.Features, Lateness: g.Lateness, MaxKeys: w.Keys}))
	}
	return out
}

// The permitted differences between a feature and its definition: featureError is relative to the
// feature, or to 1 if that is greater. For a deviation, which is the root of a difference,
// deviationError is relative to the greatest value of its key, or to 1 if that is greater.
const (
	featureError   = 1e-9
	deviationError = 1e-7
)

// compare compares the features of a row with their definition. With add, which is for the rows of
// the learner, it then adds the row. It returns the number of features, and what differs.
func (w *windows) compare(x []float64, add bool) (n int64, fault error) {
	for i, t := range w.tables {
		g := &w.layout.Groups[i]
		r := keyed.Row{At: x[g.Time], Value: math.NaN(), Other: math.NaN()}
		if g.Of >= 0 {
			r.Value = x[g.Of]
		}
		if g.Distinct >= 0 {
			r.Other = x[g.Distinct]
		}
		features := t.Look
		if add {
			features = t.Add
		}
		statistics := slices.DeleteFunc(slices.Clone(g.Features), func(f learner.WindowFeature) bool { return f == learner.WindowSince })
		for k, want := range features(x[g.Key], r) {
			got, most := x[g.To[k]], featureError*max(1, math.Abs(want))
			if k < len(statistics)*len(g.HalfLives) && statistics[k%len(statistics)] == learner.WindowDeviation {
				most = deviationError * max(1, t.Most(x[g.Key]))
			}
			if n++; math.IsNaN(want) != math.IsNaN(got) || math.Abs(got-want) > most {
				fault = fmt.Errorf("feature %d of window %d is %v, want %v", k, i, got, want)
			}
		}
	}
	return n, fault
}

// observe makes the learner set the features of a row, and compares them.
func (m *model) observe(b *learner.Batch) {
	if m.windows == nil {
		m.windows = m.decoder.windows()
	}
	if m.windows == nil {
		return
	}
	b.SetWindows(&m.windows.layout)
	m.learner.Observe(b)
	n, fault := m.windows.compare(b.X(0), true)
	if m.features += n; fault != nil {
		m.fault = cmp.Or(m.fault, fault)
	}
}
