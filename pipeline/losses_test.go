package pipeline

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/deviation"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// lossRecords returns records whose label depends on x: a class, or a number of 0 or more.
func lossRecords(l loss.Loss, n int) []string {
	rng := rand.New(rand.NewPCG(5, 6))
	out := make([]string, n)
	for i := range out {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		label := fmt.Sprint(math.Floor(4 * (1 + math.Tanh(x)) * rng.Float64()))
		if l.Classifies() {
			label = fmt.Sprintf("%q", []string{"low", "high"}[int(1+math.Tanh(x+y/8))])
		}
		out[i] = fmt.Sprintf(`{"x":%v,"y":%v,"label":%s}`, x, y, label)
	}
	return out
}

// With every loss, a learner that is stopped once reaches the state of one that reads the
// records from a file, verify finds its history, and it is better than no model. The figures
// of its loss are those of the predictions in the topic.
func TestEveryLossThroughThePipeline(t *testing.T) {
	c := kafkatest.Client(t)
	for _, l := range loss.All {
		t.Run(l.String(), func(t *testing.T) {
			values, in := lossRecords(l, 400), kafkatest.Name("losses")
			cfg, ev := learntest.Config(c, "losses", in)
			cfg = columnsConfig(cfg)
			cfg.Learner.Loss = l.String()
			cfg.Learner.Algorithm, cfg.Learner.BlockSize, cfg.Learner.Minibatch = "cdsg", 8, 32
			kafkatest.Fill(t, c, in, 1, values[:170])
			learnAll(t, cfg)
			kafkatest.Fill(t, c, in, 1, values[170:])
			learnAll(t, cfg)
			learned, _ := learntest.Last[event.Learned](ev)
			if got, want := learntest.FinalHash(t, ev), hashOfFile(t, cfg, values); got != want {
				t.Errorf("state hash %v, from a file %v", got, want)
			}
			if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Compared == 0 {
				t.Errorf("verify: %+v, %v", v, err)
			}
			s := learned.Progress.Whole
			if !(s.Model.Loss >= 0) || math.IsInf(s.Model.Loss, 0) || l.Classifies() && s.Model.Error >= s.Majority.Error {
				t.Errorf("progress %+v", s)
			}
			checkDeviation(t, l, cfg, learned.Deviation, 170)
		})
	}
}

// checkDeviation compares figures with the predictions in the topic, after those of the
// first run.
func checkDeviation(t *testing.T, l loss.Loss, cfg model.Config, got *deviation.Figures, from int) {
	t.Helper()
	graded := l
	several, each := 1.0, []float64(nil)
	switch l := l.(type) {
	case loss.Quantile:
	case loss.Quantiles:
		each = l.Taus()
		several = float64(len(each))
	default:
		graded = loss.Absolute{}
	}
	n, sum := 0.0, 0.0
	for _, r := range kafkatest.Read(t, cfg.Client, model.PredictionsTopic(cfg.Model))[from:] {
		var v struct {
			Prediction, Label any
			Quantiles         map[string]float64
		}
		if err := json.Unmarshal(r.Value, &v); err != nil {
			t.Fatal(err)
		}
		if p, ok := v.Prediction.(float64); ok {
			f := []float64{p}
			if each != nil {
				f = f[:0]
				for _, tau := range each {
					f = append(f, v.Quantiles[fmt.Sprint(tau)])
				}
			}
			sum += graded.Value(f, v.Label.(float64)) / several
			n++
		}
	}
	if deviation.New(l) == nil {
		if got != nil {
			t.Errorf("figures %+v, want none", got)
		}
		return
	}
	if got == nil || math.Abs(got.Value()-sum/n) > 1e-9 {
		t.Errorf("figures %+v, want %v", got, sum/n)
	}
}

// hashOfFile returns the state hash of a learner that reads the records without Kafka.
func hashOfFile(t *testing.T, cfg model.Config, values []string) snapshot.Hash {
	t.Helper()
	d, err := decode.New(cfg.Decode, decode.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	s := withoutKafka(t, cfg, d, len(values), func(i int) (decode.Row, error) { return d.Decode([]byte(values[i])) })
	return snapshot.StateHash(s.Schema, s.State)
}
