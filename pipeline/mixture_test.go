package pipeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A learner with a mixture continues exactly after it was stopped, although it predicts
// from the last labels of keys; verify finds its history; and a model of its snapshot
// predicts to the bit what it says that a scorer does.
func TestMixtureContinuesExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	values := make([]string, 700)
	for i := range values {
		a, label := rng.NormFloat64(), "up"
		if a+float64(i/40%2) < 0.5 {
			label = "down"
		}
		values[i] = fmt.Sprintf(`{"a":%v,"b":%v,"site":"s%d","y":%q}`, a, rng.NormFloat64(), i%5, label)
	}
	cfg := continuesExactly(t, values, 333, func(cfg model.Config) model.Config {
		cfg.Learner = learner.Config{Algorithm: "all", Mixture: true, Kernel: "gaussian:1.5", MaxFeatures: 64, Costs: "f1"}
		cfg.Decode = decode.Config{Label: "y", Key: "site", Infer: true, Missing: "impute"}
		return cfg
	})
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	live := l.history.Learner
	model, err := learner.NewModel(live.Serving())
	if err != nil {
		t.Fatal(err)
	}
	var b learner.Batch
	b.Reset(2)
	for range 100 {
		b.Append([]float64{rng.NormFloat64(), rng.NormFloat64()}, learner.Label{}, 1)
	}
	p, q := live.Predict(&b), model.Predict(&b)
	if q.Mixture != learner.MixtureInputs || p.Len() != b.Len() || !slices.Equal(p.Scorer.Values, q.Values) || p.Scorer.Decision != q.Decision {
		t.Errorf("a scorer is said to predict %v, and predicts %v", p.Scorer.Values[:4], q.Values[:4])
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// continuesExactly has a learner stop after some of the records and continue, compares it with
// one that learns all of them in one go, and verifies its history. It returns the
// configuration of the first, which with has changed.
func continuesExactly(t *testing.T, values []string, at int, with func(model.Config) model.Config) model.Config {
	t.Helper()
	c, in := kafkatest.Client(t), kafkatest.Name("continued")
	kafkatest.Fill(t, c, in, 1, values[:at])
	cfg, ev := learntest.Config(c, "stopped", in)
	cfg = with(cfg)
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, values[at:])
	learnAll(t, cfg)
	if r, ok := learntest.Last[event.Restored](ev); !ok || r.Step == 0 {
		t.Error("the second run did not begin at a snapshot")
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Compared == 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	whole, all := learntest.Config(c, "whole", in)
	learnAll(t, with(whole))
	if got, want := learntest.FinalHash(t, ev), learntest.FinalHash(t, all); got != want {
		t.Errorf("stopped once: state hash %v, in one go: %v", got, want)
	}
	return cfg
}
