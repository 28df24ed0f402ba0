package serve_test

import (
	"encoding/json"
	"testing"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A learner of records without labels flags novelties, and a scorer that uses its last
// snapshot writes the same bytes for the records that the learner predicts with it: those
// before the next mini-batch is full.
func TestScorerFlagsNoveltiesLikeTheLearner(t *testing.T) {
	w := newWorld(t)
	w.task = learner.Novelty
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 1280, none))
	kafkatest.Fill(t, w.client, w.asked, 1, nil)
	w.learn(t, w.in, w.asked)
	kafkatest.Fill(t, w.client, w.asked, 1, append(rings(2, 30, none), `{"features":{"x":9,"y":-9}}`))
	if err := w.scorer(true).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.learn(t, w.in, w.asked)
	learned := answers(kafkatest.Read(t, w.client, model.PredictionsTopic(w.model)))
	scored := answers(kafkatest.Read(t, w.client, model.ScoresTopic(w.model)))
	if len(scored) != 31 || len(learned) != 1311 {
		t.Fatalf("%d scores, %d predictions, want 31 and 1311", len(scored), len(learned))
	}
	flagged := 0
	for id, got := range scored {
		if want := learned[id]; got != want {
			t.Fatalf("%s: the scorer says %s, the learner %s", id, got, want)
		}
		var p struct {
			Prediction       bool
			Score, Threshold float64
			Label, Loss      any
		}
		if err := json.Unmarshal([]byte(got), &p); err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if p.Prediction != (p.Score > p.Threshold) || p.Label != nil || p.Loss != nil {
			t.Errorf("%s", got)
		}
		if p.Prediction {
			flagged++
		}
		if id[len(id)-3:] == "-30" && !p.Prediction {
			t.Errorf("the record that is unlike the others is not flagged: %s", got)
		}
	}
	if flagged == 0 || flagged > 10 {
		t.Errorf("%d of 31 records are flagged", flagged)
	}
}
