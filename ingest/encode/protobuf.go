package encode

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/accrete-ml/accrete/ingest/decode/protobuf"
	"github.com/accrete-ml/accrete/ingest/registry"
)

// protobufWriter writes the first message of a schema.
type protobufWriter struct {
	Roles
	message protoreflect.MessageDescriptor
}

// newProtobuf accepts a schema in the language of Protocol Buffers, or in the format of a
// decode.Writer.
func newProtobuf(text string, r Roles) (schemaWriter, error) {
	m, err := protobuf.Descriptor(text, nil)
	if err != nil {
		set, late := registry.Proto(context.Background(), text, nil)
		if late != nil {
			return nil, fmt.Errorf("the schema is invalid: %w", late)
		}
		if m, err = protobuf.Descriptor(set, nil); err != nil {
			return nil, err
		}
	}
	return &protobufWriter{r, m}, nil
}

func (w *protobufWriter) index() []byte { return []byte{0} } // the first message

func (w *protobufWriter) encode(example []byte) ([]byte, error) {
	fields := w.message.Fields()
	record, err := shaped(example, w.Roles, func(name string) bool { return fields.ByName(protoreflect.Name(name)) != nil })
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	m := dynamicpb.NewMessage(w.message)
	if err := protojson.Unmarshal(text, m); err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// deriveProtobuf returns a schema for records with the same fields as an example.
func deriveProtobuf(example []byte, r Roles) (string, error) {
	inputs, err := fieldsOf(example, r)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("syntax = \"proto3\";\npackage accrete;\n\nmessage Example {\n")
	for i, m := range inputs {
		if !avroName.MatchString(m.name) {
			return "", fmt.Errorf("%.40q is not the name of a field in Protobuf: register a schema, or name it in input.schema", m.name)
		}
		t := "string"
		switch m.value.(type) {
		case json.Number, nil:
			t = "double"
		case bool:
			t = "bool"
		case ordered, []any:
			return "", fmt.Errorf("%s is an object or a list: register a schema, or name it in input.schema", m.name)
		}
		fmt.Fprintf(&b, "  optional %s %s = %d;\n", t, m.name, i+1)
	}
	b.WriteString("}\n")
	return b.String(), nil
}

// fieldsOf returns the inputs of an example, followed by its fields with a role.
func fieldsOf(example []byte, r Roles) ([]member, error) {
	inputs, others, err := members(example, r)
	for _, name := range append(append([]string{}, r.Labels...), r.Weight, r.Key) {
		if v, ok := others[name]; ok {
			inputs = append(inputs, member{name, v})
		}
	}
	return inputs, err
}

// jsonWriter writes examples as they are.
type jsonWriter struct{}

func (jsonWriter) encode(example []byte) ([]byte, error) { return example, nil }
func (jsonWriter) index() []byte                         { return nil }

func newJSONSchema(string, Roles) (schemaWriter, error) { return jsonWriter{}, nil }

// deriveJSONSchema returns a schema that every example satisfies.
func deriveJSONSchema([]byte, Roles) (string, error) {
	return `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Example","type":"object"}`, nil
}
