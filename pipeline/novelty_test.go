package pipeline

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
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
	novel := func(cfg model.Config) model.Config {
		cfg.Learner = learner.Config{Task: learner.Novelty, Nu: 0.1, MaxFeatures: 64}
		cfg.Decode = decode.Config{Task: learner.Novelty, Infer: true, Missing: "impute"}
		return cfg
	}
	cfg := continuesExactly(t, values, 333, novel)
	if n := len(kafkatest.Read(t, cfg.Client, model.QuarantineTopic(cfg.Model))); n != 1 {
		t.Errorf("%d records in quarantine, want 1", n)
	}
}
