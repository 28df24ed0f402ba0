package metrics

import "github.com/prometheus/client_golang/prometheus"

// Late holds the collectors for labels that come later than their features.
type Late struct {
	waiting *prometheus.GaugeVec
	oldest  prometheus.Gauge
	labels  *prometheus.CounterVec
	was     map[string]int64
}

// SetLate sets the number of waiting entries by kind, and the age in milliseconds of the features
// that expire first. totals counts labels and features by outcome, since the model was created.
func (l *Learner) SetLate(waiting map[string]int, oldest int64, totals map[string]int64) {
	for kind, n := range waiting {
		l.late.waiting.WithLabelValues(kind).Set(float64(n))
	}
	l.late.oldest.Set(float64(oldest) / 1000)
	for outcome, n := range totals {
		l.late.labels.WithLabelValues(outcome).Add(float64(max(0, n-l.late.was[outcome])))
		l.late.was[outcome] = n
	}
}

func newLate(m maker) *Late {
	return &Late{
		waiting: m.gauges("accrete_late_waiting", "What waits to be joined (input.labels): features without a label, labels without features, and keys that are remembered because they are done.", "kind"),
		oldest:  m.gauge("accrete_late_oldest_seconds", "Age of the features that have waited longest for their label, in event time."),
		labels:  m.counters("accrete_late_labels_total", "Labels and features since the model was created, by outcome: matched labels; features that timed_out or were evicted; labels that were late, duplicate, contradicting or unmatched; repeated features.", "outcome"),
		was:     map[string]int64{},
	}
}
