// Package encode converts examples from JSON records to the other record formats, so that a file
// can be fed to a topic in the format of the topic.
package encode

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"github.com/accrete-ml/accrete/ingest"
)

// A Writer writes examples in one format.
type Writer interface {
	// Write returns the value of a record, and the headers that it needs.
	Write(example []byte) (value []byte, headers []ingest.Header, err error)
}

// Roles names the fields that are not inputs. An empty name means that there is no such field.
type Roles struct {
	Labels      []string // if Several is false, the label of an example is the first of these fields that it has
	Several     bool
	Weight, Key string
}

// New returns the Writer of a format that needs no schema: json, cloudevents, vw or float32.
func New(format string, r Roles) (Writer, error) {
	switch format {
	case "", "json":
		return asIs{}, nil
	case "cloudevents":
		return events{}, nil
	case "vw":
		return vowpal{r}, nil
	case "float32":
		return float32s{r}, nil
	}
	return nil, fmt.Errorf("records of the format %s need a schema", format)
}

type asIs struct{}

func (asIs) Write(example []byte) ([]byte, []ingest.Header, error) { return example, nil, nil }

// events writes an example as the data of a CloudEvent.
type events struct{}

func (events) Write(example []byte) ([]byte, []ingest.Header, error) {
	id := sha256.Sum256(example)
	b := fmt.Appendf(nil, `{"specversion":"1.0","id":"%x","source":"/accrete/feed","type":"example","datacontenttype":"application/json","data":`, id[:16])
	return append(append(b, example...), '}'), []ingest.Header{{Key: "content-type", Value: []byte("application/cloudevents+json")}}, nil
}

// member is a field of an example: a string, a json.Number, a bool, nil, a list or an object.
type member struct {
	name  string
	value any
}

// members returns the inputs of an example in order, and the fields with a role.
func members(example []byte, r Roles) (inputs []member, others map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(example))
	d.UseNumber()
	top, err := object(d)
	if err != nil {
		return nil, nil, err
	}
	others = map[string]any{}
	roles := map[string]bool{r.Weight: true, r.Key: true}
	for _, name := range r.Labels {
		roles[name] = true
	}
	for _, m := range top {
		x, list := m.value.([]any)
		nested, object := m.value.(ordered)
		switch {
		case m.name == "x" && list:
			for i, v := range x {
				inputs = append(inputs, member{fmt.Sprint(i), v})
			}
		case m.name == "features" && object:
			inputs = append(inputs, nested...)
		case roles[m.name]:
			others[m.name] = m.value
		default:
			inputs = append(inputs, m)
		}
	}
	return inputs, others, nil
}

// ordered is a JSON object that keeps the order of its members.
type ordered []member

// object reads an object.
func object(d *json.Decoder) (all ordered, err error) {
	v, err := read(d)
	if err != nil {
		return nil, err
	}
	all, ok := v.(ordered)
	if !ok {
		return nil, fmt.Errorf("the example is no object")
	}
	return all, nil
}

func read(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		all := ordered{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := read(d)
			if err != nil {
				return nil, err
			}
			all = append(all, member{name.(string), v})
		}
		_, err := d.Token()
		return all, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := read(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return t, nil
}

// label returns the label of an example, or nil if it has none.
func (r Roles) label(others map[string]any) any {
	for _, name := range r.Labels {
		if v := others[name]; v != nil {
			return v
		}
	}
	return nil
}
