// Package vw reads the text format of Vowpal Wabbit:
//
//	[label [weight [base]]] ['tag]|namespace[:scale] feature[:value] … |namespace …
//
// A feature is named by its namespace and its own name, as in user.age. In a namespace without a
// name, it is named by its own name only. See the wiki of Vowpal Wabbit, "Input format".
package vw

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode"
)

// Example is one line. Its slices point into the line, or into the Reader's memory.
type Example struct {
	Label, Weight, Tag []byte // as written; nil for none
	Features           []Feature
}

// A Feature is a name with its value. A feature without a value in the line has the value 1,
// unless it is of the form name=text: then text is its value (see Reader.Texts).
type Feature struct {
	Name   []byte
	Number float64
	Digits []byte // of Number as written; nil if it was scaled or is 1 by default
	Plain  bool   // the result plain of Reader.Number for Digits
	Text   []byte // nil for a number
}

// Reader reads lines, one at a time.
type Reader struct {
	// Texts means that features such as city=paris are read as a text with the name city.
	// Otherwise city=paris is the name of a feature with the value 1.
	Texts bool

	// Number parses a number. ok is false if it is not a number. plain has a meaning only to the
	// caller, which receives it as Feature.Plain.
	Number func([]byte) (v float64, plain, ok bool)

	names    []byte
	features []Feature
}

// MaxFeatures is the maximum number of features in a line.
const MaxFeatures = 1 << 20

// Read reads a line. The Example is valid until the next call.
func (r *Reader) Read(line []byte) (e Example, err error) {
	r.names, r.features = r.names[:0], r.features[:0]
	bar := bytes.IndexByte(line, '|')
	if bar < 0 {
		return e, fmt.Errorf("there is no |, which begins the features")
	}
	if err := e.head(line[:bar]); err != nil {
		return e, err
	}
	for rest := line[bar+1:]; ; {
		section, next, more := bytes.Cut(rest, []byte("|"))
		if err := r.namespace(section); err != nil {
			return e, err
		}
		if !more {
			e.Features = r.features
			return e, nil
		}
		rest = next
	}
}

// head reads the part of a line before the features. Its last word is the tag if it touches the |,
// or begins with a quote.
func (e *Example) head(b []byte) error {
	var room [5][]byte // one more than there may be
	words := room[:0]
	for rest := bytes.TrimSpace(b); len(rest) > 0 && len(words) < len(room); rest = bytes.TrimSpace(rest) {
		end := bytes.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			end = len(rest)
		}
		words, rest = append(words, rest[:end]), rest[end:]
	}
	if n := len(words); n > 0 && (words[n-1][0] == '\'' || !space(b[len(b)-1])) {
		e.Tag, words = bytes.TrimPrefix(words[n-1], []byte("'")), words[:n-1]
	}
	switch len(words) {
	case 3: // the base of a residual, which other learners add to their prediction
		return fmt.Errorf("it has an initial prediction, %.40q, which is not supported", words[2])
	case 2:
		e.Weight = words[1]
		fallthrough
	case 1:
		e.Label = words[0]
	case 0:
	default:
		return fmt.Errorf("%d words or more before the first |: want a label, a weight and a tag at most", len(words))
	}
	if bytes.IndexByte(e.Label, ':') >= 0 || bytes.IndexByte(e.Label, ',') >= 0 {
		return fmt.Errorf("the label %.40q is that of another reduction: want a number or a name", e.Label)
	}
	return nil
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// namespace reads the features between two bars.
func (r *Reader) namespace(b []byte) error {
	scale, prefix := 1.0, []byte(nil)
	words := b
	if len(b) > 0 && !space(b[0]) {
		var first []byte
		first, words = word(b)
		name, text, scaled := bytes.Cut(first, []byte(":"))
		if scaled {
			var ok bool
			if scale, _, ok = r.Number(text); !ok {
				return fmt.Errorf("the scale of the namespace %.40q is %.40q, want a number", name, text)
			}
		}
		prefix = name
	}
	for position := 0; ; position++ {
		var next []byte
		if next, words = word(words); len(next) == 0 {
			return nil
		}
		if len(r.features) == MaxFeatures {
			return fmt.Errorf("more than %d features", MaxFeatures)
		}
		f, err := r.feature(next, prefix, scale, position)
		if err != nil {
			return err
		}
		r.features = append(r.features, f)
	}
}

// word returns the first word of b, which is empty if there is none, and the rest of b.
func word(b []byte) (word, rest []byte) {
	from := 0
	for from < len(b) && space(b[from]) {
		from++
	}
	to := from
	for to < len(b) && !space(b[to]) {
		to++
	}
	return b[from:to], b[to:]
}

// feature reads one feature of a namespace. A feature without a name is named by its position.
func (r *Reader) feature(word, prefix []byte, scale float64, position int) (f Feature, err error) {
	name, text, valued := bytes.Cut(word, []byte(":"))
	switch {
	case valued:
		v, plain, ok := r.Number(text)
		if !ok {
			return f, fmt.Errorf("the value of %.40q is %.40q, want a number", name, text)
		}
		f.Number = v * scale
		if scale == 1 {
			f.Digits, f.Plain = text, plain
		}
	case r.Texts && bytes.IndexByte(name, '=') > 0:
		name, f.Text, _ = bytes.Cut(name, []byte("="))
	default:
		f.Number = scale
	}
	f.Name = name
	if len(prefix) == 0 && len(name) > 0 {
		return f, nil
	}
	from := len(r.names)
	if len(prefix) > 0 {
		r.names = append(append(r.names, prefix...), '.')
	}
	if len(name) == 0 {
		r.names = strconv.AppendInt(r.names, int64(position), 10)
	}
	r.names = append(r.names, name...)
	f.Name = r.names[from:len(r.names):len(r.names)]
	return f, nil
}
