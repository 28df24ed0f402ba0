package record

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
)

// Form is how the values of predictions are written. The zero value is JSON.
type Form struct {
	Format string // one of Forms; empty: json
	ID     uint32 // of the schema in a registry, which begins each value; JSON has none
}

// Forms are the names of forms, the default first.
func Forms() []string {
	names := []string{"json"}
	for _, f := range forms {
		names = append(names, f.name)
	}
	return names
}

// Schema returns the schema of predictions in a form, and its type in a registry; empty for
// JSON.
func Schema(format string) (typ, text string) {
	if f := formNamed(format); f != nil {
		return f.typ, f.schema
	}
	return "", ""
}

// form is a row of forms.
type form struct {
	name    string
	typ     string // in a registry
	schema  string
	content string // of the header content-type
	message []byte // the path to the message in the schema, which follows the id
	append  func(*Content, []byte) []byte
	read    func([]byte) (*Content, error)
}

var forms = []form{
	{"avro", "AVRO", AvroSchema, "application/avro", nil, (*Content).appendAvro, readAvro},
	{"protobuf", "PROTOBUF", ProtobufSchema, "application/protobuf", []byte{0}, (*Content).appendProtobuf, readProtobuf},
}

func formNamed(name string) *form {
	for i := range forms {
		if forms[i].name == name {
			return &forms[i]
		}
	}
	return nil
}

// headBytes is the length of the framing before the path to a message: 0 and the id.
const headBytes = 5

// write appends c behind the id of a schema.
func (f *form) write(b []byte, id uint32, c *Content) []byte {
	b = append(binary.BigEndian.AppendUint32(append(b, 0), id), f.message...)
	return f.append(c, b)
}

// formOf returns the form of a prediction, nil for JSON.
func formOf(r *ingest.Record) *form {
	for _, h := range r.Headers {
		if h.Key != contentType.Key {
			continue
		}
		for i := range forms {
			if string(h.Value) == forms[i].content {
				return &forms[i]
			}
		}
	}
	return nil
}

// content reads the value of a prediction of the form.
func (f *form) contentOf(value []byte) (id uint32, c *Content, err error) {
	head := headBytes + len(f.message)
	if len(value) < head || value[0] != 0 {
		return 0, nil, errContent
	}
	c, err = f.read(value[head:])
	return binary.BigEndian.Uint32(value[1:]), c, err
}

// JSON returns the value of a prediction as JSON, whatever its form. A value that is no
// prediction is an error.
func JSON(r *ingest.Record) ([]byte, error) {
	f := formOf(r)
	if f == nil {
		return r.Value, nil
	}
	_, c, err := f.contentOf(r.Value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return c.AppendJSON(nil), nil
}

// In makes the values of predictions those of a form.
func (e *Encoder) In(f Form) *Encoder {
	e.form, e.schemaID, e.content = formNamed(f.Format), f.ID, contentType
	if e.form != nil {
		e.content.Value = []byte(e.form.content)
	}
	return e
}

// inForm returns what Value says in the Encoder's form. keep and variance are as Value has
// decided them.
func (e *Encoder) inForm(size int, x Example, task learner.Task, row []float64, keep []bool, variance bool, passed []byte) []byte {
	c := Content{Mixture: x.Mixture, Loss: x.Loss, Graded: x.Graded, Input: inputFields(passed), LabelTask: x.Label.Task}
	c.Model, c.Step, c.Lineage, c.LearnedTo = e.id.name, e.id.step, e.id.lineage, e.id.learnedTo
	switch {
	case len(row) == 0:
	case task == learner.Regression:
		e.points = x.Quantiles.Points(e.points[:0], row)
		c.Task, c.Numbers = task, e.points
		for i, tau := range x.Quantiles.Taus {
			q := Quantile{Level: tau}
			for at := i; at < len(row); at += len(x.Quantiles.Taus) {
				q.Values = append(q.Values, row[at])
			}
			c.Quantiles = append(c.Quantiles, q)
		}
		for j, v := range e.points {
			if x.Intervals.Valid() {
				low, high := x.Intervals.Bounds(v, j)
				c.Intervals = append(c.Intervals, Interval{low, high})
			}
			if variance {
				c.Variances = append(c.Variances, x.Intervals.Variance(j))
			}
		}
	case task == learner.Novelty:
		c.Task, c.Flagged, c.Score, c.Threshold = task, learner.Novel(row), row[0], row[1]
	default:
		c.Task, c.Class = task, e.class[e.Class(x.Decision, row)]
		if c.Classes, c.Probabilities = e.class[:len(row)], row; keep != nil {
			c.Classes, c.Probabilities = nil, nil
			for i, kept := range keep {
				if kept {
					c.Classes, c.Probabilities = append(c.Classes, e.class[i]), append(c.Probabilities, row[i])
				}
			}
			c.Truncated = int64(len(row) - len(c.Classes))
		}
	}
	switch x.Label.Task {
	case learner.Classification:
		c.LabelClass = x.LabelName
	case learner.Regression:
		c.LabelNumbers = append([]float64{x.Label.Value}, x.Label.More...)
	default:
		c.LabelTask = learner.Auto
	}
	return e.form.write(e.room(size), e.schemaID, &c)
}

// inputFields reads the member input of a prediction in JSON, with its comma. It is nil if
// there is none, or it is null.
func inputFields(member []byte) (fields []InputField) {
	if len(member) == 0 {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(string(member[len(inputMember):])))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var raw json.RawMessage
		if err != nil || d.Decode(&raw) != nil {
			return nil
		}
		text := string(raw)
		if raw[0] == '"' && json.Unmarshal(raw, &text) != nil {
			return nil
		}
		fields = append(fields, InputField{strings.ToValidUTF8(name.(string), "\ufffd"), strings.ToValidUTF8(text, "\ufffd")})
	}
	return fields
}

// smallerForm returns a prediction of the form without probabilities.
func (f *form) smaller(value []byte) []byte {
	id, c, err := f.contentOf(value)
	if err != nil || c.Task != learner.Classification {
		return value
	}
	c.Truncated += int64(len(c.Classes))
	c.Classes, c.Probabilities = nil, nil
	return f.write(nil, id, c)
}

// ownContent replaces the value of a prediction of a form, and the header that names it, by
// those in JSON, without what is from its input.
func ownContent(r *ingest.Record) {
	f := formOf(r)
	if f == nil {
		r.Value = withoutInput(r.Value)
		return
	}
	_, c, err := f.contentOf(r.Value)
	if err != nil {
		return
	}
	c.Input = nil
	r.Value = c.AppendJSON(nil)
	at := slices.IndexFunc(r.Headers, func(h ingest.Header) bool { return h.Key == contentType.Key })
	r.Headers[at] = contentType
}
