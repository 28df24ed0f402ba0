package decode

import (
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest/decode/times"
	"github.com/accrete-ml/accrete/ingest/decode/window"
	"github.com/accrete-ml/accrete/learner"
)

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
		if seconds, ok := times.Parse(v.text); ok {
			return seconds, nil
		}
	case !time && v.kind == num:
		return learner.Category(xxhash.Sum64String(canonical(v.text, v.num))), nil
	case !time && (v.kind == text || v.kind == boolean):
		return learner.Category(xxhash.Sum64(v.text)), nil
	}
	if d.config.isWindowField(string(name), true) {
		return 0, bad("columns", "%s is %v, want %s", quote(name), v, wanted[learner.TimeColumn])
	}
	return 0, bad("columns", "%s is %v, want text, a number or a boolean", quote(name), v)
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
