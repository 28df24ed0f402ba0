package metrics

import (
	"math"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Scorer holds the collectors of a scorer.
type Scorer struct {
	Step        prometheus.Gauge
	ModelTime   prometheus.Gauge // Unix seconds; see Model
	Scored      prometheus.Counter
	Quarantined prometheus.Counter
	Gap         prometheus.Counter
	LogBroken   prometheus.Gauge // 1 or 0

	refused  *prometheus.CounterVec
	mode     *prometheus.GaugeVec
	compared *prometheus.GaugeVec
	canary   *prometheus.CounterVec

	CanaryStep prometheus.Gauge

	Tables *Tables

	HTTPRows prometheus.Counter
	HTTP     prometheus.Histogram // seconds
	requests *prometheus.CounterVec
	logged   *prometheus.CounterVec

	Lag     *Lag
	Blocked *Blocked
}

// Model sets the step of the snapshot in use, and when it was written; zero if that is unknown.
func (s *Scorer) Model(step int64, written time.Time) {
	s.Step.Set(float64(step))
	at := math.NaN()
	if !written.IsZero() {
		at = float64(written.UnixMilli()) / 1000
	}
	s.ModelTime.Set(at)
}

// Request counts a request for predictions, which was answered, by the status code of its response.
func (s *Scorer) Request(code, rows int, took time.Duration) {
	s.requests.WithLabelValues(strconv.Itoa(code)).Inc()
	s.HTTPRows.Add(float64(rows))
	s.HTTP.Observe(took.Seconds())
}

// Untimed counts a request for predictions that was refused before it was read, by the status code of
// its response, or that its client aborted, as 499.
func (s *Scorer) Untimed(code int) { s.requests.WithLabelValues(strconv.Itoa(code)).Inc() }

// Logged counts rows of logged requests by outcome: acknowledged, dropped or late.
func (s *Scorer) Logged(outcome string, rows int) {
	s.logged.WithLabelValues(outcome).Add(float64(rows))
}

// Refused counts a snapshot that is not served. The reason is damaged or gate.
func (s *Scorer) Refused(reason string) { s.refused.WithLabelValues(reason).Inc() }

// Canary counts records with keys of the canary by outcome: predicted or refused.
func (s *Scorer) Canary(outcome string, records int) {
	s.canary.WithLabelValues(outcome).Add(float64(records))
}

// Mode sets how the snapshot in use is chosen: follow, hold or pin.
func (s *Scorer) Mode(mode string) {
	for _, m := range []string{"follow", "hold", "pin"} {
		is := 0.0
		if m == mode {
			is = 1
		}
		s.mode.WithLabelValues(m).Set(is)
	}
}

// Challenge sets the metric of the gate for the newest snapshot (challenger) and for the
// snapshot that was served when the newest was written (champion).
func (s *Scorer) Challenge(challenger, champion float64) {
	s.compared.WithLabelValues("challenger").Set(challenger)
	s.compared.WithLabelValues("champion").Set(champion)
}

// NewScorer returns the collectors of a scorer of the model, registered with r. It
// panics if r already has them.
func NewScorer(model string, r prometheus.Registerer) *Scorer {
	m := maker{ofModel(model, r)}
	return &Scorer{
		refused:  m.counters("accrete_scorer_refused_snapshots_total", "Snapshots that are not served, by reason: damaged, or gate.", "reason"),
		mode:     m.gauges("accrete_scorer_serving", "1 for how the snapshot in use is chosen: follow (the newest that passes the gate), hold or pin; 0 for the others.", "mode"),
		compared: m.gauges("accrete_scorer_gate", "Metric of the gate over the last records, for the newest snapshot (challenger) and for the one in use when it was written (champion).", "snapshot"),
		canary:   m.counters("accrete_scorer_canary_total", "Records of the keys of score.canary.model by outcome: predicted by it, or refused, so that only the model predicted them.", "outcome"),

		HTTPRows: m.counter("accrete_scorer_http_rows_total", "Rows predicted over HTTP."),
		HTTP:     m.histogram("accrete_scorer_http_seconds", "Time to answer a request for predictions over HTTP, without those refused before they are read (401, 405, 421) and aborted ones."),
		requests: m.counters("accrete_scorer_http_requests_total", "Requests for predictions over HTTP, by status code of the answer; 499 if the client aborted the request.", "code"),
		logged:   m.counters("accrete_scorer_requests_topic_rows_total", "Rows predicted over HTTP by what became of them in requests.topic: acknowledged before the answer, dropped (they are not in the topic), or late (they may be).", "outcome"),
		Tables:   newTables(m, "accrete_scorer_"),

		CanaryStep:  m.gauge("accrete_scorer_canary_step", "Step of the snapshot of score.canary.model in use; 0 if there is none."),
		Step:        m.gauge("accrete_scorer_step", "Step of the snapshot in use."),
		ModelTime:   m.unknown("accrete_scorer_model_timestamp_seconds", "Unix time at which the snapshot in use was written."),
		Scored:      m.counter("accrete_scorer_scored_total", "Records predicted by the scorer."),
		Quarantined: m.counter("accrete_scorer_quarantined_total", "Records that the scorer published to quarantine."),
		Gap:         m.counter("accrete_scorer_lost_total", "Records that were deleted before the scorer read them, usually by retention."),
		LogBroken:   m.gauge("accrete_scorer_log_broken", "1 while the model log is damaged, truncated or missing, and the scorer continues with its last valid model; 0 otherwise."),
		Lag:         m.lag(),
		Blocked:     m.blocked(),
	}
}
