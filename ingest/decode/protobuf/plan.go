// Package protobuf reads the binary encoding of Protocol Buffers as the leaves of a record.
// A message type is compiled once, to a plan; reading a record allocates nothing.
package protobuf

import (
	"encoding/base64"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/accrete-ml/accrete/ingest/decode/leaf"
)

// Plan reads the messages of one type. It must not be used concurrently.
type Plan struct {
	root   *message
	form   leaf.Form
	most   int
	absent []leaf.Leaf // the values of an empty message

	serial int
	out    []leaf.Leaf
	names  []byte // paths of the values of maps
	text   []byte // digits of numbers that a float64 cannot represent
}

// message is a message in a record, at one path.
type message struct {
	fields map[int32]*field
	few    []*field // fields with numbers below few
	values []*field // scalars with a fixed leaf
	serial int      // serial number of the last record that had the message
}

// few bounds the numbers of fields that are looked up without a map.
const few = 128

// field is a field of a message.
type field struct {
	kind    protoreflect.Kind
	special string // a well-known type that is a scalar
	name    []byte
	role    leaf.Role
	target  int16
	at      int       // index of its leaf, -1: none
	zero    leaf.Leaf // in a message that lacks it
	inside  *message
	list    bool
	entry   *field // values of a map, whose keys are texts or integers
	key     protoreflect.Kind
	whole   bool // an object or a list that is one leaf
	names   [][]byte
	symbols map[int32][]byte
	count   int // elements of a list in this record
	serial  int
}

// Descriptor returns a message of a schema. text is a FileDescriptorSet in base64, whose last file
// is the schema. path gives the indices of the message; nil means the first message.
func Descriptor(text string, path []int) (protoreflect.MessageDescriptor, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("the schema cannot be compiled")
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(b, &set); err != nil {
		return nil, err
	}
	if len(set.File) == 0 {
		return nil, errors.New("there is no file in the set")
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return nil, err
	}
	file, err := files.FindFileByPath(set.File[len(set.File)-1].GetName())
	if err != nil {
		return nil, err
	}
	if len(path) == 0 {
		path = []int{0}
	}
	messages := file.Messages()
	var m protoreflect.MessageDescriptor
	for _, i := range path {
		if i < 0 || i >= messages.Len() {
			return nil, fmt.Errorf("the schema has no message with the index %v", path)
		}
		m = messages.Get(i)
		messages = m.Messages()
	}
	return m, nil
}

// Compile returns the plan of a message in the writer's schema. If reader is not empty, the plan is
// that of the first message in the reader's schema instead, which determines the names of fields.
func Compile(writer, reader string, path []int, n leaf.Names) (*Plan, error) {
	if reader != "" {
		writer, path = reader, nil
	}
	m, err := Descriptor(writer, path)
	if err != nil {
		return nil, fmt.Errorf("the schema is invalid: %w", err)
	}
	var fields []leaf.Field
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		object := f.IsMap() || f.Message() != nil && special[f.Message().FullName()] == "" && !f.IsList()
		fields = append(fields, leaf.Field{Name: string(f.Name()), Object: object, List: f.IsList()})
	}
	c := &compiler{names: n, form: leaf.FormOf(fields, n)}
	p := &Plan{most: n.Most, form: c.form}
	if p.root, err = c.message(m, "", 0, true); err != nil {
		return nil, err
	}
	p.absent = c.leaves
	for _, f := range p.root.values {
		p.absent[f.at] = f.zero
	}
	return p, nil
}

// Nested reports whether the inputs are in a list x or an object features.
func (p *Plan) Nested() bool { return p.form.Nested() }

// List reports whether the inputs are in a list x.
func (p *Plan) List() bool { return p.form.X >= 0 }

// special are the well-known types that are scalars.
var special = map[protoreflect.FullName]string{
	"google.protobuf.Timestamp": "time", "google.protobuf.Duration": "duration",
	"google.protobuf.DoubleValue": "wrapper", "google.protobuf.FloatValue": "wrapper",
	"google.protobuf.Int64Value": "wrapper", "google.protobuf.UInt64Value": "wrapper",
	"google.protobuf.Int32Value": "wrapper", "google.protobuf.UInt32Value": "wrapper",
	"google.protobuf.BoolValue": "wrapper", "google.protobuf.StringValue": "wrapper", "google.protobuf.BytesValue": "wrapper",
}

type compiler struct {
	names    leaf.Names
	form     leaf.Form
	leaves   []leaf.Leaf
	stack    []protoreflect.FullName
	messages int
}

// mostMessages bounds the messages in a plan. A schema whose types each have two fields of the next
// one doubles their number with every type, even if none of them has a scalar.
const mostMessages = 1 << 16

