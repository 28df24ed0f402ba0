package avro

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest/decode/leaf"
)

// scalar reads one value.
func (p *Plan) scalar(n *node) error {
	switch n.op {
	case opBoolean:
		b, err := p.take(1)
		if err != nil {
			return err
		}
		if b[0] > 1 {
			return fmt.Errorf("a boolean of %d", b[0])
		}
		v := leaf.Leaf{Kind: leaf.Boolean, Text: no}
		if b[0] == 1 {
			v.Text = yes
		}
		p.emit(n, v)
	case opInteger, opTime, opTimeOfDay:
		i, err := p.integer()
		if err != nil {
			return err
		}
		p.integerOf(n, i)
	case opFloat:
		b, err := p.take(4)
		if err != nil {
			return err
		}
		p.number(n, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case opDouble:
		b, err := p.take(8)
		if err != nil {
			return err
		}
		p.number(n, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case opText:
		b, err := p.bytes()
		if err != nil {
			return err
		}
		if !n.skip && !utf8.Valid(b) {
			return fmt.Errorf("%s is not valid UTF-8", n.name)
		}
		p.emit(n, leaf.Leaf{Kind: leaf.Text, Text: b})
	case opEnum:
		i, err := p.integer()
		if err != nil {
			return err
		}
		if i < 0 || i >= int64(len(n.symbols)) {
			return fmt.Errorf("symbol %d of an enum of %d", i, len(n.symbols))
		}
		p.emit(n, leaf.Leaf{Kind: leaf.Text, Text: n.symbols[i]})
	case opFixed, opFixedText, opFixedDecimal, opDecimal:
		return p.fixed(n)
	default:
		return errors.New("a value of an unknown type")
	}
	return nil
}

// integerOf emits an integer, a time, or a time of day in seconds.
func (p *Plan) integerOf(n *node, i int64) {
	switch {
	case n.op == opInteger:
		v := leaf.Leaf{Kind: leaf.Number, Num: float64(i)}
		if i > 1<<53 || i < -1<<53 {
			from := len(p.text)
			p.text = strconv.AppendInt(p.text, i, 10)
			v.Text = p.text[from:len(p.text):len(p.text)]
		}
		p.emit(n, v)
	case n.op == opTimeOfDay:
		p.number(n, float64(i)/float64(n.per))
	case n.per == 0: // days
		p.emit(n, leaf.Leaf{Kind: leaf.Time, Num: float64(i) * 86400})
	default:
		p.emit(n, leaf.Leaf{Kind: leaf.Time, Num: Seconds(i, n.per)})
	}
}

// Seconds returns the seconds of a time i in units of 1/per seconds. The rounding is the same as
// for a time in text.
func Seconds(i, per int64) float64 {
	whole, rest := i/per, i%per
	if rest < 0 {
		whole, rest = whole-1, rest+per
	}
	return float64(whole) + float64(rest*(1e9/per))/1e9
}

// fixed reads a decimal, or bytes of a fixed length.
func (p *Plan) fixed(n *node) error {
	var b []byte
	var err error
	if n.op == opDecimal {
		b, err = p.bytes()
	} else {
		b, err = p.take(int64(n.size))
	}
	switch {
	case err != nil || n.skip:
		return err
	case n.op == opFixedText:
		from := len(p.text)
		p.text = hex.AppendEncode(p.text, b)
		p.emit(n, leaf.Leaf{Kind: leaf.Text, Text: p.text[from:len(p.text):len(p.text)]})
		return nil
	case n.op == opFixed:
		if !utf8.Valid(b) {
			return fmt.Errorf("%s is not valid UTF-8", n.name)
		}
		p.emit(n, leaf.Leaf{Kind: leaf.Text, Text: b})
		return nil
	}
	if len(b) > 64 {
		return fmt.Errorf("%s is a decimal of %d bytes, the limit is 64", n.name, len(b))
	}
	var unscaled big.Int
	unscaled.SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 { // two's complement
		unscaled.Sub(&unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	from := len(p.text)
	p.text = unscaled.Append(p.text, 10)
	digits := len(p.text)
	p.text = strconv.AppendInt(append(p.text, 'e'), -int64(n.scale), 10)
	v, err := strconv.ParseFloat(string(p.text[from:]), 64)
	if err != nil {
		return fmt.Errorf("%s is a decimal that is out of range", n.name)
	}
	l := leaf.Leaf{Kind: leaf.Number, Num: v}
	if n.scale == 0 {
		l.Text = p.text[from:digits:digits]
	}
	p.emit(n, l)
	return nil
}
