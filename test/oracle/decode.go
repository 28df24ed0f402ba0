package oracle

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/learner"
)

// input is what the log's CONFIG says of records, with every default in it.
type input struct {
	Label, Key, Weight     string
	Labels, Columns        []string
	Missing, Unknown, Task string
	MaxClasses             int     `json:"max_classes"`
	MaxBytes               int     `json:"max_bytes"`
	MaxColumns             int     `json:"max_columns"`
	MaxAbs                 float64 `json:"max_abs"`
}

// decoder reads records in the plainest way there is.
type decoder struct {
	input  input
	schema struct {
		Columns []string `json:"columns"`
		Task    string   `json:"task"`
		Classes []string `json:"classes"`
	}
}

// row is a record that is learned or predicted.
type row struct {
	x      []float64
	label  learner.Label
	weight float64
	key    []byte // of the prediction
}

func newDecoder(in input) (d decoder) {
	d.input = in
	return d
}

// begin is called before the first record: until then the schema is written as
// null.
func (d *decoder) begin() {
	if d.schema.Task == "" {
		d.schema.Task, d.schema.Columns, d.schema.Classes = d.input.Task, []string{}, []string{}
		d.schema.Columns = append(d.schema.Columns, d.input.Columns...)
	}
}

// member is a field of a record, with its value as it stands.
type member struct {
	name string
	raw  json.RawMessage
}

// members are those of an object; not ok if b is none.
func members(b []byte) (out []member, ok bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		var raw json.RawMessage
		if err != nil || d.Decode(&raw) != nil {
			return nil, false
		}
		out = append(out, member{name.(string), bytes.TrimSpace(raw)})
	}
	return out, true
}

const (
	mostDepth   = 64
	mostClass   = 256 // bytes
	mostHeaders = 64
	mostWeight  = 1e6
)

