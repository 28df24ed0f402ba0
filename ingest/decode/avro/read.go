package avro

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest/decode/leaf"
)

// Nested reports whether the inputs are in a list x or an object features.
func (p *Plan) Nested() bool { return p.form.Nested() }

// List reports whether the inputs are in a list x.
func (p *Plan) List() bool { return p.form.X >= 0 }

// Read returns the leaves of a record, which are valid until the next call. A record that
// ends early, or has bytes after its end, is an error.
func (p *Plan) Read(b []byte) ([]leaf.Leaf, error) {
	p.b, p.i, p.items, p.records, p.out, p.names, p.text, p.prefix = b, 0, 0, 0, p.out[:0], p.names[:0], p.text[:0], p.prefix[:0]
	err := p.record(p.root, 0)
	p.b = nil
	switch {
	case err != nil:
		return nil, err
	case p.i < len(b):
		return nil, fmt.Errorf("%d bytes after the end", len(b)-p.i)
	}
	return p.out, nil
}

const maxDepth = 64 // of values inside others

var (
	errEnd   = errors.New("it ends early")
	errDeep  = fmt.Errorf("nested deeper than %d levels", maxDepth)
	errInt   = errors.New("an integer of more than 64 bits")
	errCount = errors.New("a length that is out of range")
	errEmpty = fmt.Errorf("more than %d records that take no bytes", mostEmpty)
	yes, no  = []byte("true"), []byte("false")
)

