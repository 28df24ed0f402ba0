package avro

import (
	"fmt"
	"slices"

	schema "github.com/twmb/avro"

	"github.com/accrete-ml/accrete/ingest/decode/leaf"
)

// matched is a field of a writer's record with the corresponding field of the reader's record.
type matched struct {
	name           string // the reader's
	writer, reader *schema.SchemaNode
	skip           bool // the reader does not have it
	fallback       any  // of the reader, if the writer does not have it
}

// match returns the fields of the writer's record w in the order of the encoding, followed by the
// fields that only the reader's record r has.
func (c *compiler) match(w, r *schema.SchemaNode) (all []matched) {
	if r == nil {
		for i := range w.Fields {
			all = append(all, matched{name: w.Fields[i].Name, writer: &w.Fields[i].Type})
		}
		return all
	}
	given := map[string]bool{}
	for i := range w.Fields {
		f := &w.Fields[i]
		m := matched{name: f.Name, writer: &f.Type, skip: true}
		for j := range r.Fields {
			g := &r.Fields[j]
			if g.Name == f.Name || slices.Contains(g.Aliases, f.Name) {
				m.name, m.reader, m.skip = g.Name, &g.Type, false
				given[g.Name] = true
				break
			}
		}
		all = append(all, m)
	}
	for j := range r.Fields {
		if g := &r.Fields[j]; !given[g.Name] && g.HasDefault {
			all = append(all, matched{name: g.Name, reader: &g.Type, fallback: g.Default})
		}
	}
	return all
}

// value compiles a value of the type w.
func (c *compiler) value(w, r *schema.SchemaNode, at place) (*node, error) {
	if c.leaves > c.names.Most {
		return nil, errMany
	}
	w, r = found(c.types, w), found(c.as, r)
	if r != nil && r.Type == "union" && w.Type != "union" {
		r = c.branch(w, r)
	}
	if o, ok := scalars[w.Type]; ok && w.LogicalType == "" {
		return c.leaf(o, at), nil
	}
	switch w.Type {
	case "int", "long", "bytes", "string", "float", "double", "boolean", "null":
		return c.logical(w, at), nil
	case "enum":
		n := c.leaf(opEnum, at)
		for _, s := range w.Symbols {
			n.symbols = append(n.symbols, []byte(s))
		}
		return n, nil
	case "fixed":
		return c.logical(w, at), nil
	case "record", "array", "map":
		return c.inside(w, r, at)
	case "union":
		n := c.leaf(opUnion, at)
		for i := range w.Branches {
			b := found(c.types, &w.Branches[i])
			as := r
			if r != nil && r.Type == "union" {
				as = c.branch(b, r)
			}
			child, err := c.value(b, as, at)
			if err != nil {
				return nil, err
			}
			n.children = append(n.children, child)
		}
		return n, nil
	}
	return nil, fmt.Errorf("type %q is not supported", w.Type)
}

// branch returns the branch of the reader's union as which w is read.
func (c *compiler) branch(w, r *schema.SchemaNode) *schema.SchemaNode {
	for i := range r.Branches {
		b := found(c.as, &r.Branches[i])
		if b.Type == w.Type && (w.Name == "" || b.Name == w.Name) {
			return b
		}
	}
	return nil
}

var scalars = map[string]op{"null": opNull, "boolean": opBoolean, "int": opInteger, "long": opInteger, "float": opFloat, "double": opDouble, "string": opText, "bytes": opText}

