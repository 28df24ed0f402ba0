package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/accrete-ml/accrete/ingest/table"
)

// Tables holds the metrics of input.tables. Their label is the name of a table.
type Tables struct {
	rows, lag        *prometheus.GaugeVec
	records, missing *prometheus.CounterVec
	was              map[ofTable]table.Counts
}

// ofTable identifies a table in a process that may have several tables with the same name.
type ofTable struct {
	rows any
	name string
}

// newTables returns the collectors of a process whose metrics begin with prefix.
func newTables(m maker, prefix string) *Tables {
	return &Tables{
		rows:    m.gauges(prefix+"table_rows", "Rows of each table of input.tables.", "table"),
		lag:     m.gauges(prefix+"table_lag", "Offsets of the topic of each table of input.tables that are not applied to it yet.", "table"),
		records: m.counters(prefix+"table_records_total", "Records of the topic of each table of input.tables by outcome (of a learner since the model was created, of a scorer since its start): set (a row), deleted (a row, by a record without a value), evicted (rows that were dropped because there were more than its option rows allows, or more than 512 MiB), or rejected (they are no rows).", "table", "outcome"),
		missing: m.counters(prefix+"table_missing_total", "Records that have no row in a table of input.tables, so that its columns are null.", "table"),
		was:     map[ofTable]table.Counts{},
	}
}

// Missing adds records that have no row in a table.
func (t *Tables) Missing(table string, records int64) {
	t.missing.WithLabelValues(table).Add(float64(records))
}

// Add updates the metrics to the status of a table, its lag, and the number of records that had
// no row in it since the last call. of distinguishes tables with the same name, and may be nil if
// names are unique. The counters of tables with the same name are added up; the gauges are those
// of the table that was added last.
func (t *Tables) Add(of any, s *table.Status, lag, missing int64) {
	t.rows.WithLabelValues(s.Name).Set(float64(s.Rows))
	t.lag.WithLabelValues(s.Name).Set(float64(lag))
	t.missing.WithLabelValues(s.Name).Add(float64(missing))
	is := ofTable{of, s.Name}
	a, b := s.Counts, t.was[is]
	for outcome, n := range map[string]int64{
		"set": a.Set - b.Set, "deleted": a.Deleted - b.Deleted, "evicted": a.Evicted - b.Evicted, "rejected": a.Rejected - b.Rejected,
	} {
		t.records.WithLabelValues(s.Name, outcome).Add(float64(max(0, n)))
	}
	t.was[is] = a
}
