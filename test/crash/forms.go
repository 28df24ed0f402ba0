package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/bufbuild/protocompile"
	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr/srfake"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// forms reads predictions that are not in JSON as a consumer would that knows a registry and
// nothing else: by the schema whose id a value begins with.
type forms struct {
	registry *srfake.Registry
	readers  map[uint32]func([]byte) (map[string]any, error)
	subjects map[string]uint32 // the newest schema
}

// startForms starts a registry, if predictions need one.
func (w *world) startForms() (end func()) {
	if w.form == "json" {
		return func() {}
	}
	w.forms = forms{registry: srfake.New(), readers: map[uint32]func([]byte) (map[string]any, error){}, subjects: map[string]uint32{}}
	return w.forms.registry.Close
}

// formOutput returns the options of the output for predictions that are not in JSON.
func (w *world) formOutput() string {
	if w.form == "json" {
		return ""
	}
	return fmt.Sprintf(", format: %s, registry: {url: %q}", w.form, w.forms.registry.URL())
}

// asJSON returns the value of a prediction in a topic, which has to be of the form of this run,
// and of the schema that is registered for the topic.
func (w *world) asJSON(ctx context.Context, topic, contentType string, value []byte) ([]byte, error) {
	f := &w.forms
	switch {
	case w.form == "json":
		return value, nil
	case contentType != "application/"+w.form || len(value) < 5 || value[0] != 0:
		return nil, fmt.Errorf("%s: a prediction of type %q: %q", topic, contentType, value)
	}
	id := binary.BigEndian.Uint32(value[1:])
	if f.subjects[topic] == 0 {
		var newest struct{ ID uint32 }
		if err := f.get(ctx, "/subjects/"+topic+"-value/versions/latest", &newest); err != nil {
			return nil, err
		}
		f.subjects[topic] = newest.ID
	}
	if id != f.subjects[topic] {
		return nil, fmt.Errorf("%s: a prediction with the schema %d, registered is %d", topic, id, f.subjects[topic])
	}
	if f.readers[id] == nil {
		var schema struct{ Schema string }
		if err := f.get(ctx, fmt.Sprintf("/schemas/ids/%d", id), &schema); err != nil {
			return nil, err
		}
		compile := map[string]func(context.Context, string) (func([]byte) (map[string]any, error), error){"avro": avroReader, "protobuf": protobufReader}[w.form]
		var err error
		if f.readers[id], err = compile(ctx, schema.Schema); err != nil {
			return nil, err
		}
	}
	members, err := f.readers[id](value[5:])
	if err != nil {
		return nil, fmt.Errorf("%s: a prediction %q: %w", topic, value, err)
	}
	return json.Marshal(members)
}

// get reads an answer of the registry.
func (f *forms) get(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.registry.URL()+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("registry: %s: %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

func avroReader(_ context.Context, text string) (func([]byte) (map[string]any, error), error) {
	schema, err := avro.Parse(text)
	if err != nil {
		return nil, err
	}
	return func(value []byte) (map[string]any, error) {
		var all map[string]any
		if rest, err := schema.Decode(value, &all); err != nil || len(rest) > 0 {
			return nil, fmt.Errorf("%d bytes are left: %w", len(rest), err)
		}
		for name, v := range all {
			if v == nil && name != "prediction" {
				delete(all, name)
			}
		}
		return all, nil
	}, nil
}

// oneofs are the fields of a prediction in Protocol Buffers that have another name in JSON.
var oneofs = map[protoreflect.Name]string{"class": "prediction", "number": "prediction", "flagged": "prediction", "label_class": "label", "label_number": "label"}

func protobufReader(ctx context.Context, text string) (func([]byte) (map[string]any, error), error) {
	const name = "prediction.proto"
	c := protocompile.Compiler{Resolver: &protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(map[string]string{name: text})}}
	files, err := c.Compile(ctx, name)
	if err != nil {
		return nil, err
	}
	message := files[0].Messages().Get(0)
	return func(value []byte) (map[string]any, error) {
		m := dynamicpb.NewMessage(message)
		if value[0] != 0 { // the path to the first message
			return nil, fmt.Errorf("of message %d", value[0])
		}
		if err := proto.Unmarshal(value[1:], m); err != nil || len(m.GetUnknown()) > 0 {
			return nil, fmt.Errorf("unknown fields %x: %w", m.GetUnknown(), err)
		}
		all := map[string]any{"prediction": nil}
		for i := range message.Fields().Len() {
			f := message.Fields().Get(i)
			if !m.Has(f) && (f.HasPresence() || f.IsMap() || f.IsList()) {
				continue
			}
			name, ok := oneofs[f.Name()]
			if !ok {
				name = string(f.Name())
			}
			v := m.Get(f)
			if all[name] = v.Interface(); f.IsMap() {
				members := map[string]any{}
				v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
					members[k.String()] = v.Interface()
					return true
				})
				all[name] = members
			}
		}
		return all, nil
	}, nil
}