// halves are escapes of halves of a character, which are no text alone.
var halves = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F]|\\\\`)

// readable reports whether b is JSON that a strict reader takes.
func readable(b []byte) bool {
	if !utf8.Valid(b) || !json.Valid(b) {
		return false
	}
	for _, m := range halves.FindAll(b, -1) {
		if len(m) == len(`\ud8`) {
			return false
		}
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return true
		}
		if c, ok := t.(json.Delim); ok && (c == '}' || c == ']') {
			depth--
			continue
		} else if depth > mostDepth {
			return false
		} else if ok {
			depth++
		}
	}
}

// fields are the members of a record, sorted by what they are.
type fields struct {
	label, weight, key json.RawMessage
	labels             []json.RawMessage
	form               string // "x", "features", or empty where every field is an input
	list               []json.RawMessage
	inputs, others     []member
}

// decode reads a record; not ok if it belongs into quarantine. Then nothing has
// changed.
func (d *decoder) decode(r Record) (out row, ok bool) {
	if len(r.Value) == 0 || len(r.Value) > d.input.MaxBytes || len(r.Headers) > mostHeaders || !readable(r.Value) {
		return out, false
	}
	f, ok := d.sort(r.Value)
	if !ok || len(f.others) > 0 && d.input.Unknown != "ignore" {
		return out, false
	}
	columns := d.schema.Columns
	if f.form == "x" {
		out.x, columns, ok = d.byIndex(f.list)
	} else {
		if len(columns) == 0 {
			columns, ok = d.columns(f.inputs)
		}
		if ok {
			out.x, ok = d.byName(columns, f.inputs)
		}
	}
	for _, v := range out.x {
		ok = ok && math.Abs(v) <= d.input.MaxAbs
	}
	out.weight = 1
	if f.weight != nil {
		v, isNumber := number(f.weight)
		ok = ok && isNumber && v > 0 && v <= mostWeight
		out.weight = v
	}
	key, isKey := d.key(f.key)
	if out.key = key; key == nil {
		out.key = r.Key
	}
	if !ok || !isKey {
		return out, false
	}
	label, class, ok := d.label(f)
	if !ok {
		return out, false
	}
	d.schema.Columns = columns
	if class != "" && !slices.Contains(d.schema.Classes, class) {
		d.schema.Classes = append(d.schema.Classes, class)
	}
	if label.Task != learner.Auto {
		d.schema.Task = label.Task.String()
	}
	out.label = label
	return out, true
}

// sort takes a record apart.
func (d *decoder) sort(b []byte) (f fields, ok bool) {
	all, ok := members(b)
	if !ok {
		return f, false
	}
	in := d.input
	f.labels = make([]json.RawMessage, len(in.Labels))
	once := func(to *json.RawMessage, m member) { ok, *to = ok && *to == nil, m.raw }
	seen := map[string]bool{}
	for _, m := range all {
		switch {
		case in.Label != "" && m.name == in.Label, in.Label == "" && in.Labels == nil && (m.name == "y" || m.name == "label"):
			once(&f.label, m)
			continue
		case slices.Contains(in.Labels, m.name):
			once(&f.labels[slices.Index(in.Labels, m.name)], m)
			continue
		case m.name == in.Weight, in.Weight == "" && m.name == "weight":
			once(&f.weight, m)
			continue
		case m.name == in.Key, in.Key == "" && m.name == "key":
			once(&f.key, m)
			continue
		case m.name == "x" || m.name == "features":
			ok = ok && !seen[m.name]
			seen[m.name] = true
			if m.raw[0] == map[string]byte{"x": '[', "features": '{'}[m.name] {
				ok = ok && f.form == ""
				f.form = m.name
				f.inputs, _ = members(m.raw)
				json.Unmarshal(m.raw, &f.list)
				continue
			}
		}
		f.others = append(f.others, m)
	}
	if f.form == "" {
		f.inputs, f.others = f.others, nil
		if in.Weight == "" && f.weight != nil {
			f.inputs, f.weight = append(f.inputs, member{"weight", f.weight}), nil
		}
		if in.Key == "" && f.key != nil {
			f.inputs, f.key = append(f.inputs, member{"key", f.key}), nil
		}
		ok = ok && (in.Label != "" || in.Labels != nil)
	}
	return f, ok && len(f.inputs) <= in.MaxColumns && len(f.list) <= in.MaxColumns
}

// number reads a JSON number.
func number(raw json.RawMessage) (v float64, ok bool) {
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	v, _ = strconv.ParseFloat(string(raw), 64) // beyond a float64 it is infinite
	return v, true
}

// value reads an input.
func (d *decoder) value(raw json.RawMessage) (v float64, ok bool) {
	if string(raw) == "null" {
		return 0, d.input.Missing == "zero"
	}
	return number(raw)
}

func (d *decoder) byIndex(list []json.RawMessage) (x []float64, columns []string, ok bool) {
	columns = d.schema.Columns
	for i, raw := range list {
		v, ok := d.value(bytes.TrimSpace(raw))
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

// columns are those that the first record settles.
func (d *decoder) columns(inputs []member) (names []string, ok bool) {
	seen := map[string]bool{}
	for _, m := range inputs {
		if seen[m.name] {
			return nil, false
		}
		seen[m.name] = true
		if _, ok := d.value(m.raw); ok {
			names = append(names, m.name)
		} else if d.input.Unknown != "ignore" || m.raw[0] != '"' && m.raw[0] != '{' && m.raw[0] != '[' {
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
	return names, len(names) > 0
}

func (d *decoder) byName(columns []string, inputs []member) (x []float64, ok bool) {
	values := map[string]float64{}
	for _, m := range inputs {
		if !slices.Contains(columns, m.name) {
			if d.input.Unknown != "ignore" {
				return nil, false
			}
			continue
		}
		v, ok := d.value(m.raw)
		if _, twice := values[m.name]; twice || !ok {
			return nil, false
		}
		values[m.name] = v
	}
	for _, name := range columns {
		v, ok := values[name]
		if !ok && d.input.Missing != "zero" {
			return nil, false
		}
		x = append(x, v)
	}
	return x, true
}

// key is nil if there is none.
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

// label reads the label, or all of them; class is its name if it is one.
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
	if f.labels != nil && len(f.labels) > 0 {
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

// className is the class that a number names.
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
