package serve_test

import (
	"fmt"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A scorer has the windows of its snapshot and adds nothing to them: a record has the
// prediction that the learner would have made next, however many records of its key were
// scored before. A score says with which BATCH they end.
func TestAScorerHasTheWindowsOfItsSnapshot(t *testing.T) {
	w := newWorld(t)
	record := func(i int, label string) string {
		return fmt.Sprintf(`{"card":"c%d","at":%d,"amount":%d%s}`, i%5, 1_700_000_000+60*i, i*i%11, label)
	}
	var learned []string
	for i := range 600 {
		learned = append(learned, record(i, fmt.Sprintf(`,"label":"%v"`, (i*i%11)*(i%5) > 8)))
	}
	kafkatest.Fill(t, w.client, w.in, 1, learned)
	kafkatest.Fill(t, w.client, w.asked, 1, nil)
	learn := func() {
		cfg := w.learner(w.in, w.asked)
		cfg.Decode = decode.Config{
			Label: "label", Infer: true, Missing: "impute", Types: map[string]string{"card": "id", "at": "id"},
			Windows: []decode.Window{{Key: "card", Of: "amount", Time: "at", Over: []string{"10m", "2h"}}},
		}
		l, err := pipeline.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	learn()
	before := kafkatest.Read(t, w.client, model.PredictionsTopic(w.model))
	last := kafkatest.Header(before[len(before)-1], "ce_sequence")
	asked := record(601, "")
	kafkatest.Fill(t, w.client, w.asked, 1, []string{asked, asked, asked})
	if err := w.scorer(true).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	learn()
	value := func(rs []ingest.Record, offset int64) string {
		return answers(rs)[fmt.Sprintf("%s-0-%d", w.asked, offset)]
	}
	scores := kafkatest.Read(t, w.client, model.ScoresTopic(w.model))
	next := value(kafkatest.Read(t, w.client, model.PredictionsTopic(w.model)), 0)
	after := value(kafkatest.Read(t, w.client, model.PredictionsTopic(w.model)), 1)
	if next == "" || next == after {
		t.Fatalf("the learner predicts %q and %q: its windows do not move", next, after)
	}
	for _, r := range scores {
		if got := kafkatest.Header(r, "ce_sequence"); got != last {
			t.Errorf("a score says that its windows end with BATCH %q, want %q", got, last)
		}
	}
	for offset := range int64(3) {
		if got := value(scores, offset); got != next {
			t.Errorf("score %d is %s, want the learner's next prediction, %s", offset, got, next)
		}
	}
}
