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

// Form is the encoding of the values of predictions. The zero value is JSON.
type Form struct {
	Format string // one of Forms; empty: json
	ID     uint32 // id of the schema in a registry, at the start of each value; JSON has none
}

// Forms returns the names of all forms, the default first.
func Forms() []string {
	names := []string{"json"}
	for _, f := range forms {
		names = append(names, f.name)
	}
	return names
}

// Schema returns the schema of predictions in a form, and the type of that schema in a
// registry. Both are empty for JSON.
func Schema(format string) (typ, text string) {
	if f := formNamed(format); f != nil {
		return f.typ, f.schema
	}
	return "", ""
}

// form is an entry of forms.
type form struct {
	name    string
	typ     string // of the schema in a registry
	schema  string
	content string // value of the header content-type
	message []byte // path to the message in the schema; it follows the id
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

// headBytes is the length of the framing before the path to a message: a zero byte and the id.
const headBytes = 5

// write appends c in the form, preceded by the id of its schema.
func (f *form) write(b []byte, id uint32, c *Content) []byte {
	b = append(binary.BigEndian.AppendUint32(append(b, 0), id), f.message...)
	return f.append(c, b)
}

// formOf returns the form of a prediction, or nil for JSON.
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

// contentOf reads the value of a prediction in the form, and the id of its schema.
func (f *form) contentOf(value []byte) (id uint32, c *Content, err error) {
	head := headBytes + len(f.message)
	if len(value) < head || value[0] != 0 {
		return 0, nil, errContent
	}
	c, err = f.read(value[head:])
	return binary.BigEndian.Uint32(value[1:]), c, err
}

// JSON returns the value of a prediction as JSON, whatever its form. It returns an error if
// the value is not a prediction in its form.
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

// In makes e write the values of predictions in a form, and returns e.
func (e *Encoder) In(f Form) *Encoder {
	e.form, e.schemaID, e.content = formNamed(f.Format), f.ID, contentType
	if e.form != nil {
		e.content.Value = []byte(e.form.content)
	}
	return e
}

// inForm is Value for an Encoder with a form. Value has decided which probabilities to keep,
// whether to write variances, and what is passed on from the input.
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

// inputFields reads the member input of a prediction in JSON, which begins with its comma. It
// returns nil if the member is missing or null.
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

// smaller returns the value of a prediction in the form without its probabilities.
func (f *form) smaller(value []byte) []byte {
	id, c, err := f.contentOf(value)
	if err != nil || c.Task != learner.Classification {
		return value
	}
	c.Truncated += int64(len(c.Classes))
	c.Classes, c.Probabilities = nil, nil
	return f.write(nil, id, c)
}

// ownContent converts the value of a prediction to JSON, adapts the header content-type, and
// removes the fields of the input.
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
