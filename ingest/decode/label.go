package decode

import (
	"math"

	"github.com/accrete-ml/accrete/learner"
)

func (d *Decoder) isLabel(name string) bool {
	if d.config.Label != "" {
		return name == d.config.Label
	}
	return d.config.Labels == nil && (name == "y" || name == "label")
}

// noLabels makes room for the labels of a record, where there are several.
func (d *Decoder) noLabels() {
	if n := len(d.config.Labels); n > 0 {
		d.many = append(d.many[:0], make([]value, n)...)
	}
}

// novelty returns the label of a row of task novelty, which every row has. A label that
// is true or 1, or false or 0, says what is known of the row.
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

// label reads a label. class is its name if it is a new one.
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
			return learner.Label{Task: learner.Regression, Value: v.num}, "", nil
		}
		if d.config.Task != learner.Classification {
			return l, "", bad("label", "it is the number %v, but labels have been text so far; if numbers are class names, set learner.task to classification", v)
		}
		if math.IsInf(v.num, 0) {
			return l, "", bad("label", "it is out of range for a float64")
		}
		if !plainDigits(v.text) {
			return d.classify([]byte(canonical(v.text, v.num)))
		}
	default:
		if d.task == learner.Regression {
			return l, "", bad("label", "it is %v, but the task is regression", v)
		}
	}
	return d.classify(v.text)
}

// labels reads the labels where there are several. A record that lacks any of them
// has none.
func (d *Decoder) labels() (l learner.Label, err *Error) {
	d.more = d.more[:0]
	for i, v := range d.many {
		switch name := d.config.Labels[i]; {
		case v.kind == absent || v.kind == null:
		case v.kind != num:
			return l, bad("label", "%s is %v, but each of the %d labels must be a number, or null for none", quote(name), v, len(d.many))
		case !(math.Abs(v.num) <= d.config.MaxAbs):
			return l, bad("limits", "the label %s is %v, out of range ±%v", quote(name), v, d.config.MaxAbs)
		default:
			d.more = append(d.more, v.num)
		}
	}
	if len(d.more) < len(d.many) {
		return l, nil
	}
	return learner.Label{Task: learner.Regression, Value: d.more[0], More: d.more[1:]}, nil
}

// plainDigits says whether a number is its own canonical form, which nearly
// all are that name classes.
func plainDigits(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return len(b) < 16
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
			return l, "", bad("label", "%s would be class %d, but max_classes is %d", quote(name), len(d.schema.Classes)+1, d.config.MaxClasses)
		}
		i, class = len(d.schema.Classes), string(name)
	}
	return learner.Label{Task: learner.Classification, Class: i}, class, nil
}
