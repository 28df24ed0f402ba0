package pipeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/divergence"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A learner in Kafka that was stopped halfway reports a change of its inputs, of records
// with and without labels, within 2,000 records, with the name of the column and once. It
// has the state of one that was not stopped, and a history that verify finds.
func TestAChangeOfTheInputsIsReported(t *testing.T) {
	const change, all = 3_300, 5_300
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]string, all)
	for i := range values {
		age, label := rng.NormFloat64(), fmt.Sprintf(`,"label":%t`, rng.IntN(2) == 0)
		if i >= change {
			age++
		}
		if i%2 == 0 {
			label = ""
		}
		values[i] = fmt.Sprintf(`{"amount":%v,"age":%v,"city":"c%d"%s}`, rng.ExpFloat64(), age, rng.IntN(5), label)
	}
	c, in := kafkatest.Client(t), kafkatest.Name("orders")
	kafkatest.Fill(t, c, in, 1, values[:2_700])
	monitored := func(cfg model.Config) model.Config {
		cfg.Learner = learner.Config{Algorithm: "ridge", Kernel: "gaussian:1.5", BlockSize: 8, MaxFeatures: 16, Monitor: divergence.BlockRows}
		cfg.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute"}
		return cfg
	}
	cfg, ev := learntest.Config(c, "stopped", in)
	cfg = monitored(cfg)
	learnAll(t, cfg)
	if s, ok := learntest.Last[event.Shifted](ev); ok {
		t.Errorf("a change before it: %+v", s)
	}
	kafkatest.Fill(t, c, in, 1, values[2_700:])
	learnAll(t, cfg)
	s, ok := learntest.Last[event.Shifted](ev)
	if !ok || s.Inputs.Alarms != 1 || s.Inputs.AlarmAt <= change || s.Inputs.AlarmAt > change+2000 || !slices.Equal(s.Columns, []string{"age"}) {
		t.Errorf("%+v", s)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Compared == 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	whole, one := learntest.Config(c, "whole", in)
	learnAll(t, monitored(whole))
	if got, want := learntest.FinalHash(t, ev), learntest.FinalHash(t, one); got != want {
		t.Errorf("stopped once: state hash %v, in one go: %v", got, want)
	}
}

// A model without a mixture goes on without, and one with it goes on with it, unless another
// is configured. The same holds for normal scores and a forest, and the
// version of the warm-up, and whether members are discarded, never change.
func TestModelKeepsWhatWasChosenForIt(t *testing.T) {
	choices := map[string]func(bool) learner.Config{
		"mixture": func(is bool) learner.Config { return learner.Config{Mixture: is} },
		"warm-up": func(is bool) learner.Config {
			if is {
				return learner.Config{Warmup: learner.NewestWarmup}
			}
			return learner.Config{}
		},
		"discards":      func(is bool) learner.Config { return learner.Config{Discard: is} },
		"normal scores": func(is bool) learner.Config { return learner.Config{NormalScores: is} },
		"forest": func(is bool) learner.Config {
			if is {
				return learner.Config{Forest: 100, ForestTrial: true, ForestPairs: true, ForestRegrow: true, ForestLasting: true}
			}
			return learner.Config{}
		},
	}
	for name, of := range choices {
		for _, was := range []bool{false, true} {
			have, err := model.Config{Learner: of(was)}.Options()
			if err != nil {
				t.Fatal(err)
			}
			auto := model.Config{Learner: of(!was), AutoMixture: true, AutoScores: true, AutoForest: true}
			if options, err := auto.KeepReading(have); err != nil || model.SameOptions(have, options) != nil || auto.Learner != of(was) {
				t.Errorf("%s: a model with %v goes on with %+v: %v", name, was, auto.Learner, err)
			}
			if name == "warm-up" || name == "discards" { // which nobody configures
				continue
			}
			other := model.Config{Learner: of(!was)}
			if options, err := other.KeepReading(have); err != nil || model.SameOptions(have, options) == nil {
				t.Errorf("%s: a model with %v goes on with another choice: %v", name, was, err)
			}
		}
	}
}

// A model from before inputs were monitored goes on without the default monitor.
func TestModelKeepsToHaveNoMonitor(t *testing.T) {
	have, err := model.Config{}.Options()
	if err != nil {
		t.Fatal(err)
	}
	for rows, same := range map[int]bool{divergence.BlockRows: true, 0: true, 1000: false} {
		c := model.Config{Learner: learner.Config{Monitor: rows}}
		options, err := c.KeepReading(have)
		if err != nil {
			t.Fatal(err)
		}
		if err := model.SameOptions(have, options); (err == nil) != same || same && c.Learner.Monitor != 0 {
			t.Errorf("monitor of %d rows: %v", rows, err)
		}
	}
	if have, err = (model.Config{Learner: learner.Config{Monitor: 500}}).Options(); err != nil {
		t.Fatal(err)
	}
	c := model.Config{}
	if options, err := c.KeepReading(have); err != nil || model.SameOptions(have, options) == nil {
		t.Errorf("a model with a monitor goes on without: %v", err)
	}
}

// A model from when 256 was the default effort, and auto another choice, goes on with either. In a
// new one auto is the default, and 256 a number like others.
func TestModelKeepsItsEffort(t *testing.T) {
	const before = 13 // the version of the warm-up
	for _, test := range []struct {
		version, was, configured int
		same                     bool
	}{
		{before, 0, 256, true},
		{before, 256, 0, true},
		{before, learner.AutoEffort, learner.AutoEffort, true},
		{before, learner.AutoEffort, 0, false},
		{learner.NewestWarmup, 0, learner.AutoEffort, true},
		{learner.NewestWarmup, learner.AutoEffort, 0, true},
		{learner.NewestWarmup, 256, 256, true},
		{learner.NewestWarmup, 0, 256, false},
		{learner.NewestWarmup, 256, 0, false},
	} {
		have, err := model.Config{Learner: learner.Config{Warmup: test.version, Effort: test.was}}.Options()
		if err != nil {
			t.Fatal(err)
		}
		now := model.Config{Learner: learner.Config{Warmup: learner.NewestWarmup, Effort: test.configured}}
		options, err := now.KeepReading(have)
		if err != nil {
			t.Fatal(err)
		}
		if err := model.SameOptions(have, options); (err == nil) != test.same {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// A model of sparse inputs from when an effort of 256 was the default, and that is 4, goes on
// with it; a new one has 256, and goes on with that alone.
func TestSparseModelKeepsItsEffort(t *testing.T) {
	of := func(effort int) model.Config {
		return model.Config{Learner: learner.Config{Sparse: 18, Mixture: true, Effort: effort}}
	}
	for _, test := range []struct {
		was, configured int
		same            bool
	}{{0, 256, true}, {0, 0, true}, {0, 4, true}, {0, 8, false}, {256, 256, true}, {256, 0, false}} {
		was, now := of(test.was), of(test.configured)
		have, err := was.Options()
		if err != nil {
			t.Fatal(err)
		}
		options, err := now.KeepReading(have)
		if err != nil {
			t.Fatal(err)
		}
		if err := model.SameOptions(have, options); (err == nil) != test.same {
			t.Errorf("%+v: %v", test, err)
		}
	}
	created := of(256)
	if options, err := created.KeepReading(nil); err != nil || !strings.Contains(string(options), `"effort":256`) {
		t.Errorf("a new model has the options %s, %v", options, err)
	}
}
