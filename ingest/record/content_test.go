package record

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/twmb/avro"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode/protobuf"
	"github.com/accrete-ml/accrete/ingest/registry"
	"github.com/accrete-ml/accrete/learner"
)

// contents returns what predictions of every kind can say.
func contents() (all []Content) {
	r := rand.New(rand.NewPCG(1, 2))
	numbers := func(n int) (vs []float64) {
		for range n {
			vs = append(vs, r.NormFloat64())
		}
		return vs
	}
	kinds := []Content{
		{},
		{Task: learner.Novelty, Flagged: true, Score: 1.5, Threshold: 0.25},
		{Task: learner.Novelty},
		{Task: learner.Regression, Numbers: numbers(1)},
		{Task: learner.Regression, Numbers: []float64{0}, Intervals: []Interval{{-1, 1e-9}}, Variances: []float64{0}},
		{Task: learner.Regression, Numbers: numbers(3), Intervals: []Interval{{-1, 1}, {0, 0}, {1e300, 2e300}}, Variances: numbers(3)},
		{Task: learner.Regression, Numbers: numbers(1), Quantiles: []Quantile{{0.1, numbers(1)}, {0.9, numbers(1)}}},
		{Task: learner.Regression, Numbers: numbers(2), Quantiles: []Quantile{{0.1, numbers(2)}, {0.9, numbers(2)}}},
		{Task: learner.Classification, Class: "ok", Classes: []string{"ok", "fraud", ""}, Probabilities: []float64{0.9, 0.1, 0}},
		{Task: learner.Classification, Class: "é\"\n", Truncated: 700},
		{Task: learner.Classification, Classes: []string{"b", "a"}, Probabilities: numbers(2), Truncated: 1},
	}
	labels := []Content{
		{},
		{LabelTask: learner.Classification, LabelClass: "fraud", Loss: 0.5, Graded: true},
		{LabelTask: learner.Regression, LabelNumbers: []float64{0}, Graded: true},
		{LabelTask: learner.Regression, LabelNumbers: numbers(3), Mixture: "labels"},
	}
	for _, c := range kinds {
		for i, l := range labels {
			c.LabelTask, c.LabelClass, c.LabelNumbers, c.Loss, c.Graded, c.Mixture = l.LabelTask, l.LabelClass, l.LabelNumbers, l.Loss, l.Graded, l.Mixture
			c.Model, c.Step, c.Lineage, c.LearnedTo = "m", int64(i)*100, "00ff", "6c2a6edc140ee58d"
			if c.Input = nil; i%2 == 1 {
				c.Input = []InputField{{"id", "p-17"}, {"customer.id", "4711"}}
			}
			all = append(all, c)
		}
	}
	return all
}

// TestEveryFormSaysWhatJSONSays reads each prediction again from each form, and again with
// the libraries that others would read it with.
func TestEveryFormSaysWhatJSONSays(t *testing.T) {
	for i, c := range contents() {
		want := string(c.AppendJSON(nil))
		if !json.Valid([]byte(want)) {
			t.Fatalf("%d: %s is no JSON", i, want)
		}
		for k := range forms {
			f := &forms[k]
			value := f.write(nil, 258, &c)
			r := &ingest.Record{Value: value, Headers: []ingest.Header{{Key: "content-type", Value: []byte(f.content)}}}
			got, err := JSON(r)
			if err != nil || string(got) != want {
				t.Errorf("%d: %s: %s, %v, want %s", i, f.name, got, err, want)
			}
			if string(value[:headBytes]) != "\x00\x00\x00\x01\x02" {
				t.Errorf("%s begins with %x", f.name, value[:headBytes])
			}
			for n := range value { // no part of it is a panic
				f.contentOf(value[:n])
			}
			smaller := Smaller("q")
			if before := len(r.Value); smaller("p", r) != (len(c.Classes) > 0) {
				t.Errorf("%d: %s: %d bytes become %d", i, f.name, before, len(r.Value))
			}
			if less, err := JSON(r); err != nil || c.Task == learner.Classification && string(less) != string(withoutProbabilities([]byte(want))) {
				t.Errorf("%d: %s: %s, %v", i, f.name, less, err)
			}
		}
	}
}

