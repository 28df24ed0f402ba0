package pipeline

import (
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/learntest"
)

// continuedTwice fails unless the last of three runs of a learner continued from a snapshot,
// and verify finds the history of all of them.
func continuedTwice(t *testing.T, cfg model.Config, ev *learntest.Events) {
	t.Helper()
	if r, ok := learntest.Last[event.Restored](ev); !ok || r.Step == 0 {
		t.Error("the last run did not begin at a snapshot")
	}
	v, err := audit.Verify(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if v.Compared != 3 || v.Divergent != 0 || v.FromSeq != 1 {
		t.Errorf("verify: %+v", v)
	}
}

// withoutKafka returns the snapshot of a learner that learns n rows, which of decodes, without
// Kafka.
func withoutKafka(t *testing.T, cfg model.Config, of interface{ Schema() *decode.Schema }, n int, row func(i int) (decode.Row, error)) *snapshot.Snapshot {
	t.Helper()
	fit, err := offline.NewFit(cfg.Learner, cfg.Decode)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		r, err := row(i)
		if err != nil {
			t.Fatal(err)
		}
		fit.Add(r)
	}
	fit.Finish()
	s, err := fit.Snapshot(of.Schema())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
