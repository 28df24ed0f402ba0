package serve_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A scorer has the columns of the model that predicts: while another learns those that were
// adopted, and after that has taken over, its predictions are those of the learner.
func TestAScorerFollowsAdoptedColumns(t *testing.T) {
	for _, rows := range []int{700, 2400} {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			w := newWorld(t)
			rng := rand.New(rand.NewPCG(7, 8))
			record := func(i int, labelled bool) string {
				x, z := rng.NormFloat64(), rng.NormFloat64()
				v := fmt.Sprintf(`{"x":%v`, x)
				if i >= 200 {
					v += fmt.Sprintf(`,"z":%v`, z)
				}
				if labelled {
					v += fmt.Sprintf(`,"label":"%v"`, math.Hypot(x, z) > 1.2)
				}
				return v + "}"
			}
			var learned, asked []string
			for i := range rows {
				learned = append(learned, record(i, true))
			}
			for range 100 {
				asked = append(asked, record(rows, false))
			}
			succeeded := false
			w.learnEvents = func(ev event.Event) {
				if _, is := ev.(event.Succeeded); is {
					succeeded = true
				}
			}
			learn := func() {
				cfg := w.learner(w.in, w.asked)
				cfg.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute", Adopt: true}
				l, err := pipeline.Open(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				if err := l.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			kafkatest.Fill(t, w.client, w.in, 1, learned)
			kafkatest.Fill(t, w.client, w.asked, 1, nil)
			learn()
			if want := rows > 2300; succeeded != want {
				t.Fatalf("the model with column z predicts: %v, want %v", succeeded, want)
			}
			w.scoresAsLearned(t, asked, learn)
		})
	}
}

// A scorer reads a renamed column as the learner does at the same step, in records with either
// name, with both and with neither.
func TestAScorerReadsRenamedColumns(t *testing.T) {
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(9, 8))
	record := func(name string, labelled bool) string {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		v := fmt.Sprintf(`{%q:%v,"z":%v`, name, x, z)
		if name == "both" {
			v = fmt.Sprintf(`{"new":%v,"x":%v,"z":%v`, z, x, z)
		}
		if labelled {
			v += fmt.Sprintf(`,"label":"%v"`, x+0.3*z > 0)
		}
		return v + "}"
	}
	var learned, asked []string
	for i := range 900 {
		learned = append(learned, record(map[bool]string{true: "x", false: "new"}[i < 600], true))
	}
	for i := range 120 {
		asked = append(asked, record([]string{"x", "new", "both", "neither"}[i%4], false))
	}
	renamed := false
	w.learnEvents = func(ev event.Event) {
		if _, is := ev.(event.Renamed); is {
			renamed = true
		}
	}
	learn := func() {
		cfg := w.learner(w.in, w.asked)
		cfg.Decode = decode.Config{Label: "label", Infer: true, Missing: "impute", Adopt: true, Renames: true}
		l, err := pipeline.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	kafkatest.Fill(t, w.client, w.in, 1, learned)
	kafkatest.Fill(t, w.client, w.asked, 1, nil)
	learn()
	if !renamed {
		t.Fatal("the new name is not found")
	}
	w.scoresAsLearned(t, asked, learn)
}

// scoresAsLearned fails the test unless a scorer predicts records as the learner does.
func (w *world) scoresAsLearned(t *testing.T, asked []string, learn func()) {
	t.Helper()
	kafkatest.Fill(t, w.client, w.asked, 1, asked)
	if err := w.scorer(true).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	learn() // predicts the unlabelled records and learns nothing
	want := answers(kafkatest.Read(t, w.client, model.PredictionsTopic(w.model)))
	got := answers(kafkatest.Read(t, w.client, model.ScoresTopic(w.model)))
	if len(got) != len(asked) {
		t.Fatalf("%d scores of %d records", len(got), len(asked))
	}
	for id, v := range got {
		if v != want[id] {
			t.Fatalf("%s: the scorer says %s, the learner %s", id, v, want[id])
		}
	}
}
