package pipeline

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/join"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// Labels that contradict others are counted with what is in quarantine, and a rebuild compares
// the predictions that were graded later.
func TestWhatTheJoinRefusesAndGradesIsCounted(t *testing.T) {
	const n, contradictions = 300, 5
	c, in := kafkatest.Client(t), kafkatest.Name("rows")
	cfg, ev := learntest.Config(c, "late", in)
	outcomes := in + "-outcomes"
	cfg.Topics = []string{in, outcomes}
	cfg.Decode = decode.Config{
		Label: "label", Infer: true, Missing: "impute", Types: map[string]string{"at": "ignored"},
		Late: &join.Config{Topic: outcomes, Key: "id", Time: "at", TTL: 3_600_000, Pending: 1000, Quarantine: []string{join.ContradictingLabel}},
	}
	rows, labels := withLateLabels(n)
	kafkatest.Fill(t, c, in, 1, rows)
	for i := range contradictions {
		labels = append(labels, `{"id":`+string(rune('0'+i))+`,"at":1700003372,"label":"other"}`)
	}
	kafkatest.Fill(t, c, outcomes, 1, labels)
	learnAll(t, cfg)
	var quarantined, took int64
	for _, e := range ev.All() {
		if l, is := e.(event.Learned); is {
			quarantined, took = quarantined+l.Counts.Quarantined, took+l.Counts.Labels
		}
	}
	if got := len(kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))); got != contradictions || quarantined != contradictions || took != n {
		t.Errorf("%d records in quarantine, %d and %d labels counted, want %d and %d", got, quarantined, took, contradictions, n)
	}
	r, err := audit.Rebuild(t.Context(), cfg, []string{"key=none"}, "")
	if err != nil {
		t.Fatal(err)
	}
	l, _ := learntest.Last[event.Learned](ev)
	want := l.Progress.Whole
	if d := r.Difference; d.Graded < want.Rows || d.Graded > want.Rows+1 || d.With != d.Without || math.Abs(d.With.Error-want.Model.Error) > 0.01 {
		t.Errorf("the rebuild has compared %+v, want %d graded with an error of %v", d, want.Rows, want.Model.Error)
	}
}
