package protobuf

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/accrete-ml/accrete/ingest/decode/leaf"
)

var (
	yes, no = []byte("true"), []byte("false")
	errEnd  = errors.New("it ends early, or is no message")
)

// Read returns the leaves of a record, which are valid until the next call. If a field comes more
// than once, the last value counts, as the encoding specifies.
func (p *Plan) Read(b []byte) ([]leaf.Leaf, error) {
	p.serial++
	p.out, p.names, p.text = append(p.out[:0], p.absent...), p.names[:0], p.text[:0]
	p.root.serial = p.serial
	err := p.message(p.root, b)
	return p.out, err
}

// message reads the fields of a message.
func (p *Plan) message(m *message, b []byte) error {
	if m.serial != p.serial {
		m.serial = p.serial
		for _, f := range m.values {
			p.out[f.at] = f.zero
		}
	}
	for len(b) > 0 {
		var tag uint64
		if b[0] < 0x80 {
			tag, b = uint64(b[0]), b[1:]
		} else {
			var n int
			if tag, n = protowire.ConsumeVarint(b); n < 0 {
				return errEnd
			}
			b = b[n:]
		}
		number, typ := int32(tag>>3), protowire.Type(tag&7)
		if tag>>3 > math.MaxInt32 || number < 1 {
			return errEnd
		}
		var f *field
		if number < few {
			f = m.few[number]
		} else {
			f = m.fields[number]
		}
		if f != nil && f.kind == protoreflect.DoubleKind && typ == protowire.Fixed64Type && f.at >= 0 && f.special == "" && !f.whole {
			v, n := protowire.ConsumeFixed64(b)
			if n < 0 {
				return errEnd
			}
			l := &p.out[f.at]
			l.Kind, l.Num, b = leaf.Number, math.Float64frombits(v), b[n:]
			continue
		}
		n := protowire.ConsumeFieldValue(protowire.Number(number), typ, b)
		if n < 0 {
			return errEnd
		}
		if f != nil {
			if err := p.field(f, typ, b[:n]); err != nil {
				return err
			}
		}
		b = b[n:]
	}
	return nil
}

// field reads the value of a field, whose bytes are b.
func (p *Plan) field(f *field, typ protowire.Type, b []byte) error {
	switch {
	case f.whole:
		kind := leaf.Object
		if f.list {
			kind = leaf.List
		}
		p.out[f.at].Kind = kind
		return nil
	case f.entry != nil:
		return p.entry(f, typ, b)
	case f.inside != nil:
		inner, err := bytesOf(f, typ, b)
		if err != nil {
			return err
		}
		return p.message(f.inside, inner)
	case f.list:
		return p.list(f, typ, b)
	}
	l, err := p.scalar(f, typ, b)
	if err == nil {
		l.Name, l.Role, l.Target = f.name, f.role, f.target
		p.out[f.at] = l
	}
	return err
}

func bytesOf(f *field, typ protowire.Type, b []byte) ([]byte, error) {
	if typ != protowire.BytesType {
		return nil, fmt.Errorf("%s has wire type %d", f.name, typ)
	}
	inner, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return nil, errEnd
	}
	return inner, nil
}

// list reads an element of a list, or several that are packed.
func (p *Plan) list(f *field, typ protowire.Type, b []byte) error {
	if f.serial != p.serial {
		f.serial, f.count = p.serial, 0
	}
	wire := wireType(f)
	if typ != protowire.BytesType || wire == protowire.BytesType {
		return p.element(f, typ, b)
	}
	packed, err := bytesOf(f, typ, b)
	if err != nil {
		return err
	}
	for len(packed) > 0 {
		n := protowire.ConsumeFieldValue(1, wire, packed)
		if n < 0 {
			return errEnd
		}
		if err := p.element(f, wire, packed[:n]); err != nil {
			return err
		}
		packed = packed[n:]
	}
	return nil
}

func (p *Plan) element(f *field, typ protowire.Type, b []byte) error {
	l, err := p.scalar(f, typ, b)
	if err != nil {
		return err
	}
	if len(p.out) > p.most {
		return fmt.Errorf("more than %d values", p.most)
	}
	if l.Role = f.role; f.role != leaf.Index {
		if f.count == len(f.names) {
			name := strconv.AppendInt(append(append([]byte(nil), f.name...), '.'), int64(f.count), 10)
			f.names = append(f.names, name)
		}
		l.Name = f.names[f.count]
	}
	f.count++
	p.out = append(p.out, l)
	return nil
}

