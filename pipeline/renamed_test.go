package pipeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// renamed returns records of a producer that calls x and k otherwise from record 600 on, where
// noise appears as well. From record 1000 on, every fifth record has x again beside its other
// name, with the value that is right while the other one is wrong. The class depends on x and k.
func renamed(n int) []string {
	rng := rand.New(rand.NewPCG(15, 6))
	out := make([]string, n)
	for i := range out {
		x, z, k := rng.NormFloat64(), rng.NormFloat64(), rng.IntN(3)
		label := fmt.Sprintf(`,"label":"%v"`, x+2*float64(k)+0.3*z > 2)
		if i%50 == 49 {
			label = ""
		}
		noise := rng.NormFloat64()
		switch {
		case i < 600:
			out[i] = fmt.Sprintf(`{"x":%v,"z":%v,"k":"k%d"%s}`, x, z, k, label)
		case i >= 1000 && i%5 == 0:
			out[i] = fmt.Sprintf(`{"x":%v,"x2":%v,"z":%v,"kind":"k%d","noise":%v%s}`, x, noise, z, k, noise, label)
		default:
			out[i] = fmt.Sprintf(`{"x2":%v,"z":%v,"kind":"k%d","noise":%v%s}`, x, z, k, noise, label)
		}
	}
	return out
}

func renamingColumns(c model.Config) model.Config {
	c = adoptingColumns(c)
	c.Decode.Renames = true
	return c
}

// A learner reads renamed columns by their new names from the same record on, and reaches the
// same state, whatever the BATCHes are and wherever it is started again. verify and prove come to
// the same predictions.
func TestRenamedColumnsFollowFromTheRecords(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("renamed")
	values := renamed(1400)
	var all []event.Renamed
	cfg, ev := learntest.Config(c, "stopped", in)
	cfg = renamingColumns(cfg)
	for i, cut := range [][2]int{{0, 640}, {640, 705}, {705, 730}, {730, 751}, {751, 1050}, {1050, 1400}} {
		kafkatest.Fill(t, c, in, 1, values[cut[0]:cut[1]])
		cfg.BatchSize = 100 - 17*i
		learnAll(t, cfg)
	}
	want := learntest.FinalHash(t, ev)
	whole, others := learntest.Config(c, "whole", in)
	whole = renamingColumns(whole)
	whole.BatchSize = 1000
	report := whole.Report
	whole.Report = func(e event.Event) {
		if e, ok := e.(event.Renamed); ok {
			all = append(all, e)
		}
		report(e)
	}
	learnAll(t, whole)
	if got := learntest.FinalHash(t, others); got != want {
		t.Errorf("state hash %v at once, %v with restarts", got, want)
	}
	names := map[string]string{}
	for _, e := range all {
		for _, a := range e.Aliases {
			names[a.Column] = a.Field
		}
	}
	if len(names) != 2 || names["x"] != "x2" || names["k"] != "kind" {
		t.Errorf("renamed columns %v, want x as x2 and k as kind", names)
	}
	predicted := func(name string) (values []string) {
		for _, r := range kafkatest.Read(t, c, model.PredictionsTopic(name)) {
			values = append(values, strings.Replace(string(r.Value), name, "m", 1))
		}
		return values
	}
	if a, b := predicted(cfg.Model), predicted(whole.Model); !slices.Equal(a, b) || len(a) != len(values) {
		t.Errorf("%d predictions with restarts, %d at once, or others", len(a), len(b))
	}
	for _, c := range []model.Config{cfg, whole} {
		if v, err := audit.Verify(t.Context(), c); err != nil || v.Divergent != 0 {
			t.Errorf("verify: %s, %v", fmt.Sprint(v), err)
		}
	}
	provesWith(t, whole, in, map[int]int{650: 3, 990: 3, 1390: 3})
	_, schema, err := LastLearned(t.Context(), whole, 100)
	if err != nil || len(schema.Aliases) != 2 {
		t.Errorf("schema %+v, %v", schema, err)
	}
}

// A model from before renamed columns were recognised goes on without.
func TestAnOlderModelLearnsOnWithoutNewNames(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("older")
	values := renamed(1000)
	kafkatest.Fill(t, c, in, 1, values[:500])
	cfg, _ := learntest.Config(c, "older", in)
	cfg = adoptingColumns(cfg)
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, values[500:])
	cfg, ev := learntest.Config(c, "older", in)
	cfg = renamingColumns(cfg)
	learnAll(t, cfg)
	if e, ok := learntest.Last[event.Renamed](ev); ok {
		t.Errorf("%+v", e)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 {
		t.Errorf("verify: %s, %v", fmt.Sprint(v), err)
	}
}
