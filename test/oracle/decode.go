package oracle

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/learner"
)

// input is the CONFIG record's description of the input, with every default
// filled in.
type input struct {
	Label, Key, Weight     string
	Time                   string
	Labels, Columns        []string
	Missing, Unknown, Task string
	Types                  map[string]string
	Infer                  bool
	ByTime                 bool `json:"by_time"`
	Windows                []window
	Tables                 []lookup
	Depth                  int
	Grams                  bool
	MaxClasses             int     `json:"max_classes"`
	MaxBytes               int     `json:"max_bytes"`
	MaxColumns             int     `json:"max_columns"`
	MaxAbs                 float64 `json:"max_abs"`
}

// decoder reads records in the simplest possible way.
type decoder struct {
	input  input
	schema struct {
		Columns []string `json:"columns"`
		Task    string   `json:"task"`
		Classes []string `json:"classes"`
		Types   []string `json:"types,omitempty"`
	}
	windowed map[string]string // types of the columns that windows add
	tables   []*rows
	types    map[string]string // types of the columns that have had a value
	fresh    map[string]string // types that the current record determines
}

// row is a record that is learned or only predicted.
type row struct {
	x      []float64
	label  learner.Label
	weight float64
	key    []byte // key of the prediction
	types  []learner.ColumnType
}

func newDecoder(in input) (d decoder) {
	d.input, d.windowed, d.tables = in, in.windowed(), newTables(in.Tables)
	return d
}

// begin is called before the first record. Until then the schema is null.
func (d *decoder) begin() {
	if d.schema.Task == "" {
		d.schema.Task, d.schema.Columns, d.schema.Classes = d.input.Task, []string{}, []string{}
		d.schema.Columns = append(d.schema.Columns, d.withParts(d.input.Columns)...)
		d.settle(d.schema.Columns)
	}
}

// member is a field of a record with its unparsed value.
type member struct {
	name string
	raw  json.RawMessage
}

// members returns the fields of an object; ok is false if b is not an object.
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
	mostClass   = 256 // maximum length of a class name in bytes
	mostHeaders = 64
	mostWeight  = 1e6
)

// halves matches escapes of surrogates, which are invalid alone.
var halves = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F]|\\\\`)

// readable reports whether b is JSON that a strict parser accepts.
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

// fields holds the members of a record, grouped by their role.
type fields struct {
	label, weight, key json.RawMessage
	labels             []json.RawMessage
	form               string // "x", "features", or empty if every field is an input
	list               []json.RawMessage
	inputs, others     []member
}

// decode decodes a record; ok is false if it belongs in quarantine, in which
// case the decoder is unchanged.
func (d *decoder) decode(r Record) (out row, ok bool) {
	if len(r.Value) == 0 || len(r.Value) > d.input.MaxBytes || len(r.Headers) > mostHeaders || !readable(r.Value) {
		return out, false
	}
	f, ok := d.sort(r.Value)
	if !ok || len(f.others) > 0 && d.input.Unknown != "ignore" {
		return out, false
	}
	if f.inputs = d.flatten("", f.inputs, 0); len(f.inputs) > d.input.MaxColumns {
		return out, false
	}
	f.inputs = d.enrich(f)
	d.fresh = map[string]string{}
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
		ok = ok && !(math.Abs(v) > d.input.MaxAbs)
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
	d.withKey(out.x, columns, out.key)
	d.withPairs(out.x, columns)
	d.withRecord(out.x, columns, out.key, r)
	if !ok || !isKey {
		return out, false
	}
	label, class, ok := d.label(f)
	if !ok {
		return out, false
	}
	d.schema.Columns = columns
	d.settle(columns)
	out.types = d.columnTypes()
	if class != "" && !slices.Contains(d.schema.Classes, class) {
		d.schema.Classes = append(d.schema.Classes, class)
	}
	if label.Task != learner.Auto {
		d.schema.Task = label.Task.String()
	}
	out.label = label
	return out, true
}

// sort groups the members of a record.
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