// entry reads an entry of a map.
func (p *Plan) entry(f *field, typ protowire.Type, b []byte) error {
	b, err := bytesOf(f, typ, b)
	if err != nil {
		return err
	}
	var value leaf.Leaf
	from := len(p.names)
	if len(f.name) > 0 {
		p.names = append(append(p.names, f.name...), '.')
	}
	key := len(p.names)
	err = eachField(b, func(number protowire.Number, typ protowire.Type, v []byte) (err error) {
		switch number {
		case 1:
			k, err := p.scalar(&field{kind: f.key, name: f.name}, typ, v)
			if err != nil {
				return err
			}
			if p.names = append(p.names[:key], k.Text...); k.Text == nil {
				p.names = strconv.AppendFloat(p.names, k.Num, 'f', -1, 64)
			}
		case 2:
			if f.entry.whole {
				value = leaf.Leaf{Kind: leaf.Object}
			} else if value, err = p.scalar(f.entry, typ, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(p.out) > p.most || len(p.names) > 1<<20 {
		return fmt.Errorf("more than %d values, or 1 MiB of names", p.most)
	}
	value.Name, value.Role = p.names[from:len(p.names):len(p.names)], f.role
	p.out = append(p.out, value)
	return nil
}

// wireType returns the wire type of a scalar.
func wireType(f *field) protowire.Type {
	if f.special != "" {
		return protowire.BytesType
	}
	switch f.kind {
	case protoreflect.DoubleKind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return protowire.Fixed64Type
	case protoreflect.FloatKind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		return protowire.Fixed32Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	}
	return protowire.VarintType
}

// scalar reads one value.
func (p *Plan) scalar(f *field, typ protowire.Type, b []byte) (l leaf.Leaf, err error) {
	if typ != wireType(f) {
		return l, fmt.Errorf("%s has wire type %d, want %d", f.name, typ, wireType(f))
	}
	var bits uint64
	var text []byte
	switch typ {
	case protowire.VarintType:
		bits, _ = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		bits, _ = protowire.ConsumeFixed64(b)
	case protowire.Fixed32Type:
		v, _ := protowire.ConsumeFixed32(b)
		bits = uint64(v)
	default:
		if text, err = bytesOf(f, typ, b); err != nil {
			return l, err
		}
	}
	if f.special != "" {
		return p.special(f, text)
	}
	l.Kind = leaf.Number
	switch f.kind {
	case protoreflect.DoubleKind:
		l.Num = math.Float64frombits(bits)
	case protoreflect.FloatKind:
		l.Num = float64(math.Float32frombits(uint32(bits)))
	case protoreflect.Int32Kind, protoreflect.Sfixed32Kind:
		l.Num = float64(int32(bits))
	case protoreflect.Sint32Kind:
		l.Num = float64(int32(protowire.DecodeZigZag(bits & math.MaxUint32)))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		l.Num = float64(uint32(bits))
	case protoreflect.Int64Kind, protoreflect.Sfixed64Kind:
		l = p.integer(int64(bits))
	case protoreflect.Sint64Kind:
		l = p.integer(protowire.DecodeZigZag(bits))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		if l.Num = float64(bits); bits > 1<<53 {
			from := len(p.text)
			p.text = strconv.AppendUint(p.text, bits, 10)
			l.Text = p.text[from:len(p.text):len(p.text)]
		}
	case protoreflect.BoolKind:
		if l.Kind, l.Text = leaf.Boolean, no; bits != 0 {
			l.Text = yes
		}
	case protoreflect.EnumKind:
		name, ok := f.symbols[int32(bits)]
		if !ok {
			return l, fmt.Errorf("%s has the number %d, which its enum does not have", f.name, int32(bits))
		}
		l.Kind, l.Text = leaf.Text, name
	default:
		if !utf8.Valid(text) {
			return l, fmt.Errorf("%s is not valid UTF-8", f.name)
		}
		l.Kind, l.Text = leaf.Text, text
	}
	return l, nil
}

func (p *Plan) integer(i int64) leaf.Leaf {
	l := leaf.Leaf{Kind: leaf.Number, Num: float64(i)}
	if i > 1<<53 || i < -1<<53 {
		from := len(p.text)
		p.text = strconv.AppendInt(p.text, i, 10)
		l.Text = p.text[from:len(p.text):len(p.text)]
	}
	return l
}

// special reads a well-known type, whose fields have the numbers 1 and 2.
func (p *Plan) special(f *field, b []byte) (l leaf.Leaf, err error) {
	if f.special == "wrapper" {
		inner := field{kind: f.kind, name: f.name}
		switch f.kind {
		case protoreflect.StringKind, protoreflect.BytesKind:
			l = leaf.Leaf{Kind: leaf.Text}
		case protoreflect.BoolKind:
			l = leaf.Leaf{Kind: leaf.Boolean, Text: no}
		default:
			l = leaf.Leaf{Kind: leaf.Number}
		}
		return l, eachField(b, func(number protowire.Number, typ protowire.Type, v []byte) error {
			if number == 1 {
				l, err = p.scalar(&inner, typ, v)
			}
			return err
		})
	}
	var seconds, nanos int64
	err = eachField(b, func(number protowire.Number, typ protowire.Type, v []byte) error {
		u, _ := protowire.ConsumeVarint(v)
		switch {
		case typ != protowire.VarintType:
		case number == 1:
			seconds = int64(u)
		case number == 2:
			nanos = int64(int32(u))
		}
		return nil
	})
	if l.Kind = leaf.Number; f.special == "time" {
		l.Kind = leaf.Time
	}
	l.Num = float64(seconds) + float64(nanos)/1e9
	return l, err
}

// eachField calls f with the fields of a message, in order.
func eachField(b []byte, f func(number protowire.Number, typ protowire.Type, v []byte) error) error {
	for len(b) > 0 {
		number, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errEnd
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, typ, b); n < 0 {
			return errEnd
		}
		if err := f(number, typ, b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
