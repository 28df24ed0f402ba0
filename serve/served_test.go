package serve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/serve/onnx"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/modeltest"
)

// small is a configuration of models that are learned quickly.
var small = learner.Config{Algorithm: "ridge", BlockSize: 16, MaxFeatures: 32}

// twoInputs returns n records of two numbers with a label by its format, of x.
func twoInputs(n int, label string) (records []string) {
	for i := range n {
		x := float64(i*37%101)/50 - 1
		y := fmt.Sprintf(label, x)
		if label == "class" {
			y = fmt.Sprintf(`"y":"%v"`, x > 0)
		}
		records = append(records, fmt.Sprintf(`{"a":%v,"b":%v,%s}`, x, i%7, y))
	}
	return records
}

// TestSnapshotsThatDoNotFitAreRefused: what would make predicting panic is an error of NewServed, of
// Next after a valid snapshot, and of onnx.Encode.
func TestSnapshotsThatDoNotFitAreRefused(t *testing.T) {
	classes := modeltest.Snapshot(t, small, decode.Config{Label: "y"}, twoInputs(200, "class"))
	two := small
	two.Targets, two.Task = 2, learner.Regression
	targets := modeltest.Snapshot(t, two, decode.Config{Labels: []string{"y", "z"}}, twoInputs(200, `"y":%[1]v,"z":%[1]v`))
	served, err := serve.NewServed(classes)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		of             *snapshot.Snapshot
		config, schema string
		want           string
	}{
		{classes, "", `{"columns":["a","b","c"],"task":"classification","classes":["false","true"]}`, "3 columns, the model has 2 inputs"},
		{classes, "", `{"columns":[],"task":"classification","classes":["false","true"]}`, "0 columns"},
		{classes, "", "", "0 columns"},
		{classes, "{}", `{"columns":["a","b"],"task":"classification","classes":[]}`, "0 classes, the model has 2"},
		{classes, "{}", `{"columns":["a","b"],"task":"classification","classes":["true"]}`, "1 classes, the model has 2"},
		{classes, "{}", `{"columns":["a","b"],"task":"regression","classes":["false","true"]}`, `"regression", that of the model is classification`},
		{classes, "{}", `{"columns":["a","b"],"classes":["false","true"]}`, `the task of the schema is ""`},
		{classes, "{}", `{"columns":["a","b"],"task":"classification","classes":["false","true"],"types":["numeric"]}`, "1 types of 2 columns"},
		{classes, "{}", `{"columns":["a","b"],"task":"classification","classes":["false","true"],"types":["numeric","colour"]}`, "colour"},
		{targets, `{"input":{"labels":["y","z","more"]}}`, `{"columns":["a","b"],"task":"regression"}`, "3 labels, the model has 2 targets"},
	} {
		s := *test.of
		s.Config, s.Schema = []byte(test.config), []byte(test.schema)
		_, err := serve.NewServed(&s)
		_, next := served.Next(&s)
		_, graph := onnx.Encode(&s)
		for _, err := range []error{err, next, graph} {
			if !errors.Is(err, snapshot.ErrCorrupt) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: the error is %v, want one of %q", test.schema, err, test.want)
			}
		}
	}
	// The same schema as before, and another model.
	s := *targets
	s.Config, s.Schema = classes.Config, classes.Schema
	if _, err := served.Next(&s); !errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("the model of another task with the schema of the model before: %v", err)
	}
}

// TestEverySnapshotOfALearnerFits: from before the first row on, whatever the rows and the task are.
func TestEverySnapshotOfALearnerFits(t *testing.T) {
	number, class := twoInputs(300, `"y":%v`), twoInputs(300, "class")
	text, nested := make([]string, 300), make([]string, 300)
	for i := range text {
		text[i] = fmt.Sprintf(`{"a":"the words of text %d","b":"c%d","at":"2024-01-%02dT00:00:00Z","y":"%v"}`, i, i%9, 1+i%28, i%2 == 0)
		nested[i] = fmt.Sprintf(`{"a":[%d,2],"k":"u%d","y":%d}`, i, i%3, i%5)
	}
	window := decode.Window{Key: "b", Of: "a", Over: []string{"10m"}}
	for name, test := range map[string]struct {
		c       learner.Config
		in      decode.Config
		records []string
	}{
		"regression":     {in: decode.Config{}, records: number},
		"configured":     {learner.Config{Task: learner.Regression}, decode.Config{Task: learner.Regression}, number},
		"classification": {in: decode.Config{MaxClasses: 4}, records: class},
		"novelty":        {learner.Config{Task: learner.Novelty}, decode.Config{Task: learner.Novelty}, number},
		"quantiles":      {learner.Config{Algorithm: "dsg", Loss: "quantile:0.1,0.9"}, decode.Config{}, number},
		"targets":        {learner.Config{Task: learner.Regression, Targets: 2}, decode.Config{Labels: []string{"y", "b"}}, number},
		"types":          {in: decode.Config{Infer: true, Missing: "impute", Types: map[string]string{"a": "text"}, Grams: true}, records: text},
		"lists":          {in: decode.Config{Infer: true, Depth: 2}, records: nested},
		"windows":        {in: decode.Config{Infer: true, Windows: []decode.Window{window}}, records: number},
		"sparse":         {learner.Config{Sparse: 10, Mixture: true, Algorithm: "newton"}, decode.Config{Sparse: true}, number},
	} {
		if test.c.Algorithm == "" && test.c.Task != learner.Novelty {
			test.c.Algorithm = "ridge"
		}
		test.c.BlockSize, test.c.MaxFeatures = 16, 32
		if test.in.Labels == nil {
			test.in.Label = "y"
		}
		var before *serve.Served
		for i, s := range modeltest.Snapshots(t, test.c, test.in, test.records, 0, 1, 20, 100, 300) {
			m, err := serve.NewServed(s)
			if err != nil {
				t.Fatalf("%s: snapshot %d: %v", name, i, err)
			}
			if before != nil {
				if _, err := before.Next(s); err != nil {
					t.Errorf("%s: snapshot %d after the one before: %v", name, i, err)
				}
			}
			before = m
		}
	}
}

// TestSnapshotNeedsNoOptions: a program that has none leaves out Config.
func TestSnapshotNeedsNoOptions(t *testing.T) {
	s := *modeltest.Snapshot(t, small, decode.Config{Label: "y"}, twoInputs(200, `"y":%v`))
	s.Config = nil
	s.Schema, _ = json.Marshal(decode.Schema{Columns: []string{"a", "b"}, Task: "regression"})
	b, err := snapshot.Append(nil, &s)
	if err != nil {
		t.Fatal(err)
	}
	read, err := snapshot.Decode(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := serve.NewServed(read)
	if err != nil {
		t.Fatal(err)
	}
	options := m.Decode
	options.NoLabel = true
	d, err := m.NewDecoder(options)
	if err != nil {
		t.Fatal(err)
	}
	row, err := d.Decode([]byte(`{"a":0.5,"b":3}`))
	if err != nil || len(row.X) != 2 {
		t.Errorf("%v, %v", row, err)
	}
	if _, err := onnx.Encode(read); err != nil {
		t.Error(err)
	}
}

// A scorer that was made without a client says so.
func TestAScorerNeedsAClient(t *testing.T) {
	if err := serve.NewScorer(serve.Config{}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "needs Config.Client") {
		t.Errorf("error %v", err)
	}
}
