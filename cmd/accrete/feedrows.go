package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/internal/synth"
	"github.com/accrete-ml/accrete/learner"
)

// rows is a source of records.
type rows interface {
	next() ([]byte, error) // the next record as JSON; io.EOF after the last
	share() float64        // share of the records that next has returned; 0 if unknown
	io.Closer
}

func (f *feedCommand) rows(ctx context.Context, e *env.Env, c *config.Config) (rows, error) {
	if f.Demo == (f.File != "") {
		return nil, exit.Usage("missing argument: want a file, - for standard input, or --demo")
	}
	if f.Demo {
		if len(c.Input.Label) > 1 {
			return nil, c.At("input.label", errors.New("the records of the demo have one label, a class: want a single input.label and no regression"))
		}
		demo := &demoRows{stream: synth.Stream{Seed: 1}, label: c.Input.Label.String()}
		if f.Unlabelled {
			demo.label = ""
		}
		return demo, nil
	}
	d, err := setup.Decode(c)
	if err != nil {
		return nil, err
	}
	if f.labels(c) {
		d = decode.Config{Labels: roles(c, true).Labels, Infer: true, Depth: d.Depth, Missing: "impute", Unknown: "ignore", Task: d.Task}
	}
	if d.Late != nil { // key and time join records with their late labels: they are no inputs
		d.Types = maps.Clone(d.Types)
		for _, name := range []string{d.Late.Key, d.Late.Time} {
			delete(d.Types, name)
		}
		d.Late = nil
	}
	d.Format, d.NoLabel = "", f.Unlabelled
	var labels *record.Redaction
	if f.Unlabelled {
		if labels, err = labelRemoval(c); err != nil {
			return nil, err
		}
	}
	file, err := files.Open(ctx, e, f.File, d, decode.Schema{})
	if err != nil {
		return nil, err
	}
	if task, why := file.Task(); task == learner.Classification && d.Task == learner.Auto && why != decode.TextLabels {
		e.Log.Warn().Str("labels", why).Msg("a learner treats them as values unless learner.task is classification")
	}
	return fileRows{file, f.File, labels}, nil
}

// labelRemoval removes the labels of the records of a file that has them.
func labelRemoval(c *config.Config) (*record.Redaction, error) {
	var fields []string
	for _, label := range roles(c, false).Labels {
		fields = append(fields, label+":remove") // a label may itself have a colon
	}
	return record.NewRedaction(fields, nil)
}

// labels reports whether the file holds labels only, for the topic of labels that arrive later than
// their features.
func (f *feedCommand) labels(c *config.Config) bool {
	return f.Topic != "" && f.Topic == c.Input.Labels.Topic
}

type fileRows struct {
	*decode.File
	name   string
	labels *record.Redaction // removes the labels; nil if records have theirs
}

// unwritten returns err as the error of the current row, which cannot be written in the format of
// the topic.
func (f fileRows) unwritten(err error) error {
	return &decode.LineError{File: f.name, Line: f.Line(), Err: &decode.Error{Stage: "record", Reason: err.Error()}}
}

func (f fileRows) share() float64 { return f.Share() }

func (f fileRows) next() ([]byte, error) {
	if err := f.Skip(); err != nil {
		return nil, err
	}
	value, err := f.Record(nil)
	if err != nil {
		return nil, err
	}
	value, ok := f.labels.Value(value)
	if !ok {
		return nil, f.unwritten(errors.New("it is not a JSON object, so that its label cannot be removed"))
	}
	return value, nil
}

// demoRows returns the demo's stream as records.
type demoRows struct {
	stream synth.Stream
	label  string // label field; empty for none
	n      int64
	x      [synth.Dim]float64
}

func (*demoRows) share() float64 { return 0 }

func (d *demoRows) next() ([]byte, error) {
	class := d.stream.At(d.n, d.x[:])
	d.n++
	if d.label == "" {
		return appendExample(nil, d.x[:], "", ""), nil
	}
	return appendExample(nil, d.x[:], d.label, "ab"[class:class+1]), nil
}

func (d *demoRows) Close() error { return nil }

// appendExample appends a record with inputs x0, x1, … and with the label
// unless it is empty.
func appendExample(b []byte, x []float64, field, label string) []byte {
	b = append(b, `{"features":{`...)
	for i, v := range x {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendInt(append(b, `"x`...), int64(i), 10), `":`...)
		b = strconv.AppendFloat(b, v, 'g', 6, 64)
	}
	b = append(b, '}')
	if label != "" {
		b = fmt.Appendf(b, `,%q:%q`, field, label)
	}
	return append(b, '}')
}
