package pipeline

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A learner of records without labels counts them as learned, continues exactly after it
// was stopped, and has a history that verify finds.
func TestNoveltyIsLearnedFromRecordsWithoutLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]string, 600)
	for i := range values {
		values[i] = fmt.Sprintf(`{"a":%v,"b":%v,"city":"c%d"}`, rng.NormFloat64(), rng.NormFloat64(), rng.IntN(3))
	}
	values[500] = `{"a":"no number","b":1,"city":"c1"}`
	c, in := kafkatest.Client(t), kafkatest.Name("orders")
	kafkatest.Fill(t, c, in, 1, values[:333])
	novel := func(cfg model.Config) model.Config {
		cfg.Learner = learner.Config{Task: learner.Novelty, Nu: 0.1, MaxFeatures: 64}
		cfg.Decode = decode.Config{Task: learner.Novelty, Infer: true, Missing: "impute"}
		return cfg
	}
	cfg, ev := learntest.Config(c, "stopped", in)
	cfg = novel(cfg)
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, values[333:])
	learnAll(t, cfg)
	if r, ok := learntest.Last[event.Restored](ev); !ok || r.Step == 0 {
		t.Error("the second run did not begin at a snapshot")
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Compared == 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	whole, all := learntest.Config(c, "whole", in)
	learnAll(t, novel(whole))
	if got, want := learntest.FinalHash(t, ev), learntest.FinalHash(t, all); got != want {
		t.Errorf("stopped once: state hash %v, in one go: %v", got, want)
	}
	if n := len(kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))); n != 1 {
		t.Errorf("%d records in quarantine, want 1", n)
	}
}
