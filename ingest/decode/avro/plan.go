// Package avro reads the binary encoding of Avro (specification 1.12) as the leaves of a
// record. A schema is compiled once, to a plan; reading a record allocates nothing.
package avro

import (
	"errors"
	"fmt"
	"strconv"

	schema "github.com/twmb/avro"

	"github.com/accrete-ml/accrete/ingest/decode/leaf"
)

// Plan reads the records of one writer's schema. It must not be used concurrently.
type Plan struct {
	root *node
	form leaf.Form
	most int

	b       []byte // the current record
	i       int
	items   int // elements of its lists and maps so far
	records int // records inside it so far
	out     []leaf.Leaf
	prefix  []byte // path of the current element of a list or an object
	names   []byte // paths of values inside such elements
	text    []byte // digits of numbers that a float64 cannot represent
}

type op byte

const (
	opNull op = iota
	opBoolean
	opInteger
	opFloat
	opDouble
	opText
	opEnum
	opFixedText // hexadecimal
	opDecimal
	opFixedDecimal
	opTime
	opTimeOfDay
	opFixed
	opRecord
	opArray
	opMap
	opUnion
	opConstant // the default of a field that the writer does not have
)

// node is a value in the schema.
type node struct {
	op       op
	skip     bool // read without leaves
	whole    bool // an object or a list that is one leaf
	role     leaf.Role
	target   int16
	name     []byte
	size     int   // of a fixed
	scale    int   // of a decimal
	per      int64 // units in a second, of a time
	symbols  [][]byte
	children []*node
	value    leaf.Leaf // of a constant
}

// Compile returns the plan of a writer's schema. If reader is not empty, records are resolved to
// the reader's schema.
func Compile(writer, reader string, n leaf.Names) (*Plan, error) {
	w, err := schema.Parse(writer)
	if err != nil {
		return nil, fmt.Errorf("the schema is invalid: %w", err)
	}
	var as *schema.SchemaNode
	if reader != "" {
		r, err := schema.Parse(reader)
		if err != nil {
			return nil, fmt.Errorf("input.schema is invalid: %w", err)
		}
		if err := schema.CheckCompatibility(w, r); err != nil {
			return nil, fmt.Errorf("it cannot be read with input.schema: %w", err)
		}
		as = r.Root()
	}
	root := w.Root()
	if root.Type != "record" {
		return nil, fmt.Errorf("the schema is that of %s, want a record", root.Type)
	}
	c := &compiler{names: n, types: map[string]*schema.SchemaNode{}, as: map[string]*schema.SchemaNode{}, open: map[string]*node{}}
	c.define(c.types, root)
	c.define(c.as, as)
	p := &Plan{most: n.Most}
	if p.root, p.form, err = c.top(root, as); err != nil {
		return nil, err
	}
	return p, nil
}

// compiler makes nodes. It does not descend into types that contain themselves.
type compiler struct {
	names  leaf.Names
	types  map[string]*schema.SchemaNode // named types of the writer
	as     map[string]*schema.SchemaNode // and of the reader
	stack  []string                      // names of the enclosing types
	open   map[string]*node              // skipped types by name
	leaves int
	inner  int // records, lists and maps
}

func full(n *schema.SchemaNode) string {
	if n.Namespace != "" {
		return n.Namespace + "." + n.Name
	}
	return n.Name
}

// define notes the named types in n.
func (c *compiler) define(types map[string]*schema.SchemaNode, n *schema.SchemaNode) {
	if n == nil {
		return
	}
	if n.Name != "" {
		types[full(n)] = n
	}
	for i := range n.Fields {
		c.define(types, &n.Fields[i].Type)
	}
	for i := range n.Branches {
		c.define(types, &n.Branches[i])
	}
	c.define(types, n.Items)
	c.define(types, n.Values)
}

