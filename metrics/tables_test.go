package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/accrete-ml/accrete/ingest/table"
)

// The counts of tables of one name, of a model and its canary, are added up.
func TestTablesOfOneNameAreAddedUp(t *testing.T) {
	r := prometheus.NewRegistry()
	s := NewScorer("m", r)
	champion, canary := new(table.Tables), new(table.Tables)
	champion.All, canary.All = make([]*table.Table, 1), make([]*table.Table, 1)
	add := func(of any, set, rejected int64) {
		s.Tables.Add(of, &table.Status{Name: "customers", Counts: table.Counts{Set: set, Rejected: rejected}}, 0, 0)
	}
	add(champion, 100, 1)
	add(canary, 10, 0)
	add(champion, 101, 1)
	add(canary, 12, 2)
	add(champion, 101, 1)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "accrete_scorer_table_records_total" {
			continue
		}
		for _, m := range f.Metric {
			for _, l := range m.Label {
				if l.GetName() == "outcome" {
					got[l.GetValue()] = m.Counter.GetValue()
				}
			}
		}
	}
	if got["set"] != 113 || got["rejected"] != 3 {
		t.Errorf("%v, want 113 that are set and 3 that are rejected", got)
	}
}
