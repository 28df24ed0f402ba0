package metrics

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// all registers everything there is and gives each series a value.
func all() *prometheus.Registry {
	r := prometheus.NewRegistry()
	Build(r, "v1")
	l := NewLearner(r)
	l.Cap(4096, "revisit")
	l.Progressive(.1, .5, .4, .3)
	l.Classes(.5, .2, &Curve{.9, .6, .9, .4})
	half := .5
	l.Deviation(&half, &half, &half, &half)
	l.Lag.Set("in", 0, 7)
	l.Blocked.Set("in", 0, 5, 9)
	l.Partition("in", 0, 5, 3)
	s := NewScorer(r)
	s.Lag.Set("in", 1, 8)
	s.Request(200, 5, time.Millisecond)
	s.Refused("gate")
	s.Mode("hold")
	s.Challenge(1, 2)
	return r
}

// Dashboards and alerts depend on these names.
func TestNamesAreFixed(t *testing.T) {
	want := strings.Fields(`
		accrete_batches_total
		accrete_blocked_records{partition=0,topic=in}
		accrete_blocked_seconds{partition=0,topic=in}
		accrete_build_info{version=v1}
		accrete_drifts_total{detector=adwin}
		accrete_drifts_total{detector=page_hinkley}
		accrete_dropped_fields_total
		accrete_examples_total{outcome=learned}
		accrete_examples_total{outcome=lost}
		accrete_examples_total{outcome=predicted}
		accrete_examples_total{outcome=quarantined}
		accrete_examples_total{outcome=skipped}
		accrete_features
		accrete_headroom_records{partition=0,topic=in}
		accrete_input_changes_total
		accrete_input_columns_moved
		accrete_input_distance
		accrete_lag_records{partition=0,topic=in}
		accrete_lag_records{partition=1,topic=in}
		accrete_last_progress_timestamp_seconds
		accrete_learn_seconds
		accrete_learner_role{role=owner}
		accrete_learner_role{role=standby}
		accrete_log_append_seconds
		accrete_log_broken
		accrete_max_features{at_cap=revisit}
		accrete_memory_limit_bytes
		accrete_missing_columns
		accrete_partition_progress_timestamp_seconds{partition=0,topic=in}
		accrete_predictions_total
		accrete_progressive_auc{model=accrete}
		accrete_progressive_balanced_error{model=accrete}
		accrete_progressive_below{model=accrete,tau=0.5}
		accrete_progressive_error{model=accrete}
		accrete_progressive_error{model=linear}
		accrete_progressive_error{model=majority}
		accrete_progressive_error{model=no_change}
		accrete_progressive_f1{model=accrete}
		accrete_progressive_loss
		accrete_progressive_mae{model=accrete}
		accrete_progressive_pinball{model=accrete,tau=0.5}
		accrete_progressive_pr_auc{model=accrete}
		accrete_progressive_recall{model=accrete,precision=0.9}
		accrete_refit_gap
		accrete_refit_timestamp_seconds
		accrete_refits_failed_total
		accrete_refits_total
		accrete_replayed_batches_total
		accrete_scorer_gate{model=challenger}
		accrete_scorer_gate{model=champion}
		accrete_scorer_http_requests_total{code=200}
		accrete_scorer_http_rows_total
		accrete_scorer_http_seconds
		accrete_scorer_log_broken
		accrete_scorer_lost_total
		accrete_scorer_model_timestamp_seconds
		accrete_scorer_quarantined_total
		accrete_scorer_refused_snapshots_total{reason=gate}
		accrete_scorer_scored_total
		accrete_scorer_serving{mode=follow}
		accrete_scorer_serving{mode=hold}
		accrete_scorer_serving{mode=pin}
		accrete_scorer_step
		accrete_snapshot_bytes
		accrete_snapshot_timestamp_seconds
		accrete_snapshots_total
		accrete_step
		accrete_suboptimality_bound`)
	families, err := all().Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			name := f.GetName()
			if len(labels) > 0 {
				name += "{" + strings.Join(labels, ",") + "}"
			}
			got[name] = true
		}
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(names, "\n"), strings.Join(want, "\n"))
	}
}

// The figures of classes and of losses are listed in docs/monitoring.md.
func TestFiguresAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	families, err := all().Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range families {
		if strings.Contains(f.GetHelp(), "10,000 to 20,000") {
			n++
			if !strings.Contains(string(page), "| `"+f.GetName()+"` |") {
				t.Errorf("%s is not in docs/monitoring.md", f.GetName())
			}
		}
	}
	if n != 8 {
		t.Errorf("%d figures, want 8", n)
	}
}

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
	l, s := NewLearner(r), NewScorer(r)
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