// found returns the definition to which n refers, or n itself.
func found(types map[string]*schema.SchemaNode, n *schema.SchemaNode) *schema.SchemaNode {
	if n == nil {
		return nil
	}
	if t, ok := types[n.Type]; ok {
		return t
	}
	return n
}

var errMany = errors.New("the schema has too many fields")

// mostEmpty bounds the records inside others that neither have a leaf nor take a byte. A schema
// whose types each have two fields of the next one doubles their number with every type.
const mostEmpty = 1 << 16

// top compiles the record at the top.
func (c *compiler) top(w, r *schema.SchemaNode) (*node, leaf.Form, error) {
	var fields []leaf.Field
	matched := c.match(w, r)
	for i := range matched {
		m := &matched[i]
		t := found(c.types, m.writer)
		if m.writer == nil {
			t = found(c.as, m.reader)
		}
		if t = only(c, t); t == nil {
			t = &schema.SchemaNode{}
		}
		fields = append(fields, leaf.Field{Name: m.name, Object: t.Type == "record" || t.Type == "map", List: t.Type == "array"})
	}
	form := leaf.FormOf(fields, c.names)
	root := &node{op: opRecord}
	c.stack = append(c.stack, full(w))
	for i, m := range matched {
		role, target := form.RoleOf(i, m.name)
		at := place{role: role, target: target, path: m.name}
		switch {
		case m.skip:
			at.skip = true
		case i == form.Features, i == form.X:
			at.path, at.top = "", true
		}
		child, err := c.field(m, at)
		if err != nil {
			return nil, form, fmt.Errorf("%s: %w", m.name, err)
		}
		root.children = append(root.children, child)
	}
	return root, form, nil
}

// only returns the only type of a union beside null.
func only(c *compiler, n *schema.SchemaNode) *schema.SchemaNode {
	if n == nil || n.Type != "union" {
		return n
	}
	var one *schema.SchemaNode
	for i := range n.Branches {
		if n.Branches[i].Type == "null" {
			continue
		}
		if one != nil {
			return n
		}
		one = found(c.types, &n.Branches[i])
	}
	return one
}

// place is the position of a value in a record.
type place struct {
	path   string
	depth  int // levels above it
	role   leaf.Role
	target int16
	skip   bool
	top    bool // the list x or the object features: its values have no prefix
}

func (p place) below(name string) place {
	p.depth++
	if p.path != "" {
		name = p.path + "." + name
	}
	if p.top {
		p.depth = 0
	}
	p.path, p.top = name, false
	return p
}

// field compiles a field of the writer, or a default of the reader.
func (c *compiler) field(m matched, at place) (*node, error) {
	if m.writer == nil {
		return c.constant(m, at)
	}
	return c.value(m.writer, m.reader, at)
}

// constant is a field that only the reader has.
func (c *compiler) constant(m matched, at place) (*node, error) {
	n := c.leaf(opConstant, at)
	v := leaf.Leaf{Name: n.name, Role: n.role, Target: n.target}
	switch x := m.fallback.(type) {
	case nil:
		v.Kind = leaf.Null
	case bool:
		v.Kind, v.Text = leaf.Boolean, []byte(strconv.FormatBool(x))
	case int32:
		v.Kind, v.Num = leaf.Number, float64(x)
	case int64:
		v.Kind, v.Num = leaf.Number, float64(x)
	case float32:
		v.Kind, v.Num = leaf.Number, float64(x)
	case float64:
		v.Kind, v.Num = leaf.Number, x
	case string:
		v.Kind, v.Text = leaf.Text, []byte(x)
	default:
		return nil, fmt.Errorf("a default of input.schema that is no scalar is not supported")
	}
	n.value = v
	return n, nil
}

// leaf returns a node that is a leaf.
func (c *compiler) leaf(o op, at place) *node {
	c.leaves++
	return &node{op: o, skip: at.skip || at.role == leaf.Other, name: []byte(at.path), role: at.role, target: at.target}
}
