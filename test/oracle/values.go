package oracle

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// number parses a JSON number.
func number(raw json.RawMessage) (v float64, ok bool) {
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	v, _ = strconv.ParseFloat(string(raw), 64) // infinite if out of range
	return v, true
}

func (d *decoder) byIndex(list []json.RawMessage) (x []float64, columns []string, ok bool) {
	columns = d.schema.Columns
	if len(columns) == 0 && len(d.pairs()) > 0 {
		return nil, nil, false
	}
	for i, raw := range list {
		raw = bytes.TrimSpace(raw)
		if _, isNumber := number(raw); !isNumber && string(raw) != "null" {
			return nil, nil, false
		}
		v, ok := d.value(strconv.Itoa(i), raw)
		if !ok {
			return nil, nil, false
		}
		x = append(x, v)
		if len(d.schema.Columns) == 0 {
			columns = append(columns, strconv.Itoa(i))
		}
	}
	for i, name := range columns {
		if name != strconv.Itoa(i) {
			return nil, nil, false
		}
	}
	return x, columns, len(x) > 0 && len(x) == len(columns)
}

// columns returns the columns that the first record determines.
func (d *decoder) columns(inputs []member) (names []string, ok bool) {
	seen := map[string]bool{}
	for _, m := range inputs {
		if seen[m.name] {
			return nil, false
		}
		seen[m.name] = true
		if notColumns[d.input.Types[m.name]] {
			continue
		}
		if d.partOf(m.name) != "" {
			if d.input.Unknown != "ignore" {
				return nil, false
			}
			continue
		}
		_, ok := d.value(m.name, m.raw)
		if d.input.Types[m.name] == "text" {
			ok = d.text(map[string]float64{}, m.name, m.raw)
		}
		if ok {
			names = append(names, m.name)
		} else if d.input.Unknown != "ignore" || m.raw[0] != '"' && m.raw[0] != '{' && m.raw[0] != '[' {
			return nil, false
		}
	}
	for _, pair := range d.pairs() {
		a, b, _ := strings.Cut(pair, "*")
		if !slices.Contains(names, a) || !slices.Contains(names, b) {
			return nil, false
		}
	}
	slices.Sort(names)
	byNumber := make([]string, len(names))
	for i := range names {
		byNumber[i] = strconv.Itoa(i)
	}
	if sorted := slices.Sorted(slices.Values(byNumber)); slices.Equal(names, sorted) {
		names = byNumber
	}
	if all := d.withParts(names); len(all) > len(names) {
		slices.Sort(all)
		names = all
	}
	return names, len(names) > 0 && len(names) <= d.input.MaxColumns
}

func (d *decoder) byName(columns []string, inputs []member) (x []float64, ok bool) {
	values := map[string]float64{}
	for _, m := range inputs {
		if d.input.Types[m.name] == "text" && slices.Contains(columns, m.name+":00") {
			if _, twice := values[m.name+":00"]; twice || !d.text(values, m.name, m.raw) {
				return nil, false
			}
			continue
		}
		if !slices.Contains(columns, m.name) || d.partOf(m.name) != "" {
			if d.input.Unknown != "ignore" && !notColumns[d.input.Types[m.name]] {
				return nil, false
			}
			continue
		}
		v, ok := d.value(m.name, m.raw)
		if _, twice := values[m.name]; twice || !ok {
			return nil, false
		}
		values[m.name] = v
	}
	for _, name := range columns {
		v, ok := values[name]
		if part := d.partOf(name); !ok && part != "" && part != "text" {
			v, ok = math.NaN(), true // see withKey, withPairs and withRecord
		}
		if !ok {
			if v, ok = d.value(name, json.RawMessage("null")); !ok {
				return nil, false
			}
		}
		x = append(x, v)
	}
	return x, true
}

// key returns the key, or nil if there is none.
func (d *decoder) key(raw json.RawMessage) (key []byte, ok bool) {
	if raw == nil || string(raw) == "null" {
		return nil, true
	}
	if raw[0] == '"' {
		var text string
		json.Unmarshal(raw, &text)
		return []byte(text), true
	}
	_, ok = number(raw)
	return raw, ok
}

// label parses the label or labels. class is the name of a class label.
func (d *decoder) label(f fields) (l learner.Label, class string, ok bool) {
	var values []float64
	for _, raw := range f.labels {
		if raw == nil || string(raw) == "null" {
			continue
		}
		v, ok := number(raw)
		if !ok || math.Abs(v) > d.input.MaxAbs {
			return l, "", false
		}
		values = append(values, v)
	}
	if len(f.labels) > 0 {
		if len(values) == len(f.labels) {
			l = learner.Label{Task: learner.Regression, Value: values[0], More: values[1:]}
		}
		return l, "", true
	}
	v, isNumber := 0., false
	switch raw := f.label; {
	case raw == nil || string(raw) == "null":
		return l, "", true
	case raw[0] == '"':
		json.Unmarshal(raw, &class)
	case raw[0] == 't' || raw[0] == 'f':
		class = string(raw)
	default:
		if v, isNumber = number(raw); !isNumber {
			return l, "", false
		}
	}
	switch {
	case isNumber && d.schema.Task != "classification":
		return learner.Label{Task: learner.Regression, Value: v}, "", math.Abs(v) <= d.input.MaxAbs
	case isNumber && (d.input.Task != "classification" || math.IsInf(v, 0)), !isNumber && d.schema.Task == "regression":
		return l, "", false
	case isNumber:
		class = className(string(f.label), v)
	}
	at := slices.Index(d.schema.Classes, class)
	if at < 0 {
		if at = len(d.schema.Classes); class == "" || len(class) > mostClass || at >= d.input.MaxClasses {
			return l, "", false
		}
	}
	return learner.Label{Task: learner.Classification, Class: at}, class, true
}

var whole = regexp.MustCompile(`^-?[0-9]+$`)

// className returns the class name of a number.
func className(text string, v float64) string {
	switch {
	case v == 0:
		return "0"
	case whole.MatchString(text) && math.Abs(v) >= 1<<53:
		return text
	case v == math.Trunc(v) && math.Abs(v) < 1e21:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
