package onnx

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/modeltest"
)

// fitted returns a model of two numbers, of which the second is sometimes missing, and what
// label makes of them. types are those of the columns, if they are declared.
func fitted(t *testing.T, c learner.Config, types map[string]string, rows int, label func(v float64) string) *snapshot.Snapshot {
	t.Helper()
	in := decode.Config{Label: "y", Infer: true, Types: types, Missing: "impute", Task: c.Task}
	c.MaxFeatures = 32
	rng := rand.New(rand.NewPCG(1, 2))
	records := make([]string, rows)
	for i := range records {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		second := number(b)
		if i%20 == 19 {
			second = "null"
		}
		records[i] = fmt.Sprintf(`{"a":%v,"b":%s,"y":%s}`, a, second, label(a*b))
	}
	return modeltest.Snapshot(t, c, in, records)
}

func number(v float64) string { return fmt.Sprint(v) }
func sign(v float64) string   { return fmt.Sprintf(`"%v"`, v > 0) }

// normal are the types of columns that are seen as normal scores.
var normal = map[string]string{"a": "numeric:normal", "b": "numeric:normal"}

// fields returns those of a message, by number.
func fields(t *testing.T, b []byte) map[protowire.Number][][]byte {
	t.Helper()
	out := map[protowire.Number][][]byte{}
	for len(b) > 0 {
		n, typ, size := protowire.ConsumeTag(b)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		b = b[size:]
		v, size := b, protowire.ConsumeFieldValue(n, typ, b)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		if typ == protowire.BytesType {
			v, _ = protowire.ConsumeBytes(b)
		}
		out[n], b = append(out[n], v[:min(len(v), size)]), b[size:]
	}
	return out
}

// A graph is well-formed: every node comes after what it needs, every constant is needed, and
// the outputs are those of the predictions. That its numbers are those of the model is for a
// runtime to show, in .ci/onnx.py.
func TestGraphsAreWellFormed(t *testing.T) {
	for _, x := range []struct {
		config  learner.Config
		types   map[string]string
		label   func(float64) string
		outputs string
	}{
		{learner.Config{Forest: 3, Effort: 8}, nil, sign, "prediction probabilities"},
		{learner.Config{}, nil, sign, "prediction probabilities"},
		{learner.Config{Costs: "f1", Loss: "hinge", Algorithm: "dsg"}, nil, sign, "prediction probabilities"},
		{learner.Config{Mixture: true, Intervals: 0.9, Variance: true}, nil, number, "interval prediction variance"},
		{learner.Config{Algorithm: "dsg", Loss: "quantile:0.1,0.9"}, nil, number, "prediction quantiles"},
		{learner.Config{}, normal, sign, "prediction probabilities"},
		{learner.Config{Mixture: true}, map[string]string{"a": "numeric", "b": "numeric:normal"}, number, "prediction"},
	} {
		rows := 300
		if x.config.Forest > 0 {
			rows = 1300 // trees grow from 1,250 rows
		}
		file, err := Encode(fitted(t, x.config, x.types, rows, x.label))
		if err != nil {
			t.Fatalf("%+v: %v", x.config, err)
		}
		g := fields(t, fields(t, file)[7][0])
		known, needed := map[string]bool{"x": true}, map[string]bool{}
		for _, c := range g[5] {
			known[string(fields(t, c)[8][0])] = true
		}
		for _, n := range g[1] {
			f := fields(t, n)
			for _, in := range f[1] {
				if needed[string(in)] = true; !known[string(in)] {
					t.Fatalf("%+v: %s needs %s, which comes later or never", x.config, f[4][0], in)
				}
			}
			for _, out := range f[2] {
				if known[string(out)] {
					t.Fatalf("%+v: %s exists twice", x.config, out)
				}
				known[string(out)] = true
			}
		}
		if walks := bytes.Contains(file, []byte("GatherElements")); walks != (x.config.Forest > 0) {
			t.Errorf("%+v: the graph goes through trees: %v", x.config, walks)
		}
		var outputs []string
		for _, o := range g[12] {
			name := string(fields(t, o)[1][0])
			if outputs = append(outputs, name); !known[name] {
				t.Errorf("%+v: nothing makes %s", x.config, name)
			}
		}
		if slices.Sort(outputs); strings.Join(outputs, " ") != x.outputs {
			t.Errorf("%+v: outputs %q, want %q", x.config, outputs, x.outputs)
		}
		for name := range maps.Keys(known) {
			if name[0] == 'c' && !needed[name] {
				t.Errorf("%+v: nothing needs %s", x.config, name)
			}
		}
	}
}

// typed returns a change of the type of the first column.
func typed(name string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Schema = []byte(strings.Replace(string(s.Schema), `{`, fmt.Sprintf(`{"types":[%q,"numeric"],`, name), 1))
	}
}

// What has no counterpart in a graph is refused with what it is, and the option to change.
func TestModelsWithoutACounterpartAreRefused(t *testing.T) {
	for _, x := range []struct {
		config learner.Config
		rows   int
		change func(*snapshot.Snapshot)
		want   string
	}{
		{config: learner.Config{Kernel: "polynomial:2", Algorithm: "ridge"}, rows: 300, want: "learner.kernel"},
		{config: learner.Config{Costs: `{"true":3}`}, rows: 300, want: "learner.costs"},
		{rows: 5, want: "first fit"},
		{rows: 300, want: "the type category, and there are numbers and booleans only: leave it out of input.columns", change: typed("category")},
		{rows: 300, want: "column a had no value", change: typed("")},
		{rows: 300, want: "input.windows", change: typed("window")},
		{rows: 300, want: "what the column b becomes", change: func(s *snapshot.Snapshot) {
			for i, a := range s.State.Serving {
				switch a.Name {
				case "encode.columns":
					s.State.Serving[i].Data = []int64{asIs, 0, 0, 4, 1, 0} // a category of one value and others
				case "encode.parameters":
					s.State.Serving[i].Data = []float64{7}
				}
			}
		}},
	} {
		s := fitted(t, x.config, nil, x.rows, sign)
		if x.change != nil {
			x.change(s)
		}
		if _, err := Encode(s); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x.config, err, x.want)
		}
	}
	windows := &model{arrays: map[string]learner.Array{"windows.slots": {}, "windows.layout": {}}}
	if err := windows.check(); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "input.windows") {
		t.Errorf("with the arrays of windows: %v, want the option to change", err)
	}
	damaged := fitted(t, learner.Config{}, nil, 300, sign)
	damaged.State.Serving = damaged.State.Serving[1:]
	if _, err := Encode(damaged); err == nil {
		t.Error("arrays are missing, and there is no error")
	}
}
