package contract

import (
	"bytes"
	"encoding/json"

	"github.com/goccy/go-yaml"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// with returns o with another member at its end.
func (o object) with(name string, value any) object { return append(o, member{name, value}) }

func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := plain(m.name)
		if err != nil {
			return nil, err
		}
		value, err := plain(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// plain returns v as JSON without the escapes that HTML needs.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// text returns o in lines, as JSON or as YAML.
func (o object) text(asYAML bool) (string, error) {
	compact, err := plain(o)
	if err != nil {
		return "", err
	}
	if asYAML {
		b, err := yaml.JSONToYAML(compact)
		return string(bytes.TrimSuffix(b, []byte("\n"))), err
	}
	var b bytes.Buffer
	err = json.Indent(&b, compact, "", "  ")
	return b.String(), err
}

// typed returns the schema of a simple value that has one of the types.
func typed(types ...string) object {
	if len(types) == 1 {
		return object{{"type", types[0]}}
	}
	return object{{"type", types}}
}

func described(o object, description string) object { return o.with("description", description) }

// list returns the schema of an array of n items.
func list(of object, n int) object {
	return object{{"type", "array"}, {"items", of}, {"minItems", n}, {"maxItems", n}}
}
