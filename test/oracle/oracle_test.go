package oracle_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/oracle"
)

// stream is examples of two classes in rings, some of them without a label and
// some of them none.
func stream(n int) []string {
	rng := rand.New(rand.NewPCG(3, 4))
	out := make([]string, n)
	for i := range out {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		switch {
		case i%37 == 36:
			out[i] = fmt.Sprintf(`{"features":{"x":%v,"y":%v}}`, x, y)
		case i%41 == 40:
			out[i] = `{"features":{"x":1},"label":"in"}`
		default:
			out[i] = fmt.Sprintf(`{"features":{"x":%v,"y":%v},"label":"%s"}`, x, y, map[bool]string{true: "in", false: "out"}[math.Hypot(x, y) < 1.2])
		}
	}
	return out
}

// world is what a pipeline leaves behind that learned all of a stream in two
// runs.
func world(t *testing.T) oracle.World {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := stream(400)
	model := "m." + in
	kafkatest.Fill(t, c, in, 2, values[:200])
	for _, more := range [][]string{values[200:], nil} {
		l, err := pipeline.Open(t.Context(), pipeline.Config{
			Model: model, Client: c, Topics: []string{in}, Learner: learner.Config{Width: 8, MaxFeatures: 32},
			BatchSize: 50, Linger: time.Millisecond, SnapshotEvery: 50 * time.Millisecond, ReplayLimit: time.Hour,
			Keep: 3, History: 1 << 30, ToEnd: true, Report: func(pipeline.Event) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		kafkatest.Fill(t, c, in, 2, more)
	}
	w, err := oracle.Load(t.Context(), c, model, in)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestOracleAgreesWithThePipeline(t *testing.T) {
	w := world(t)
	r := oracle.Check(w)
	if r.Divergences != 0 || r.Lost != 0 || r.Differing != 0 || r.Compared < 2 || r.Learned == 0 || r.Predicted == 0 || r.Quarantined == 0 || r.Consumed != 400 {
		t.Errorf("%+v", r)
	}
}

// TestOracleSeesEveryChange breaks a good world in one place at a time.
func TestOracleSeesEveryChange(t *testing.T) {
	good := world(t)
	replace := func(r *ingest.Record, old, new string) {
		if !strings.Contains(string(r.Value), old) {
			t.Fatalf("%s has no %s", r.Value, old)
		}
		r.Value = []byte(strings.Replace(string(r.Value), old, new, 1))
	}
	record := func(rs []ingest.Record, key string) *ingest.Record {
		for i := len(rs) - 1; i >= 0; i-- {
			if string(rs[i].Key) == key {
				return &rs[i]
			}
		}
		t.Fatalf("no %s", key)
		return nil
	}
	for name, spoil := range map[string]func(w *oracle.World){
		"a prediction is missing": func(w *oracle.World) { w.Predictions = w.Predictions[1:] },
		"a prediction differs":    func(w *oracle.World) { replace(&w.Predictions[200], `"step":`, `"step":1`) },
		"a prediction of another BATCH": func(w *oracle.World) {
			hs := slices.Clone(w.Predictions[100].Headers)
			i := slices.IndexFunc(hs, func(h ingest.Header) bool { return h.Key == "ce_sequence" })
			hs[i].Value = []byte("99")
			w.Predictions[100].Headers = hs
		},
		"a prediction of another input": func(w *oracle.World) { replace(&w.Predictions[200], `"learned_to":"`, `"learned_to":"0`) },
		"a copy differs": func(w *oracle.World) {
			w.Predictions = append(w.Predictions, w.Predictions[3])
			w.Predictions[3].Time++
		},
		"nothing in quarantine":           func(w *oracle.World) { w.Quarantine = nil },
		"a manifest with another state":   func(w *oracle.World) { replace(record(w.Log, "manifest"), `"state_hash":"`, `"state_hash":"0`) },
		"a chunk is damaged":              func(w *oracle.World) { record(w.Log, "chunk").Value[100] ^= 1 },
		"another history of the input":    func(w *oracle.World) { p := w.Inputs[input(w)]; replace(&p[100], "0.", "1.") },
		"a record of the input is gone":   func(w *oracle.World) { p := input(w); w.Inputs[p] = w.Inputs[p][1:] },
		"a BATCH counts other than it is": func(w *oracle.World) { replace(record(w.Log, "batch"), `"learned":`, `"learned":1`) },
	} {
		w := good
		w.Log, w.Predictions, w.Quarantine = clone(good.Log), clone(good.Predictions), clone(good.Quarantine)
		w.Inputs = map[oracle.Partition][]ingest.Record{}
		for p, rs := range good.Inputs {
			w.Inputs[p] = clone(rs)
		}
		spoil(&w)
		if r := oracle.Check(w); r.Divergences+r.Lost+r.Differing == 0 {
			t.Errorf("%s: not seen", name)
		}
	}
}

func input(w *oracle.World) oracle.Partition {
	for p := range w.Inputs {
		return p
	}
	panic("no input")
}

func clone(rs []ingest.Record) []ingest.Record {
	out := make([]ingest.Record, len(rs))
	for i, r := range rs {
		out[i] = r
		out[i].Value = append([]byte(nil), r.Value...)
	}
	return out
}
