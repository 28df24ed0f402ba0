package encode

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/twmb/avro"
)

// avroWriter writes records with one Avro schema.
type avroWriter struct {
	Roles
	schema *avro.Schema
	root   *avro.SchemaNode
}

func newAvro(text string, r Roles) (schemaWriter, error) {
	s, err := avro.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the schema is invalid: %w", err)
	}
	return &avroWriter{r, s, s.Root()}, nil
}

func (w *avroWriter) index() []byte { return nil }

func (w *avroWriter) encode(example []byte) ([]byte, error) {
	record, err := shaped(example, w.Roles, func(name string) bool { return hasField(w.root, name) })
	if err != nil {
		return nil, err
	}
	for i := range w.root.Fields { // missing fields become null if their type allows it
		f := &w.root.Fields[i]
		if _, ok := record[f.Name]; !ok && !f.HasDefault && f.Type.Type == "union" {
			record[f.Name] = nil
		}
	}
	for name := range record {
		if !hasField(w.root, name) {
			return nil, fmt.Errorf("the schema has no field %.40q", name)
		}
	}
	return w.schema.Encode(record)
}

func hasField(n *avro.SchemaNode, name string) bool {
	for i := range n.Fields {
		if n.Fields[i].Name == name {
			return true
		}
	}
	return false
}

// shaped arranges the fields of an example for a schema. has reports whether the schema has a
// top-level field of a name. Inputs go to the field features or x if the schema has it, and
// otherwise to the top level. An input whose name is a path becomes nested fields.
func shaped(example []byte, r Roles, has func(string) bool) (map[string]any, error) {
	inputs, others, err := members(example, r)
	if err != nil {
		return nil, err
	}
	top := map[string]any{}
	for name, v := range others {
		if v != nil {
			top[name] = v
		}
	}
	to := top
	switch {
	case has("x") && len(inputs) > 0 && inputs[0].name == "0":
		var x []any
		for _, m := range inputs {
			x = append(x, m.value)
		}
		top["x"] = x
		return top, nil
	case has("features"):
		to = map[string]any{}
		top["features"] = to
	}
	for _, m := range inputs {
		put(to, m.name, plainly(m.value), to["features"] == nil && has(m.name))
	}
	for name, v := range to {
		to[name] = lists(v)
	}
	return top, nil
}

// put sets the value at a path. If whole is true, the path is the name of a field.
func put(to map[string]any, path string, v any, whole bool) {
	name, rest, nested := strings.Cut(path, ".")
	if !nested || whole {
		to[path] = v
		return
	}
	inner, ok := to[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		to[name] = inner
	}
	put(inner, rest, v, false)
}

// plainly returns a value with maps in place of ordered objects.
func plainly(v any) any {
	switch v := v.(type) {
	case ordered:
		m := map[string]any{}
		for _, x := range v {
			m[x.name] = plainly(x.value)
		}
		return m
	case []any:
		for i := range v {
			v[i] = plainly(v[i])
		}
	}
	return v
}

// lists turns an object with the members 0, 1, … into a list.
func lists(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	list := make([]any, len(m))
	for name, x := range m {
		m[name] = lists(x)
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(m) && list != nil {
			list[i] = m[name]
		} else {
			list = nil
		}
	}
	if len(list) == 0 {
		return m
	}
	return list
}

var avroName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// deriveAvro returns a schema for records with the same fields as an example.
func deriveAvro(example []byte, r Roles) (string, error) {
	inputs, err := fieldsOf(example, r)
	if err != nil {
		return "", err
	}
	type field struct {
		Name    string `json:"name"`
		Type    any    `json:"type"`
		Default any    `json:"default"`
	}
	var fields []field
	for _, m := range inputs {
		if !avroName.MatchString(m.name) {
			return "", fmt.Errorf("%.40q is not the name of a field in Avro: register a schema, or name it in input.schema", m.name)
		}
		t := "string"
		switch m.value.(type) {
		case json.Number, nil:
			t = "double"
		case bool:
			t = "boolean"
		case ordered, []any:
			return "", fmt.Errorf("%s is an object or a list: register a schema, or name it in input.schema", m.name)
		}
		fields = append(fields, field{m.name, []string{"null", t}, nil})
	}
	text, err := json.Marshal(map[string]any{"type": "record", "name": "Example", "namespace": "accrete", "fields": fields})
	return string(text), err
}
