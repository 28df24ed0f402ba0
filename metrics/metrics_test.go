package metrics

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/accrete-ml/accrete/ingest/table"
	"github.com/accrete-ml/accrete/learner"
)

// all registers everything there is and gives each series a value.
func all() *prometheus.Registry {
	r := prometheus.NewRegistry()
	Build(r, "v1")
	l := NewLearner("m", r)
	l.Cap(4096, "revisit")
	l.Member("linear", .5, .4, .3)
	l.Progressive(.1, .5, .4, .3)
	l.Classes(.5, .2, &Curve{.9, .6, .9, .4})
	l.Calibration(.02)
	l.Class("fraud", new(.9), new(.8))
	l.Costs(.3, .4)
	half := .5
	l.Deviation(&half, &half, &half, &half)
	l.Crossed(&half)
	l.Explained(.9, 0, -1, .5)
	l.SetLate(map[string]int{"features": 3}, 1000, map[string]int64{"matched": 4, "evicted": 1})
	l.Mixtures(.3, .4)
	l.Windows.Add(&learner.WindowStatus{}, nil)
	l.Tables.Add(nil, &table.Status{Name: "customers", Rows: 3, Counts: table.Counts{Set: 5, Deleted: 1, Evicted: 1, Rejected: 1}}, 2, 4)
	l.Missing(maps.All(map[string]float64{"amount": .2}))
	l.Void(7, "batch")
	l.Lag.Set("in", 0, 7)
	l.Blocked.Set("in", 0, 5, 9)
	l.Partition("in", 0, 5, 3)
	s := NewScorer("m", r)
	s.Lag.Set("in", 1, 8)
	s.Tables.Add(nil, &table.Status{Name: "customers", Rows: 3}, 2, 4)
	s.Request(200, 5, time.Millisecond)
	s.Refused("gate")
	s.Logged("late", 2)
	s.Mode("hold")
	s.Challenge(1, 2)
	s.Canary("predicted", 3)
	s.Canary("refused", 1)
	return r
}

var update = flag.Bool("update", false, "write docs/metrics.md")

// Dashboards and alerts depend on these names: the page pins them.
func TestMetricsAreDocumented(t *testing.T) {
	families, err := all().Gather()
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString(metricsPage)
	for _, f := range families {
		labels := map[string]bool{}
		for _, m := range f.Metric {
			for _, l := range m.Label {
				labels[l.GetName()] = true
			}
		}
		if name := f.GetName(); labels["model"] == (name == "accrete_build_info") {
			t.Errorf("%s: label model is %v", name, labels["model"])
		}
		delete(labels, "model")
		names := strings.Join(slices.Sorted(maps.Keys(labels)), "`, `")
		if names != "" {
			names = "`" + names + "`"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", f.GetName(), strings.ToLower(f.GetType().String()), names, strings.ReplaceAll(f.GetHelp(), "|", "\\|"))
	}
	const path = "../docs/metrics.md"
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != page.String() {
		t.Errorf("%s differs from the metrics: go test ./metrics -update writes it, and the CHANGELOG names what was renamed", path)
	}
}

const metricsPage = `# Metrics

Every metric that ` + "`accrete learn` and `accrete score`" + ` export on ` + "`/metrics`" + `, beside those of the Go runtime and the process. All but ` + "`accrete_build_info`" + ` have the label ` + "`model`" + `, the name of the model. [Alerts](alerts.md) has what to do about their values.

| metric | type | labels | |
|---|---|---|---|
`

func TestNamesFollowTheConventions(t *testing.T) {
	families, err := all().Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// A learner and a scorer in one process have a lag each.
func TestLagIsThatOfAllPartitions(t *testing.T) {
	r := prometheus.NewRegistry()
	l, s := NewLearner("m", r), NewScorer("m", r)
	for i, c := range []struct {
		lag          *Lag
		partition    int
		records, all int64
	}{{l.Lag, 0, 5, 5}, {l.Lag, 1, 7, 12}, {s.Lag, 2, 3, 3}, {l.Lag, 0, 2, 9}, {l.Lag, 1, -1, 2}, {s.Lag, 2, 0, 0}} {
		if got := c.lag.Set("in", c.partition, c.records); got != c.all {
			t.Errorf("%d: %d, want %d", i, got, c.all)
		}
	}
}
