package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The versions of the format and of its operators, and the types of tensors. See
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
const (
	irVersion = 8
	opset     = 17

	tensorFloat32 = 1
	tensorInt64   = 7
	tensorString  = 8
	tensorBool    = 9
	tensorFloat64 = 11

	attributeInt = 2
)

// value is the name of a tensor in a graph.
type value string

// graph collects the nodes, constants, inputs and outputs of a GraphProto.
type graph struct {
	nodes, constants, ends []byte
	n                      int
}

func varint(b []byte, field protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

func text(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func message(b []byte, field protowire.Number, inner []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), inner)
}

func (g *graph) name(kind string) value {
	g.n++
	return value(fmt.Sprintf("%s%d", kind, g.n))
}

// constant adds a TensorProto of a type and a shape. data is the encoded field with its values.
func (g *graph) constant(typ int64, shape []int, data []byte) value {
	name := g.name("c")
	var t []byte
	for _, d := range shape {
		t = varint(t, 1, int64(d))
	}
	t = append(varint(t, 2, typ), data...)
	g.constants = message(g.constants, 5, text(t, 8, string(name)))
	return name
}

// doubles returns a constant of float64 in row-major order; without a shape it is a scalar.
func (g *graph) doubles(v []float64, shape ...int) value {
	raw := make([]byte, 0, 8*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
	}
	return g.constant(tensorFloat64, shape, message(nil, 9, raw))
}

func (g *graph) double(v float64) value { return g.doubles([]float64{v}) }

// row returns a constant of shape 1 × len(v), which operators apply to each row.
func (g *graph) row(v []float64) value { return g.doubles(v, 1, len(v)) }

func (g *graph) integers(v ...int64) value {
	var raw []byte
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
	}
	return g.constant(tensorInt64, []int{len(v)}, message(nil, 9, raw))
}

// scalar returns an integer without a shape.
func (g *graph) scalar(v int64) value {
	return g.constant(tensorInt64, nil, message(nil, 9, binary.LittleEndian.AppendUint64(nil, uint64(v))))
}

func (g *graph) texts(v []string) value {
	var data []byte
	for _, s := range v {
		data = text(data, 6, s)
	}
	return g.constant(tensorString, []int{len(v)}, data)
}

// attribute is an integer attribute of a node.
type attribute struct {
	name string
	v    int64
}

func axis(i int64) []attribute { return []attribute{{"axis", i}} }

// reduced returns the attributes of an operator that removes an axis.
func reduced(i int64) []attribute { return append(axis(i), attribute{"keepdims", 0}) }

// op adds a node without attributes and returns its output.
func (g *graph) op(op string, inputs ...value) value { return g.with(nil, op, inputs...) }

// with adds a node with attributes and returns its output.
func (g *graph) with(attributes []attribute, op string, inputs ...value) value {
	out := g.name("v")
	g.node(attributes, op, []value{out}, inputs...)
	return out
}

// node adds a node with these outputs.
func (g *graph) node(attributes []attribute, op string, outputs []value, inputs ...value) {
	var n []byte
	for _, in := range inputs {
		n = text(n, 1, string(in))
	}
	for _, out := range outputs {
		n = text(n, 2, string(out))
	}
	n = text(n, 4, op)
	for _, a := range attributes {
		n = message(n, 5, varint(varint(text(nil, 1, a.name), 3, a.v), 20, attributeInt))
	}
	g.nodes = message(g.nodes, 1, n)
}

func (g *graph) cast(v value, typ int64) value {
	return g.with([]attribute{{"to", typ}}, "Cast", v)
}

// input and output declare a tensor with any number of rows, each of the given shape.
func (g *graph) input(name value, typ int64, shape ...int) value {
	return g.end(11, name, typ, shape)
}

func (g *graph) output(name string, v value, typ int64, shape ...int) {
	g.node(nil, "Identity", []value{value(name)}, v)
	g.end(12, value(name), typ, shape)
}

func (g *graph) end(field protowire.Number, name value, typ int64, shape []int) value {
	dims := message(nil, 1, text(nil, 2, "rows"))
	for _, d := range shape {
		dims = message(dims, 1, varint(nil, 1, int64(d)))
	}
	tensor := message(nil, 1, message(varint(nil, 1, typ), 2, dims))
	g.ends = message(g.ends, field, message(text(nil, 1, string(name)), 2, tensor))
	return name
}

// file returns the ModelProto of the graph. about holds its metadata as pairs of name and text.
func (g *graph) file(producer string, about [][2]string) []byte {
	inner := append(text(g.nodes, 2, producer), append(g.constants, g.ends...)...)
	b := message(text(varint(nil, 1, irVersion), 2, producer), 7, inner)
	b = message(b, 8, varint(nil, 2, opset))
	for _, p := range about {
		b = message(b, 14, text(text(nil, 1, p[0]), 2, p[1]))
	}
	return b
}
