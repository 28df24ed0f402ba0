package encode

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/registry"
)

// schemaWriter encodes examples with a schema.
type schemaWriter interface {
	encode(example []byte) ([]byte, error)
	index() []byte // path of the message in the schema, for the framing of a registry
}

// frameWriter prefixes each value with the id of its schema.
type frameWriter struct {
	schemaWriter
	head []byte // nil: the values are not framed
}

func (f frameWriter) Write(example []byte) ([]byte, []ingest.Header, error) {
	value, err := f.encode(example)
	if err != nil || f.head == nil {
		return value, nil, err
	}
	return append(f.head[:len(f.head):len(f.head)], value...), nil, nil
}

// kinds lists the formats with a schema: the type of such schemas in a registry, how to write
// with a schema, and how to derive one from an example.
var kinds = map[string]struct {
	typ    string
	with   func(schema string, r Roles) (schemaWriter, error)
	derive func(example []byte, r Roles) (string, error)
}{
	"avro":        {"AVRO", newAvro, deriveAvro},
	"protobuf":    {"PROTOBUF", newProtobuf, deriveProtobuf},
	"json-schema": {"JSON", newJSONSchema, deriveJSONSchema},
}

// ErrUnregistered reports that the registry has not taken the schema of the first example. It is no
// error of this example.
var ErrUnregistered = errors.New("cannot register the schema")

// WithSchema returns the Writer of a format with a schema. The schema is text or, if that is
// empty, the newest schema of the subject in the registry. If the subject does not exist, a
// schema is derived from the first example and registered. Without a client, values are not
// framed.
func WithSchema(ctx context.Context, format, text string, r Roles, client *registry.Client, subject string) (Writer, error) {
	kind, ok := kinds[format]
	if !ok {
		return New(format, r)
	}
	if client == nil && format == "json-schema" {
		return nil, errors.New("records of the format json-schema name a schema of a registry: set input.registry.url")
	}
	if client == nil {
		w, err := kind.with(text, r)
		return frameWriter{w, nil}, err
	}
	if text != "" {
		return registered(ctx, kind.typ, kind.with, text, r, client, subject)
	}
	latest, err := client.Latest(ctx, subject)
	switch {
	case errors.Is(err, registry.ErrUnknown):
		return &derived{roles: r, make: func(example []byte) (Writer, error) {
			text, err := kind.derive(example, r)
			if err != nil {
				return nil, err
			}
			w, err := registered(ctx, kind.typ, kind.with, text, r, client, subject)
			if err != nil {
				return nil, fmt.Errorf("%w of %s: %w", ErrUnregistered, subject, err)
			}
			return w, nil
		}}, nil
	case err != nil:
		return nil, err
	case latest.Type != kind.typ:
		return nil, fmt.Errorf("the newest schema of %s is of type %s, want %s", subject, latest.Type, kind.typ)
	}
	w, err := kind.with(latest.Text, r)
	if err != nil {
		return nil, err
	}
	var id uint32
	if _, err := fmt.Sscan(latest.ID, &id); err != nil {
		return nil, err
	}
	return frameWriter{w, head(id, w)}, nil
}

func registered(ctx context.Context, typ string, with func(string, Roles) (schemaWriter, error), text string, r Roles, client *registry.Client, subject string) (Writer, error) {
	w, err := with(text, r)
	if err != nil {
		return nil, err
	}
	id, err := client.Register(ctx, subject, typ, text)
	return frameWriter{w, head(id, w)}, err
}

// head returns the framing that names a schema.
func head(id uint32, w schemaWriter) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, id), w.index()...)
}

// derived is a Writer that is made from the first example.
type derived struct {
	roles Roles
	make  func(example []byte) (Writer, error)
	Writer
}

func (d *derived) Write(example []byte) ([]byte, []ingest.Header, error) {
	if d.Writer == nil {
		var err error
		if d.Writer, err = d.make(example); err != nil {
			return nil, nil, err
		}
	}
	return d.Writer.Write(example)
}
