package watch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/ingest/enrich"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// Tables is the readiness of the tables of a process: their topics exist.
type Tables struct {
	condition *metrics.Condition
	missing   map[string]bool // by topic
}

// NewTables returns the readiness of the tables, as a condition in h.
func NewTables(h *metrics.Health) *Tables {
	return &Tables{h.Watch("tables", Patience), map[string]bool{}}
}

// Missing records that a topic is missing, or is back.
func (t *Tables) Missing(m enrich.Missing) {
	delete(t.missing, m.Topic)
	if m.Yes {
		t.missing[m.Topic] = true
	}
	if len(t.missing) == 0 {
		t.condition.Progress()
		return
	}
	names := slices.Sorted(maps.Keys(t.missing))
	t.condition.Trouble(fmt.Sprintf("topics of tables are missing, so their rows stay as they were: %s", strings.Join(names, ", ")))
}

// table handles the events of the topics of tables.
func (w *Watch) table(ev event.Event) {
	switch ev := ev.(type) {
	case event.TableRejected:
		w.log.Warn().Str("topic", ev.Topic).Int32("partition", ev.Partition).Int64("offset", ev.Offset).Int64("records", ev.Records).Err(ev.Err).Msg("a record of a table's topic is no row, and is left out")
	case event.TableMissing:
		w.tables.Missing(ev.Missing)
	}
}