// record reads the fields of a record. Doubles are read here because records have many.
func (p *Plan) record(n *node, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	if p.records++; p.records > mostEmpty+maxDepth*len(p.b) {
		return errEmpty
	}
	for _, f := range n.children {
		if f.op == opDouble && !f.skip && len(p.prefix) == 0 {
			if len(p.b)-p.i < 8 {
				return errEnd
			}
			if len(p.out) == cap(p.out) {
				p.out = slices.Grow(p.out, len(n.children))
			}
			p.out = p.out[:len(p.out)+1]
			l := &p.out[len(p.out)-1] // set in place: assigning a new Leaf would copy it
			l.Name, l.Role, l.Target, l.Kind, l.Text = f.name, f.role, f.target, leaf.Number, nil
			l.Num = math.Float64frombits(binary.LittleEndian.Uint64(p.b[p.i:]))
			p.i += 8
			continue
		}
		if err := p.value(f, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// emit appends a leaf of n.
func (p *Plan) emit(n *node, v leaf.Leaf) {
	if n.skip {
		return
	}
	v.Name, v.Role, v.Target = n.name, n.role, n.target
	if len(p.prefix) > 0 {
		from := len(p.names)
		p.names = append(p.names, p.prefix...)
		if len(n.name) > 0 {
			p.names = append(append(p.names, '.'), n.name...)
		}
		v.Name = p.names[from:len(p.names):len(p.names)]
	}
	p.out = append(p.out, v)
}

func (p *Plan) number(n *node, v float64) { p.emit(n, leaf.Leaf{Kind: leaf.Number, Num: v}) }

func (p *Plan) value(n *node, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	switch n.op {
	case opNull:
		p.emit(n, leaf.Leaf{})
		return nil
	case opConstant:
		p.emit(n, n.value)
		return nil
	case opRecord:
		if err := p.record(n, depth); err != nil || !n.whole {
			return err
		}
		p.emit(n, leaf.Leaf{Kind: leaf.Object})
		return nil
	case opArray, opMap:
		return p.list(n, depth)
	case opUnion:
		i, err := p.integer()
		if err != nil {
			return err
		}
		if i < 0 || i >= int64(len(n.children)) {
			return fmt.Errorf("branch %d of a union of %d", i, len(n.children))
		}
		child := n.children[i]
		if child.op == opNull && !n.skip {
			p.absent(n)
			return nil
		}
		return p.value(child, depth+1)
	}
	return p.scalar(n)
}

// absent emits null for a union or, if the union has a record, for the values of the record.
func (p *Plan) absent(n *node) {
	for _, c := range n.children {
		if c.op == opRecord && !c.whole {
			p.nothing(c)
			return
		}
	}
	p.emit(n, leaf.Leaf{})
}

// nothing emits null for the values of a record.
func (p *Plan) nothing(n *node) {
	for _, c := range n.children {
		if c.skip { // its type may contain itself
			continue
		}
		switch c.op {
		case opRecord:
			if !c.whole {
				p.nothing(c)
				continue
			}
		case opArray, opMap:
			if !c.whole {
				continue
			}
		case opUnion:
			p.absent(c)
			continue
		}
		p.emit(c, leaf.Leaf{})
	}
}

// list reads the blocks of an array or a map.
func (p *Plan) list(n *node, depth int) error {
	item := n.children[0]
	emits := !n.skip && !n.whole
	outer, k := len(p.prefix), 0
	for {
		count, err := p.integer()
		if err != nil {
			return err
		}
		if count < 0 {
			if _, err := p.integer(); err != nil { // the size of the block in bytes
				return err
			}
			count = -count
		}
		if count == 0 {
			break
		}
		if count < 0 || count > int64(len(p.b)-p.i) && (item.op != opNull && item.op != opRecord && item.op != opFixed || count > int64(p.most)) {
			return errCount
		}
		for ; count > 0; count-- {
			k++
			if p.items++; p.items > max(p.most, len(p.b)) || len(p.out) > p.most { // null takes no bytes
				return fmt.Errorf("more than %d values", p.most)
			}
			if n.op == opMap {
				key, err := p.bytes()
				if err != nil {
					return err
				}
				if !utf8.Valid(key) {
					return errors.New("the name of a value is not UTF-8")
				}
				if emits {
					p.under(n, outer, key)
				}
			} else if emits && n.role != leaf.Index {
				p.at(n, outer, k-1)
			}
			if len(p.names) > 1<<20 {
				return errors.New("the paths of nested fields have more than 1 MiB in total")
			}
			if err := p.value(item, depth+1); err != nil {
				return err
			}
			p.prefix = p.prefix[:outer]
		}
	}
	if n.whole {
		kind := leaf.List
		if n.op == opMap {
			kind = leaf.Object
		}
		p.emit(n, leaf.Leaf{Kind: kind})
	}
	return nil
}

// under appends the path of n and of one of its values to the prefix.
func (p *Plan) under(n *node, outer int, key []byte) {
	if outer > 0 && len(n.name) > 0 {
		p.prefix = append(p.prefix, '.')
	}
	p.prefix = append(p.prefix, n.name...)
	if len(p.prefix) > 0 {
		p.prefix = append(p.prefix, '.')
	}
	p.prefix = append(p.prefix, key...)
}

// at appends the path of n and of its i-th element to the prefix.
func (p *Plan) at(n *node, outer, i int) {
	if outer > 0 && len(n.name) > 0 {
		p.prefix = append(p.prefix, '.')
	}
	p.prefix = append(append(p.prefix, n.name...), '.')
	p.prefix = strconv.AppendInt(p.prefix, int64(i), 10)
}

// integer reads a zigzag integer.
func (p *Plan) integer() (int64, error) {
	if p.i < len(p.b) && p.b[p.i] < 0x80 {
		u := p.b[p.i]
		p.i++
		return int64(u>>1) ^ -int64(u&1), nil
	}
	u, n := binary.Uvarint(p.b[p.i:])
	if n == 0 {
		return 0, errEnd
	}
	if n < 0 {
		return 0, errInt
	}
	p.i += n
	return int64(u>>1) ^ -int64(u&1), nil
}

// bytes reads a length and that number of bytes.
func (p *Plan) bytes() ([]byte, error) {
	n, err := p.integer()
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, errCount
	}
	return p.take(n)
}

func (p *Plan) take(n int64) ([]byte, error) {
	if n > int64(len(p.b)-p.i) {
		return nil, errEnd
	}
	b := p.b[p.i : p.i+int(n) : p.i+int(n)]
	p.i += int(n)
	return b, nil
}
