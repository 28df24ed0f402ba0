package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/accrete-ml/accrete/learner"
)

// Windows holds the metrics of input.windows.
type Windows struct {
	rows    *prometheus.CounterVec
	keys    prometheus.Gauge
	evicted prometheus.Counter
}

func newWindows(m maker) Windows {
	return Windows{
		rows:    m.counters("accrete_window_rows_total", "Rows by what became of them in input.windows, for each group: added, late (added with the weight of an older row), stale (too old to be added), contradicted (the next row of the key was much older than they), or no_key (without a key or a time).", "outcome"),
		keys:    m.gauge("accrete_window_keys", "Keys that input.windows keep, over all groups."),
		evicted: m.counter("accrete_window_keys_evicted_total", "Keys that input.windows have dropped because there were more than their option keys allows."),
	}
}

// Add counts the rows between the statuses before and now. before is nil at first.
func (w *Windows) Add(now, before *learner.WindowStatus) {
	a, b := now.Counts, learner.WindowCounts{}
	if before != nil {
		b = before.Counts
	}
	for outcome, n := range map[string]int64{
		"added": a.Rows - b.Rows, "late": a.Late - b.Late, "stale": a.Stale - b.Stale, "contradicted": a.Dropped - b.Dropped, "no_key": a.NoKey - b.NoKey,
	} {
		w.rows.WithLabelValues(outcome).Add(float64(max(0, n)))
	}
	w.keys.Set(float64(now.Keys))
	w.evicted.Add(float64(max(0, a.Evicted-b.Evicted)))
}