// logical compiles a type with a logical type. An unknown logical type is ignored.
func (c *compiler) logical(w *schema.SchemaNode, at place) *node {
	integer := w.Type == "int" || w.Type == "long"
	per := map[string]int64{
		"timestamp-millis": 1e3, "timestamp-micros": 1e6, "timestamp-nanos": 1e9,
		"local-timestamp-millis": 1e3, "local-timestamp-micros": 1e6, "local-timestamp-nanos": 1e9,
		"time-millis": 1e3, "time-micros": 1e6,
	}[w.LogicalType]
	switch {
	case integer && w.LogicalType == "date":
		n := c.leaf(opTime, at)
		return n // per 0: days
	case integer && (w.LogicalType == "time-millis" || w.LogicalType == "time-micros"):
		n := c.leaf(opTimeOfDay, at)
		n.per = per
		return n
	case integer && per > 0:
		n := c.leaf(opTime, at)
		n.per = per
		return n
	case w.LogicalType == "decimal" && w.Type == "bytes":
		n := c.leaf(opDecimal, at)
		n.scale = w.Scale
		return n
	case w.Type == "fixed":
		n := c.leaf(opFixed, at)
		n.size, n.scale = w.Size, w.Scale
		if w.LogicalType == "decimal" {
			n.op = opFixedDecimal
		} else if w.LogicalType == "uuid" {
			n.op = opFixedText
		}
		return n
	}
	return c.leaf(scalars[w.Type], at)
}

// inside compiles an object or a list.
func (c *compiler) inside(w, r *schema.SchemaNode, at place) (*node, error) {
	o := map[string]op{"record": opRecord, "array": opArray, "map": opMap}[w.Type]
	role := at.role
	if at.skip || role == leaf.Other {
		return c.skipped(w)
	}
	if !at.top && (role != leaf.Input && role != leaf.Index || at.depth >= c.names.Depth || c.names.Whole(at.path) ||
		w.Type == "record" && slices.Contains(c.stack, full(w)) || role == leaf.Index) {
		n, err := c.skipped(w)
		if err != nil {
			return nil, err
		}
		whole := *n
		whole.whole, whole.name, whole.role, whole.target = true, []byte(at.path), at.role, at.target
		c.leaves++
		return &whole, nil
	}
	if c.inner++; c.inner > mostEmpty+c.names.Most {
		return nil, errMany
	}
	n := &node{op: o, name: []byte(at.path), role: at.role}
	switch w.Type {
	case "record":
		c.stack = append(c.stack, full(w))
		defer func() { c.stack = c.stack[:len(c.stack)-1] }()
		if r != nil && r.Type != "record" {
			r = nil
		}
		for _, m := range c.match(w, r) {
			below := at.below(m.name)
			below.skip = m.skip
			child, err := c.field(m, below)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			n.children = append(n.children, child)
		}
		return n, nil
	case "array", "map":
		items, as := w.Items, (*schema.SchemaNode)(nil)
		if w.Type == "map" {
			items = w.Values
		}
		below := at.below("")
		below.path = "" // names are relative to the element, whose path is known when it is read
		child, err := c.value(items, as, below)
		if err != nil {
			return nil, err
		}
		n.children = []*node{child}
	}
	return n, nil
}

// skipped returns a node that reads past a value. Nodes of named types are shared, because such
// types can contain themselves.
func (c *compiler) skipped(w *schema.SchemaNode) (*node, error) {
	w = found(c.types, w)
	if w.Name != "" {
		if n, ok := c.open[full(w)]; ok {
			return n, nil
		}
	}
	at := place{skip: true}
	n := &node{skip: true}
	if w.Name != "" {
		c.open[full(w)] = n
	}
	add := func(t *schema.SchemaNode) error {
		child, err := c.skipped(t)
		n.children = append(n.children, child)
		return err
	}
	var err error
	switch w.Type {
	case "record":
		n.op = opRecord
		for i := range w.Fields {
			if err = add(&w.Fields[i].Type); err != nil {
				return nil, err
			}
		}
	case "union":
		n.op = opUnion
		for i := range w.Branches {
			if err = add(&w.Branches[i]); err != nil {
				return nil, err
			}
		}
	case "array":
		n.op, err = opArray, add(w.Items)
	case "map":
		n.op, err = opMap, add(w.Values)
	default:
		scalar, err := c.value(w, nil, at)
		if err != nil {
			return nil, err
		}
		*n = *scalar
		n.skip = true
	}
	return n, err
}
