package decode

import (
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode/decimal"
	"github.com/accrete-ml/accrete/ingest/decode/excerpt"
	"github.com/accrete-ml/accrete/learner"
)

func (d *Decoder) isLabel(name string) bool {
	if d.config.Label != "" {
		return name == d.config.Label
	}
	return d.config.Labels == nil && (name == "y" || name == "label")
}

// noLabels resets the labels of a record, if there are several.
func (d *Decoder) noLabels() {
	if n := len(d.config.Labels); n > 0 {
		d.many = append(d.many[:0], make([]value, n)...)
	}
}

// novelty returns the label of a row for task novelty. Every row has one. If the record's
// label is true or 1, the row is known to be novel; if it is false or 0, to be normal.
func novelty(v value) learner.Label {
	l := learner.Label{Task: learner.Novelty}
	switch {
	case v.kind == num && v.num == 1, v.kind != num && string(v.text) == "true":
		l.Class = learner.KnownNovel
	case v.kind == num && v.num == 0, v.kind != num && string(v.text) == "false":
		l.Class = learner.KnownNormal
	}
	return l
}

// label reads a label. class is the name of its class if the class is new.
func (d *Decoder) label(v value) (l learner.Label, class string, err *Error) {
	if d.task == learner.Novelty {
		return novelty(v), "", nil
	}
	switch v.kind {
	case absent, null:
		return l, "", nil
	case object, array:
		return l, "", bad("label", "it is %v: want text, a boolean, a number, or null for none", v)
	case num:
		if d.task != learner.Classification {
			if !(math.Abs(v.num) <= d.config.MaxAbs) {
				return l, "", bad("limits", "the label is %v, out of range ±%v", v, d.config.MaxAbs)
			}
			if d.config.Counts && v.num < 0 {
				return l, "", bad("label", "it is %v, but the loss poisson is for counts: want 0 or more", v)
			}
			return learner.Label{Task: learner.Regression, Value: v.num}, "", nil
		}
		if d.config.Task != learner.Classification {
			return l, "", bad("label", "it is the number %v, but labels have been text or booleans so far; if numbers are class names, set learner.task to classification", v)
		}
		if math.IsInf(v.num, 0) {
			return l, "", bad("label", "it is out of range for a float64")
		}
		if !decimal.IsDigits(v.text) {
			return d.classify([]byte(decimal.Canonical(v.text, v.num)))
		}
	default:
		if d.task == learner.Regression {
			return l, "", bad("label", "it is %v, but the task is regression", v)
		}
	}
	return d.classify(v.text)
}

// labels reads the label of a regression with several targets. A record that lacks one
// of the numbers has no label.
func (d *Decoder) labels() (l learner.Label, err *Error) {
	d.more = d.more[:0]
	for i, v := range d.many {
		switch name := d.config.Labels[i]; {
		case v.kind == absent || v.kind == null:
		case v.kind != num:
			return l, bad("label", "%s is %v, but each of the %d labels must be a number, or null for none", excerpt.Quote(name), v, len(d.many))
		case !(math.Abs(v.num) <= d.config.MaxAbs):
			return l, bad("limits", "the label %s is %v, out of range ±%v", excerpt.Quote(name), v, d.config.MaxAbs)
		case d.config.Counts && v.num < 0:
			return l, bad("label", "%s is %v, but the loss poisson is for counts: want 0 or more", excerpt.Quote(name), v)
		default:
			d.more = append(d.more, v.num)
		}
	}
	if len(d.more) < len(d.many) {
		return l, nil
	}
	return learner.Label{Task: learner.Regression, Value: d.more[0], More: d.more[1:]}, nil
}

func (d *Decoder) classify(name []byte) (l learner.Label, class string, err *Error) {
	i, ok := d.class[string(name)]
	if !ok {
		switch {
		case len(name) == 0:
			return l, "", bad("label", "it is empty text; use null for no label")
		case len(name) > maxClassName:
			return l, "", bad("label", "class name of %d bytes, the limit is %d", len(name), maxClassName)
		case len(d.schema.Classes) >= d.config.MaxClasses:
			if _, n := decimal.Scan(name); n == len(name) {
				return l, "", bad("label", "%s would be class %d, but max_classes is %d (fit --max-classes, or input.max_classes): if the labels are numbers, use --task regression (learner.task)", excerpt.Quote(name), len(d.schema.Classes)+1, d.config.MaxClasses)
			}
			return l, "", bad("label", "%s would be class %d, but max_classes is %d (fit --max-classes, or input.max_classes)", excerpt.Quote(name), len(d.schema.Classes)+1, d.config.MaxClasses)
		}
		i, class = len(d.schema.Classes), string(name)
	}
	return learner.Label{Task: learner.Classification, Class: i}, class, nil
}

func (d *Decoder) weight(v value) (float64, *Error) {
	switch {
	case v.kind == absent:
		return 1, nil
	case v.kind != num:
		return 0, bad("weight", "it is %v, want a number", v)
	case !(v.num > 0 && v.num <= maxWeight):
		return 0, bad("weight", "it is %v: want more than 0, and at most %d", v, int(maxWeight))
	}
	return v.num, nil
}

func (d *Decoder) key(v value) ([]byte, *Error) {
	switch {
	case v.kind == absent || v.kind == null:
		return nil, nil
	case v.kind == num && len(v.text) == 0:
		return nil, bad("key", "it is %v, want text or a finite number", v)
	case v.kind == text || v.kind == num:
		return v.text, nil
	}
	return nil, bad("key", "it is %v, want text or a number", v)
}

// LateLabel decodes a JSON record that has only a label. The label is in the field that
// Config.Late names, or else in that of Config.Label or those of Config.Labels. The error is an
// *Error.
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
	d.fresh = d.fresh[:0] // left from a record that was rejected
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

// labelField returns the field with the label, in a record that has only a label.
func (d *Decoder) labelField() string {
	if d.config.Late.Label != "" {
		return d.config.Late.Label
	}
	return d.config.Label
}

// TimeoutLabel returns the label that Config.Late specifies for rows that have received none, or
// the zero Label if it specifies none. If it is a new class, the class is added to the schema.
func (d *Decoder) TimeoutLabel() (learner.Label, error) {
	s := []byte(d.config.Late.Timeout)
	if len(s) == 0 {
		return learner.Label{}, nil
	}
	v := value{kind: text, text: s}
	if x, n := decimal.Scan(s); n == len(s) {
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

// LabelAlone reports whether a record in a topic of features has a label and no inputs, so that
// it is to be decoded by LateLabel.
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
		if r := d.renamed[name]; r != nil {
			_, column = d.column[string(r.column)]
		}
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

// NoLabel returns an error that names the field of the label if the first row of a JSON file does
// not have it. It explains why no row has a label; for a file of another format it is nil.
func (f *File) NoLabel() error {
	j, ok := f.rows.(*jsonRows)
	if !ok || j.first == nil || f.d.task == learner.Novelty {
		return nil
	}
	configured := f.d.config.Labels
	if f.d.config.Label != "" {
		configured = []string{f.d.config.Label}
	}
	for _, name := range configured {
		if !slices.Contains(j.first, name) {
			return fmt.Errorf("there is no field %s, which is configured as the label%s; the fields of the first row are %s", excerpt.Quote(name), didYouMean(name, j.first), excerpt.List(j.first))
		}
	}
	if configured == nil && !slices.ContainsFunc(j.first, f.d.isLabel) {
		return fmt.Errorf("there is no field y or label; the fields of the first row are %s: set the label field with --label (input.label)", excerpt.List(j.first))
	}
	return nil
}
