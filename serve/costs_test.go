package serve_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// frauds returns n records of which one in ten is a fraud, which x only suggests.
func frauds(seed uint64, n int, labelled bool) []string {
	r := rand.New(rand.NewPCG(seed, 0))
	out := make([]string, n)
	for i := range out {
		fraud, label := r.IntN(10) == 0, ""
		x := r.NormFloat64()
		if fraud {
			x++
		}
		if labelled {
			label = fmt.Sprintf(`,"label":"%v"`, fraud)
		}
		out[i] = fmt.Sprintf(`{"features":{"x":%v,"y":%v}%s}`, x, r.NormFloat64(), label)
	}
	return out
}

// A learner with costs predicts the rare class at other probabilities than .5; a scorer
// decides like it, and so does the learner that replays the log to verify it.
func TestScorerDecidesLikeTheLearner(t *testing.T) {
	w := newWorld(t)
	w.costs = "f1"
	kafkatest.Fill(t, w.client, w.in, 1, frauds(1, 700, true))
	kafkatest.Fill(t, w.client, w.asked, 1, nil)
	w.learn(t, w.in, w.asked)
	kafkatest.Fill(t, w.client, w.in, 1, frauds(2, 400, true))
	w.learn(t, w.in, w.asked)
	kafkatest.Fill(t, w.client, w.asked, 1, frauds(3, 200, false))
	if err := w.scorer(true).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.learn(t, w.in, w.asked)
	learned := answers(kafkatest.Read(t, w.client, model.PredictionsTopic(w.model)))
	scored := answers(kafkatest.Read(t, w.client, model.ScoresTopic(w.model)))
	differ := 0
	for id, got := range scored {
		if want := learned[id]; got != want {
			t.Fatalf("%s: the scorer says %s, the learner %s", id, got, want)
		}
		var p struct {
			Prediction    string
			Probabilities map[string]float64
		}
		if err := json.Unmarshal([]byte(got), &p); err != nil {
			t.Fatal(err)
		}
		if p.Prediction == "true" && p.Probabilities["true"] < 0.5 {
			differ++
		}
	}
	if len(scored) != 200 || differ < 5 {
		t.Errorf("%d scores of 200 records, %d of them not of the most probable class", len(scored), differ)
	}
	v, err := audit.Verify(t.Context(), w.learner(w.in, w.asked))
	if err != nil || v.Divergent != 0 || v.Compared < 2 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}
