package onnx

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
)

// fitted returns a model of two numbers and what label makes of them.
func fitted(t *testing.T, c learner.Config, rows int, label func(v float64) string) *snapshot.Snapshot {
	t.Helper()
	in := decode.Config{Label: "y", Infer: true, Missing: "impute", Task: c.Task}
	c.MaxFeatures = 32
	fit, err := offline.NewFit(c, in)
	if err != nil {
		t.Fatal(err)
	}
	d, err := decode.New(in, decode.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range rows {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		row, err := d.Decode(fmt.Appendf(nil, `{"a":%v,"b":%v,"y":%s}`, a, b, label(a*b)))
		if err != nil {
			t.Fatal(err)
		}
		fit.Add(row)
	}
	fit.Finish()
	s, err := fit.Snapshot(d.Schema())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func number(v float64) string { return fmt.Sprint(v) }
func sign(v float64) string   { return fmt.Sprintf(`"%v"`, v > 0) }

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
		label   func(float64) string
		outputs string
	}{
		{learner.Config{}, sign, "prediction probabilities"},
		{learner.Config{Costs: "f1", Loss: "hinge", Algorithm: "dsg"}, sign, "prediction probabilities"},
		{learner.Config{Mixture: true, Intervals: 0.9, Variance: true}, number, "interval prediction variance"},
		{learner.Config{Algorithm: "dsg", Loss: "quantile:0.1,0.9"}, number, "prediction quantiles"},
	} {
		file, err := Encode(fitted(t, x.config, 300, x.label))
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

// What has no counterpart in a graph is refused with what it is.
func TestModelsWithoutACounterpartAreRefused(t *testing.T) {
	for _, x := range []struct {
		config learner.Config
		rows   int
		change func(*snapshot.Snapshot)
		want   string
	}{
		{config: learner.Config{Kernel: "polynomial:2", Algorithm: "ridge"}, rows: 300, want: "polynomial"},
		{config: learner.Config{Costs: `{"true":3}`}, rows: 300, want: "costs"},
		{rows: 5, want: "first fit"},
		{rows: 300, want: "type category", change: func(s *snapshot.Snapshot) {
			s.Schema = []byte(strings.Replace(string(s.Schema), `{`, `{"types":["category","numeric"],`, 1))
		}},
	} {
		s := fitted(t, x.config, x.rows, sign)
		if x.change != nil {
			x.change(s)
		}
		if _, err := Encode(s); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x.config, err, x.want)
		}
	}
	damaged := fitted(t, learner.Config{}, 300, sign)
	damaged.State.Serving = damaged.State.Serving[1:]
	if _, err := Encode(damaged); err == nil {
		t.Error("arrays are missing, and there is no error")
	}
}
