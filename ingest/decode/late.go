package decode

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest/decode/times"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/learner"
)

// Late returns how labels that come later are joined; nil if they come with their rows.
func (d *Decoder) Late() *join.Config { return d.config.Late }

// ByTime reports whether records are decided in the order of their timestamps.
func (d *Decoder) ByTime() bool { return d.config.ByTime }

// KeyField returns the field that has the key of a record, empty for none.
func (d *Decoder) KeyField() string { return d.config.Key }

// checkLate checks Late. The field with the key is no input unless it is declared as one.
func (c *Config) checkLate() error {
	if err := c.Late.Check(); err != nil {
		return err
	}
	f, err := recordFormat(c.Format)
	if err != nil {
		return err
	}
	path, field := join.Field(c.Late.Key)
	json := f.name == jsonFormat.name
	switch {
	case c.Task == learner.Novelty:
		return errors.New("input.labels: task novelty learns without labels")
	case !json && (field || c.Late.Time != "" || c.Late.Topic == ""):
		return fmt.Errorf("input.labels: records of format %s need a topic of labels, and a key that is input.key, the key of the record or a header", f.name)
	case c.Late.Label == "" && c.Label == "" && c.Labels == nil:
		return errors.New("input.labels: set input.label to the field that has the label")
	case c.Labels != nil && (c.Late.Timeout != "" || c.Late.Label != ""):
		return errors.New("input.labels: on_timeout and field are for one label: want drop, and no field, with several fields in input.label")
	}
	if _, declared := c.Types[path]; field && !declared && !slices.Contains(c.Columns, path) && path != c.Key {
		types := map[string]string{path: ID}
		maps.Copy(types, c.Types)
		c.Types = types
	}
	return nil
}

// LateLabel decodes a record that has a label alone: JSON, with the label in the field that
// Config.Late names, or in those of Config.Labels. Its error is an *Error.
func (d *Decoder) LateLabel(b []byte) (learner.Label, error) {
	label, err := d.lateLabel(b)
	if err != nil {
		return learner.Label{}, err
	}
	return label, nil
}

func (d *Decoder) lateLabel(b []byte) (label learner.Label, err *Error) {
	if err := d.checkJSON(b); err != nil {
		return label, err
	}
	d.fresh = d.fresh[:0] // of a record that was rejected
	class := ""
	if d.config.Labels != nil {
		d.noLabels()
		for i, name := range d.config.Labels {
			if d.many[i], err = valueAt(b, name); err != nil {
				return label, err
			}
		}
		label, err = d.labels()
	} else {
		var v value
		if v, err = valueAt(b, d.labelField()); err == nil {
			label, class, err = d.label(v)
		}
	}
	switch {
	case err != nil:
		return label, err
	case label.Task == learner.Auto:
		return label, bad("label", "there is none")
	}
	d.settle(nil, label.Task, class)
	return label, nil
}

// labelField returns the field that has the label of a record with a label alone.
func (d *Decoder) labelField() string {
	if d.config.Late.Label != "" {
		return d.config.Late.Label
	}
	return d.config.Label
}

// TimeoutLabel returns the label with the text or number that Config.Late has for rows
// without one, and none if it has none. A class becomes known with it.
func (d *Decoder) TimeoutLabel() (learner.Label, error) {
	s := []byte(d.config.Late.Timeout)
	if len(s) == 0 {
		return learner.Label{}, nil
	}
	v := value{kind: text, text: s}
	if x, n := scanNumber(s); n == len(s) {
		v = value{kind: num, num: x, text: s}
	} else if w := string(s); w == "true" || w == "false" {
		v.kind = boolean
	}
	if v.kind == num && d.task == learner.Classification && d.config.Task != learner.Classification {
		v.kind = text
	}
	label, class, err := d.label(v)
	if err != nil {
		return learner.Label{}, err
	}
	d.settle(nil, label.Task, class)
	return label, nil
}

// LabelAlone reports whether a record of the topic of features has a label and no inputs, so
// that it is one for LateLabel.
func (d *Decoder) LabelAlone(b []byte) bool {
	if d.config.Late.Topic != "" || d.checkJSON(b) != nil {
		return false
	}
	known := d.config.Late
	s := scanner{b: b}
	found, alone := false, true
	err := s.members(func(key []byte) *Error {
		name := string(key)
		_, column := d.column[name]
		switch {
		case name == d.labelField():
			found = s.peek() != 'n'
		case d.config.Labels != nil && slices.Contains(d.config.Labels, name):
			found = found || s.peek() != 'n'
		case name == known.Key || name == known.LabelKey || name == known.Time || name == d.config.Key:
		case len(d.schema.Columns) == 0, column, d.inner[name], name == "x" || name == "features":
			alone = false
		}
		return s.skipTo(maxDepth)
	})
	return err == nil && found && alone
}

func (d *Decoder) checkJSON(b []byte) *Error {
	switch {
	case len(b) > d.config.MaxBytes:
		return bad("limits", "%d bytes, the limit is %d", len(b), d.config.MaxBytes)
	case len(b) == 0:
		return bad("json", "the value is empty")
	case !utf8.Valid(b):
		return bad("json", "it is not valid UTF-8")
	}
	return nil
}

// KeyAt returns the text or number at a path of a JSON record.
func KeyAt(b []byte, path string) ([]byte, error) {
	v, err := valueAt(b, path)
	switch {
	case err != nil:
		return nil, err
	case (v.kind == text || v.kind == num) && len(v.text) > 0:
		return v.text, nil
	}
	return nil, bad("key", "%s is %v, want text or a number", quote(path), v)
}

// TimeAt returns the time at a path of a JSON record, in milliseconds since 1970: a text such
// as 2006-01-02T15:04:05Z, or a number of seconds, or of milliseconds from 10¹¹ on.
func TimeAt(b []byte, path string) (int64, error) {
	v, err := valueAt(b, path)
	if err != nil {
		return 0, err
	}
	seconds, ok := v.num, v.kind == num
	switch {
	case v.kind == text:
		seconds, ok = times.Parse(v.text)
	case ok && math.Abs(seconds) >= 1e11:
		seconds /= 1000
	}
	if !ok || math.Abs(seconds) > 1e12 {
		return 0, bad("time", "%s is %v, want a time such as 2006-01-02T15:04:05Z, or the seconds or milliseconds since 1970", quote(path), v)
	}
	return int64(math.Round(seconds * 1000)), nil
}

// valueAt returns the value at a path of a JSON object, which is absent if there is none.
func valueAt(b []byte, path string) (v value, err *Error) {
	s := scanner{b: b}
	x := extraction{scanner: &s, fields: []string{path}, found: make([][]byte, 1)}
	if err := x.object("", maxDepth); err != nil {
		return v, err
	}
	if s.peek() != 0 || s.i < len(s.b) {
		return v, bad("json", "%d bytes after the end", len(s.b)-s.i)
	}
	if x.found[0] == nil {
		return v, nil
	}
	inner := scanner{b: x.found[0]}
	return inner.value()
}