var errMany = errors.New("the schema has too many fields")

// message compiles a message at a path. Its fields are depth levels down.
func (c *compiler) message(m protoreflect.MessageDescriptor, path string, depth int, top bool) (*message, error) {
	if c.messages++; c.messages > mostMessages {
		return nil, errMany
	}
	c.stack = append(c.stack, m.FullName())
	defer func() { c.stack = c.stack[:len(c.stack)-1] }()
	out := &message{fields: map[int32]*field{}, few: make([]*field, few)}
	for i := range m.Fields().Len() {
		d := m.Fields().Get(i)
		name, role, target := string(d.Name()), leaf.Input, int16(0)
		if top {
			role, target = c.form.RoleOf(i, name)
		}
		at := name
		if path != "" {
			at = path + "." + name
		}
		f := &field{kind: d.Kind(), name: []byte(at), role: role, target: target, at: -1, list: d.IsList()}
		prefixed := !top || i != c.form.Features && i != c.form.X
		if err := c.field(f, d, at, depth, prefixed, out); err != nil {
			return nil, err
		}
		if n := int32(d.Number()); n < few {
			out.few[n] = f
		} else {
			out.fields[n] = f
		}
	}
	if len(c.leaves) > c.names.Most {
		return nil, errMany
	}
	return out, nil
}

// field compiles a field of a message.
func (c *compiler) field(f *field, d protoreflect.FieldDescriptor, path string, depth int, prefixed bool, in *message) error {
	if d.Enum() != nil {
		f.symbols = map[int32][]byte{}
		for i := range d.Enum().Values().Len() {
			v := d.Enum().Values().Get(i)
			f.symbols[int32(v.Number())] = []byte(v.Name())
		}
	}
	if d.Message() != nil {
		f.special = special[d.Message().FullName()]
		if f.special == "wrapper" {
			f.kind = d.Message().Fields().Get(0).Kind()
		}
	}
	deep := prefixed && (depth >= c.names.Depth || c.names.Whole(path))
	composite := d.IsMap() || d.IsList() || d.Message() != nil && f.special == ""
	switch {
	case f.role == leaf.Other, composite && f.role != leaf.Input && f.role != leaf.Index:
		f.whole = composite
		c.place(f, leaf.Leaf{}, in)
	case composite && deep, d.Kind() == protoreflect.GroupKind,
		d.IsList() && d.Message() != nil && f.special == "",
		!d.IsMap() && !d.IsList() && f.special == "" && d.Message() != nil && c.open(d.Message().FullName()):
		f.whole = true
		c.place(f, leaf.Leaf{}, in)
	case d.IsMap():
		v := d.MapValue()
		f.key = d.MapKey().Kind()
		f.entry = &field{kind: v.Kind(), at: -1}
		if !prefixed {
			f.name = nil
		}
		if v.Message() != nil {
			f.entry.special = special[v.Message().FullName()]
			f.entry.whole = f.entry.special == ""
		}
		if v.Enum() != nil {
			return c.field(f.entry, v, path, depth, true, &message{})
		}
	case d.IsList():
	case d.Message() != nil && f.special == "":
		inner, below := path, depth+1
		if !prefixed {
			inner, below = "", 0
		}
		m, err := c.message(d.Message(), inner, below, false)
		if err != nil {
			return err
		}
		f.inside = m
	default:
		zero := leaf.Leaf{}
		if !d.HasPresence() {
			zero = zeroOf(f, d)
		}
		c.place(f, zero, in)
	}
	return nil
}

func (c *compiler) open(name protoreflect.FullName) bool {
	for _, n := range c.stack {
		if n == name {
			return true
		}
	}
	return false
}

// zeroOf returns the value of a field without presence that a message lacks. An empty text counts
// as missing.
func zeroOf(f *field, d protoreflect.FieldDescriptor) leaf.Leaf {
	switch d.Kind() {
	case protoreflect.StringKind, protoreflect.BytesKind:
		return leaf.Leaf{}
	case protoreflect.BoolKind:
		return leaf.Leaf{Kind: leaf.Boolean, Text: no}
	case protoreflect.EnumKind:
		return leaf.Leaf{Kind: leaf.Text, Text: f.symbols[0]}
	}
	return leaf.Leaf{Kind: leaf.Number}
}

// place assigns a fixed leaf to a field.
func (c *compiler) place(f *field, zero leaf.Leaf, in *message) {
	zero.Name, zero.Role, zero.Target = f.name, f.role, f.target
	f.zero, f.at = zero, len(c.leaves)
	zero.Kind, zero.Text = leaf.Null, nil
	c.leaves = append(c.leaves, zero)
	in.values = append(in.values, f)
}