func TestOtherReadersReadPredictions(t *testing.T) {
	schema, err := avro.Parse(AvroSchema)
	if err != nil {
		t.Fatal(err)
	}
	set, err := registry.Proto(t.Context(), ProtobufSchema, nil)
	if err != nil {
		t.Fatal(err)
	}
	message, err := protobuf.Descriptor(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range contents() {
		var v map[string]any
		if rest, err := schema.Decode(c.appendAvro(nil), &v); err != nil || len(rest) > 0 {
			t.Fatalf("%d: %v, %d bytes are left", i, err, len(rest))
		}
		var loss any
		if c.Graded {
			loss = c.Loss
		}
		if v["model"] != c.Model || v["step"] != c.Step || v["learned_to"] != c.LearnedTo || v["loss"] != loss {
			t.Errorf("%d: Avro has %v, want %+v", i, v, c)
		}
		if c.Classes != nil {
			for k, name := range c.Classes {
				if got := v["probabilities"].(map[string]any)[name]; got != c.Probabilities[k] {
					t.Errorf("%d: the probability of %s is %v", i, name, got)
				}
			}
		}
		m := dynamicpb.NewMessage(message)
		if err := proto.Unmarshal(c.appendProtobuf(nil), m); err != nil || len(m.GetUnknown()) > 0 {
			t.Fatalf("%d: %v, unknown %x", i, err, m.GetUnknown())
		}
		again, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		back, late := readProtobuf(again)
		if err != nil || late != nil {
			t.Fatal(err, late)
		}
		sortClasses(back)
		sorted := c
		sorted.Classes, sorted.Probabilities = slices.Clone(c.Classes), slices.Clone(c.Probabilities)
		sortClasses(&sorted)
		slices.SortFunc(back.Input, func(a, b InputField) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
		slices.SortFunc(sorted.Input, func(a, b InputField) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
		if !reflect.DeepEqual(*back, sorted) {
			t.Errorf("%d: Protocol Buffers have %+v, want %+v", i, *back, sorted)
		}
		if name := m.WhichOneof(message.Oneofs().ByName("prediction")); (name == nil) != (c.Task == learner.Auto) {
			t.Errorf("%d: the prediction is %v", i, name)
		}
		if step := m.Get(message.Fields().ByName("step")); step.Interface() != protoreflect.ValueOf(c.Step).Interface() {
			t.Errorf("%d: the step is %v", i, step)
		}
	}
}

// sortClasses puts the probabilities in the order of their classes' names, which maps lack.
func sortClasses(c *Content) {
	p := map[string]float64{}
	for i, name := range c.Classes {
		p[name] = c.Probabilities[i]
	}
	slices.Sort(c.Classes)
	for i, name := range c.Classes {
		c.Probabilities[i] = p[name]
	}
}

func TestTheEncoderWritesTheSameInEveryForm(t *testing.T) {
	classes := []string{"ok", "fraud", "other"}
	input := &ingest.Record{Value: []byte(`{"id":"p-17","n":4711}`), Offset: 9}
	for _, row := range [][]float64{nil, {0.75, 0.25}, {0.125, 0.5, 0.375}} {
		for _, passed := range []Passed{{}, {Fields: []string{"id", "n"}}} {
			x := Example{Topic: "t", Record: input, Label: learner.Label{Task: learner.Classification}, LabelName: "fraud", Loss: 0.5, Graded: row != nil}
			id := ModelID{Name: "m", Step: 7}
			plain := NewEncoder(id, classes, 1<<20).Passing(passed).Record(x, learner.Classification, row)
			for _, f := range forms {
				r := NewEncoder(id, classes, 1<<20).Passing(passed).In(Form{f.name, 1}).Record(x, learner.Classification, row)
				if got, want := Own(r), Own(plain); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %s %v, want %s", f.name, got.Value, got.Headers, want.Value)
				}
				if _, c, err := f.contentOf(r.Value); err != nil || passed.Fields != nil && !slices.Equal(c.Input, []InputField{{"id", "p-17"}, {"n", "4711"}}) {
					t.Errorf("%s: %+v, %v", f.name, c, err)
				}
			}
		}
	}
}

func FuzzForms(f *testing.F) {
	for _, c := range contents()[:12] {
		for k := range forms {
			f.Add(k, forms[k].write(nil, 1, &c))
		}
	}
	f.Fuzz(func(t *testing.T, k int, value []byte) {
		form := &forms[uint(k)%uint(len(forms))]
		if id, c, err := form.contentOf(value); err == nil {
			c.AppendJSON(nil)
			if _, again, err := form.contentOf(form.write(nil, id, c)); err != nil {
				t.Errorf("%+v is written as %+v, %v", c, again, err)
			}
		}
	})
}

// Encoders that share memory one after another do not write into each other's records.
func TestEncoderAfterAnother(t *testing.T) {
	var e *Encoder
	var got []ingest.Record
	var want []string
	in := &ingest.Record{Key: []byte("k"), Value: []byte(`{"x":1}`), Headers: []ingest.Header{{Key: "a", Value: []byte("b")}}}
	for step := range int64(4) {
		before := e
		id := ModelID{Name: "m", Step: step}
		e = NewEncoder(id, nil, 1<<20).After(before)
		for i := range 3 {
			x, row := Example{Topic: "in", Record: in, Key: in.Key, Sequence: int64(i)}, []float64{float64(step) + float64(i)/8}
			for _, of := range []struct {
				e  *Encoder
				id ModelID
			}{{e, id}, {before, ModelID{Name: "m", Step: step - 1}}} {
				if of.e != nil {
					got = append(got, of.e.Record(x, learner.Regression, row))
					want = append(want, fmt.Sprint(NewEncoder(of.id, nil, 1<<20).Record(x, learner.Regression, row)))
				}
			}
		}
	}
	for i, r := range got {
		if fmt.Sprint(r) != want[i] {
			t.Errorf("record %d is %v, want %s", i, r, want[i])
		}
	}
}
