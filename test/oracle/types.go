package oracle

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/learner"
)

// notColumns are the declared types of fields that are not columns.
var notColumns = map[string]bool{"ignored": true, "id": true}

// typeOf returns the type of a column; empty if it has none yet.
func (d *decoder) typeOf(name string) string {
	t := d.types[name]
	switch {
	case t != "":
		return t
	case d.windowed[name] != "":
		return d.windowed[name]
	case d.input.Types[name] != "":
		return d.input.Types[name]
	case d.partOf(name) != "":
		return d.partOf(name)
	case d.input.Infer:
		return ""
	}
	return "numeric"
}

// value parses an input. It stores the type in d.fresh if the value determines it.
func (d *decoder) value(name string, raw json.RawMessage) (v float64, ok bool) {
	is, _, _ := strings.Cut(d.typeOf(name), ":")
	if is == "source" {
		return d.source(name, raw)
	}
	if string(raw) == "null" {
		switch {
		case d.input.Missing == "impute", d.input.Missing == "zero" && is != "" && is != "numeric" && is != "boolean":
			return math.NaN(), true
		case d.input.Missing == "zero":
			if is == "" {
				d.fresh[name] = "numeric"
			}
			return 0, true
		}
		return 0, false
	}
	s, isText := "", raw[0] == '"'
	json.Unmarshal(raw, &s)
	seconds, isTime := instant(s)
	if is == "" {
		switch {
		case raw[0] == 't' || raw[0] == 'f':
			is = "boolean"
		case isTime:
			is = "time"
		case isText:
			is = "category"
		default:
			is = "numeric"
		}
		d.fresh[name] = is
	}
	switch is {
	case "numeric":
		return number(raw)
	case "category":
		if n, isNumber := number(raw); isNumber && d.input.Types[name] != "" && !math.IsInf(n, 0) {
			s, isText = className(string(raw), n), true
		}
		return float64(xxhash.Sum64String(s) >> 12), isText
	case "time":
		if v, isNumber := number(raw); isNumber && d.input.Types[name] != "" {
			return v, true
		}
		return seconds, isText && isTime
	case "boolean":
		if string(raw) == "true" {
			v = 1
		}
		return v, raw[0] == 't' || raw[0] == 'f'
	}
	return 0, false
}

func instant(s string) (seconds float64, ok bool) {
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return float64(t.UnixNano()) / 1e9, true
		}
	}
	return 0, false
}

// settle adopts the types that a valid record has determined into the schema.
func (d *decoder) settle(columns []string) {
	if d.types = maps.Clone(d.types); d.types == nil {
		d.types = map[string]string{}
	}
	maps.Copy(d.types, d.fresh)
	d.schema.Types = nil
	numeric := true
	for _, name := range columns {
		t := d.typeOf(name)
		numeric = numeric && t == "numeric"
		d.schema.Types = append(d.schema.Types, t)
	}
	if numeric {
		d.schema.Types = nil
	}
}

// columnTypes returns the types of the columns for a batch.
func (d *decoder) columnTypes() (types []learner.ColumnType) {
	for _, name := range d.schema.Types {
		if t, decays, _ := learner.ParseDecayed(name); decays {
			types = append(types, t)
			continue
		}
		if i := slices.IndexFunc(learner.EncodedColumns(), func(t learner.ColumnType) bool { return t.String() == name }); i >= 0 {
			types = append(types, learner.EncodedColumns()[i])
			continue
		}
		types = append(types, map[string]learner.ColumnType{
			"numeric": learner.NumericColumn, "category": learner.CategoryColumn, "boolean": learner.BooleanColumn,
			"time": learner.TimeColumn, "": learner.UnknownColumn, "text": learner.TextColumn, "gram": learner.GramColumn, "key": learner.RecordKeyColumn, "pair": learner.PairColumn,
			"numeric:normal": learner.NormalColumn, "time:trend": learner.TrendColumn, "time:since": learner.SinceColumn,
			"window": learner.WindowColumn, "source": learner.SourceColumn,
		}[name])
	}
	return types
}
