package decode

import (
	"github.com/accrete-ml/accrete/ingest/decode/avro"
	"github.com/accrete-ml/accrete/ingest/decode/leaf"
	"github.com/accrete-ml/accrete/ingest/decode/protobuf"
	"github.com/accrete-ml/accrete/learner"
)

// avroFormat is a record in Avro's binary encoding.
var avroFormat = format{
	name:       "avro",
	parse:      (*Decoder).parseLeaves,
	binary:     true,
	schemaType: "AVRO",
	compile: func(writer, reader string, _ []int, n leaf.Names) (plan, error) {
		return avro.Compile(writer, reader, n)
	},
	schema: `{"type":"record","name":"Example","fields":[{"name":"age","type":["null","int"]},{"name":"amount","type":"double"},
		{"name":"tags","type":{"type":"array","items":"float"}},{"name":"y","type":["null",{"type":"enum","name":"Label","symbols":["ok","fraud"]}]}]}`,
	examples: []string{
		"\x02\x52" + "\x00\x00\x00\x00\x00\x00\xf4\x3f" + "\x04\x00\x00\x80\x3f\x00\x00\x00\x40\x00" + "\x02\x02",
		"\x02\x03" + "\x00\x00\x00\x00\x00\x00\xf0\xbf" + "\x03\x10\x00\x00\x80\x3f\x00\x00\x00\x40\x00" + "\x02\x00",
	},
}

// parseLeaves reads a record of a format with a schema.
func (d *Decoder) parseLeaves() (r record, err *Error) {
	p, b, err := d.body()
	if err != nil {
		return r, err
	}
	leaves, invalid := p.Read(b)
	if invalid != nil {
		return r, bad(d.format.name, "%s", shortened(invalid.Error()))
	}
	switch {
	case p.List():
		r.form = array
	case p.Nested():
		r.form = object
	case d.config.Label == "" && d.config.Labels == nil && d.task != learner.Novelty:
		return r, bad("columns", "neither a list x nor an object features; for flat records set the label field with --label (input.label)")
	}
	if d.direct(leaves, &r) {
		return r, nil
	}
	for i := range leaves {
		if err := d.leaf(&leaves[i], &r); err != nil {
			return r, err
		}
	}
	return r, nil
}

// kinds maps the kinds of leaves to those of values.
var kinds = [...]kind{leaf.Null: null, leaf.Boolean: boolean, leaf.Number: num, leaf.Text: text, leaf.Time: instant, leaf.Object: object, leaf.List: array}

// valueOf returns the value of a leaf. NaN becomes null.
func valueOf(l *leaf.Leaf) value {
	if l.Num != l.Num {
		return value{kind: null}
	}
	return value{kind: kinds[l.Kind], num: l.Num, text: l.Text}
}

// leaf stores a leaf according to its role.
func (d *Decoder) leaf(l *leaf.Leaf, r *record) *Error {
	switch v := valueOf(l); l.Role {
	case leaf.Input:
		if len(d.list) == d.config.MaxColumns {
			return bad("limits", "more than %d fields", d.config.MaxColumns)
		}
		d.list = append(d.list, field{l.Name, v})
	case leaf.Index:
		return d.indexed(v)
	case leaf.Other:
		r.other, r.otherName = r.other+1, l.Name
	default:
		if v.kind == instant {
			v.kind = num
		}
		if v.kind == num && v.text == nil {
			v = d.spelled(v.num)
		}
		switch {
		case l.Role == leaf.Weight:
			r.weight = v
		case l.Role == leaf.Key:
			r.key = v
		case l.Target >= 0:
			d.many[l.Target] = v
		default:
			r.label = v
		}
	}
	return nil
}

// direct is a fast path for records whose inputs are exactly the columns, in a known order, and
// are all numbers: it stores them in d.x directly. It returns false for other records, which are
// then read by name.
func (d *Decoder) direct(leaves []leaf.Leaf, r *record) bool {
	columns := len(d.schema.Columns)
	if r.form == array || !d.plain() {
		return false
	}
	if cap(d.x) < columns {
		d.x = make([]float64, columns)
	}
	x := d.x[:columns]
	k := 0
	for i := range leaves {
		l := &leaves[i]
		if l.Role != leaf.Input {
			continue
		}
		if l.Kind != leaf.Number || l.Num != l.Num || k == columns || k >= len(d.order) || string(l.Name) != d.schema.Columns[d.order[k]] {
			return d.learnOrder(leaves)
		}
		x[d.order[k]] = l.Num
		k++
	}
	if k != columns {
		return false
	}
	for i := range leaves {
		if l := &leaves[i]; l.Role != leaf.Input {
			if d.leaf(l, r) != nil {
				return false
			}
		}
	}
	d.x, r.form = x, settled
	return true
}

// learnOrder notes the order of the inputs for direct, if each of them is a different column. It
// always returns false: the current record is read by name.
func (d *Decoder) learnOrder(leaves []leaf.Leaf) bool {
	d.order = d.order[:0]
	seen := make(map[int]bool, len(leaves))
	for i := range leaves {
		if l := &leaves[i]; l.Role == leaf.Input {
			at, ok := d.column[string(l.Name)]
			if !ok || seen[at] {
				d.order = d.order[:0]
				return false
			}
			seen[at] = true
			d.order = append(d.order, at)
		}
	}
	return false
}

// protobufFormat is a message of Protocol Buffers.
var protobufFormat = format{
	name:       "protobuf",
	parse:      (*Decoder).parseLeaves,
	binary:     true,
	schemaType: "PROTOBUF",
	indexed:    true,
	compile: func(writer, reader string, path []int, n leaf.Names) (plan, error) {
		return protobuf.Compile(writer, reader, path, n)
	},
	schema: protobufExample,
	examples: []string{
		"\x08\x29" + "\x11\x00\x00\x00\x00\x00\x00\xf4\x3f" + "\x1a\x08\x00\x00\x80\x3f\x00\x00\x00\x40" + "\x22\x02ok",
		"\x11\x00\x00\x00\x00\x00\x00\xf0\xbf" + "\x1d\x00\x00\x80\x3f\x1d\x00\x00\x00\x40" + "\x22\x05fraud\x08\x03",
	},
}

// protobufExample is the schema of
//
//	message Example { optional int32 age = 1; double amount = 2; repeated float tags = 3; optional string y = 4; }
const protobufExample = "CoUBCgxzY2hlbWEucHJvdG8ibQoHRXhhbXBsZRIVCgNhZ2UYASABKAVIAFIDYWdliAEBEhYKBmFtb3VudBgCIAEoAVIGYW1vdW50EhIKBHRhZ3MYAyADKAJSBHRhZ3MSEQoBeRgEIAEoCUgBUgF5iAEBQgYKBF9hZ2VCBAoCX3liBnByb3RvMw=="
