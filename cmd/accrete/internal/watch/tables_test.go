package watch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// A process is not ready while the topic of any of its tables is missing for longer than Patience.
func TestMissingTopicsOfTablesShow(t *testing.T) {
	now := time.Unix(1e9, 0)
	h := metrics.NewHealth(func() time.Time { return now })
	w := New("m", zerolog.Nop(), prometheus.NewRegistry(), h)
	for _, step := range []struct {
		topic   string
		missing bool
		want    string // part of the reason after Patience; empty: ready
	}{
		{"a", false, ""}, {"b", true, "as they were: b"}, {"a", true, "as they were: a, b"}, {"b", false, "as they were: a"}, {"a", false, ""},
	} {
		w.Event(event.TableMissing{Missing: enrich.Missing{Topic: step.topic, Yes: step.missing}})
		now = now.Add(Patience + time.Second)
		states, _ := h.States()
		i := slices.IndexFunc(states, func(s metrics.State) bool { return s.Name == "tables" })
		if states[i].Ready != (step.want == "") || !strings.HasSuffix(states[i].Reason, step.want) {
			t.Errorf("%+v: %+v", step, states)
		}
	}
}
