package watch

import (
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/metrics"
)

// A process is not ready while the topic of any of its tables is missing for longer than Patience.
func TestMissingTopicsOfTablesShow(t *testing.T) {
	now := time.Unix(1e9, 0)
	h := metrics.NewHealth(func() time.Time { return now })
	tables := NewTables(h)
	for _, step := range []struct {
		topic   string
		missing bool
		want    string // part of the reason after Patience; empty: ready
	}{
		{"a", false, ""}, {"b", true, "as they were: b"}, {"a", true, "as they were: a, b"}, {"b", false, "as they were: a"}, {"a", false, ""},
	} {
		tables.Missing(enrich.Missing{Topic: step.topic, Yes: step.missing})
		now = now.Add(Patience + time.Second)
		states, ready := h.States()
		if ready != (step.want == "") || !strings.HasSuffix(states[0].Reason, step.want) {
			t.Errorf("%+v: %+v", step, states)
		}
	}
}
