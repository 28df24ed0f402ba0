// Package metrics exposes the state of a process: Prometheus collectors, liveness
// and readiness, and the HTTP server for them.
//
// Nothing here is global. Collectors are registered with the Registerer that is
// passed in, so that two learners can run in one test.
package metrics

import (
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Learner holds the collectors of a learner. Ages and rates are left to queries.
// Unknown values, such as the time of a snapshot before the first, are NaN.
type Learner struct {
	// Input records by outcome. A replay after a restart does not count them
	// again.
	Learned, Predicted, Quarantined, Skipped, Gap prometheus.Counter

	MissingColumns prometheus.Gauge   // without a value in the last 1,000 records
	DroppedFields  prometheus.Counter // that are not columns

	Owner, Standby prometheus.Gauge // 1 for the role that the process has

	Batches     prometheus.Counter
	Replayed    prometheus.Counter
	Predictions prometheus.Counter

	Step     prometheus.Gauge
	Features prometheus.Gauge
	Loss     prometheus.Gauge

	LastProgress prometheus.Gauge // Unix seconds; 0 before the first batch, so that a learner that never starts looks stalled

	DriftADWIN, DriftPageHinkley prometheus.Counter

	InputDistance prometheus.Gauge // relative to the threshold of an alarm
	InputMoved    prometheus.Gauge // columns at the last alarm
	InputChanges  prometheus.Counter

	Snapshots     prometheus.Counter
	SnapshotTime  prometheus.Gauge // Unix seconds
	SnapshotBytes prometheus.Gauge

	LogBroken prometheus.Gauge // 1 or 0

	MemoryLimit prometheus.Gauge // bytes

	Refits      prometheus.Counter
	RefitTime   prometheus.Gauge // Unix seconds
	Suboptimal  prometheus.Gauge
	RefitGap    prometheus.Gauge
	RefitFailed prometheus.Counter

	LogAppend prometheus.Histogram // seconds
	Learn     prometheus.Histogram // seconds

	Lag     *Lag
	Blocked *Blocked

	classFigures
	deviations
	errors *prometheus.GaugeVec

	weights, memberErrors *prometheus.GaugeVec // of a mixture

	partitionTime, headroom, maxFeatures *prometheus.GaugeVec
	mu                                   sync.Mutex
	positions                            map[string]int64 // by topic/partition
}

// ofModel returns a Registerer that adds the label model to every metric, so that
// those of several models can be told apart.
func ofModel(model string, r prometheus.Registerer) prometheus.Registerer {
	return prometheus.WrapRegistererWith(prometheus.Labels{"model": model}, r)
}

// NewLearner returns the collectors of a learner of the model, registered with r. It
// panics if r already has them.
func NewLearner(model string, r prometheus.Registerer) *Learner {
	r = ofModel(model, r)
	m := maker{r}
	v := newVectors(r)
	return &Learner{
		Learned:     v.examples.WithLabelValues("learned"),
		Predicted:   v.examples.WithLabelValues("predicted"),
		Quarantined: v.examples.WithLabelValues("quarantined"),
		Skipped:     v.examples.WithLabelValues("skipped"),
		Gap:         v.examples.WithLabelValues("lost"),

		MissingColumns: m.gauge("accrete_missing_columns", "Columns of the model without a value in the last 1,000 records."),
		DroppedFields:  m.counter("accrete_dropped_fields_total", "Fields of records that are not columns of the model and were ignored (input.unknown: ignore)."),

		Owner:   v.role.WithLabelValues("owner"),
		Standby: v.role.WithLabelValues("standby"),

		Batches:     m.counter("accrete_batches_total", "Batches appended to the model log."),
		Replayed:    m.counter("accrete_replayed_batches_total", "Batches replayed from the model log after a restart."),
		Predictions: m.counter("accrete_predictions_total", "Predictions acknowledged by the broker, including repeated ones."),

		Step:     m.gauge("accrete_step", "Mini-batches learned since the model was created."),
		Features: m.gauge("accrete_features", "Random features in use."),
		Loss:     m.unknown("accrete_progressive_loss", "Progressive mean loss over the recent examples."),

		LastProgress: m.gauge("accrete_last_progress_timestamp_seconds", "Unix time at which the last batch was finished."),

		DriftADWIN:       v.drifts.WithLabelValues("adwin"),
		DriftPageHinkley: v.drifts.WithLabelValues("page_hinkley"),

		InputDistance: m.unknown("accrete_input_distance", "Distance of the inputs of the last block of records from the reference, divided by the threshold of an alarm (learner.monitor)."),
		InputMoved:    m.gauge("accrete_input_columns_moved", "Columns that had moved at the last alarm of the monitor of the inputs, at most 20. The log names them."),
		InputChanges:  m.counter("accrete_input_changes_total", "Changes of the inputs that the monitor has detected. A replay after a restart does not count them again."),

		Snapshots:     m.counter("accrete_snapshots_total", "Snapshots completed."),
		SnapshotTime:  m.unknown("accrete_snapshot_timestamp_seconds", "Unix time at which the newest snapshot was completed."),
		SnapshotBytes: m.unknown("accrete_snapshot_bytes", "Size of the newest snapshot."),

		LogBroken: m.gauge("accrete_log_broken", "1 once the learner has found that the model log was damaged, truncated or recreated, after which it exits with code 78; 0 otherwise."),

		MemoryLimit: m.unknown("accrete_memory_limit_bytes", "Upper bound of process_resident_memory_bytes, computed from the sizes of snapshots and batches so far."),

		Refits:      m.counter("accrete_refits_total", "Refits appended to the model log as challengers."),
		RefitFailed: m.counter("accrete_refits_failed_total", "Refits that failed, without effect on the model."),
		RefitTime:   m.unknown("accrete_refit_timestamp_seconds", "Unix time at which the newest refit was completed."),
		Suboptimal:  m.unknown("accrete_suboptimality_bound", "Upper bound of the distance of the live model's objective from the optimum, on the records of the newest refit. NaN if the refit has another loss than the model."),
		RefitGap:    m.unknown("accrete_refit_gap", "The same bound for the refitted model."),

		LogAppend: m.histogram("accrete_log_append_seconds", "Time to append a batch to the model log, until the acknowledgement."),
		Learn:     m.histogram("accrete_learn_seconds", "Time to predict and learn a batch."),

		Lag:     m.lag(),
		Blocked: m.blocked(),
		errors:  v.progressive,
		weights: v.weights, memberErrors: v.memberErrors,

		classFigures:  newClassFigures(r),
		deviations:    newDeviations(r),
		partitionTime: v.partitionTime,
		headroom:      v.headroom,
		maxFeatures:   v.maxFeatures,
		positions:     map[string]int64{},
	}
}

// Partition sets the next offset of a partition, and the number of records that
// it retains before that offset.
func (l *Learner) Partition(topic string, partition int, next, headroom int64) {
	p := strconv.Itoa(partition)
	l.headroom.WithLabelValues(topic, p).Set(float64(headroom))
	key := topic + "/" + p
	l.mu.Lock()
	defer l.mu.Unlock()
	if was, ok := l.positions[key]; !ok || was != next {
		l.positions[key] = next
		l.partitionTime.WithLabelValues(topic, p).SetToCurrentTime()
	}
}

// Cap sets the maximum number of random features, and what the learner does there.
func (l *Learner) Cap(maximum int, atCap string) {
	l.maxFeatures.WithLabelValues(atCap).Set(float64(maximum))
}

// Member sets the weights of a member of the mixture in the predictions of the learner
// and of a scorer, and its recent error.
func (l *Learner) Member(name string, learner, scorer, err float64) {
	l.weights.WithLabelValues(name, "learner").Set(learner)
	l.weights.WithLabelValues(name, "scorer").Set(scorer)
	l.memberErrors.WithLabelValues(name).Set(err)
}

// MixtureOfScorers sets the recent error of the mixture that a scorer has.
func (l *Learner) MixtureOfScorers(err float64) { l.memberErrors.WithLabelValues("scorer").Set(err) }

// Progressive sets the progressive errors of the model and of the baselines. For
// a regression, majority is the error of the mean.
func (l *Learner) Progressive(model, majority, noChange, linear float64) {
	l.errors.WithLabelValues("accrete").Set(model)
	l.errors.WithLabelValues("majority").Set(majority)
	l.errors.WithLabelValues("no_change").Set(noChange)
	l.errors.WithLabelValues("linear").Set(linear)
}

// Scorer holds the collectors of a scorer.
type Scorer struct {
	Step        prometheus.Gauge
	ModelTime   prometheus.Gauge // Unix seconds
	Scored      prometheus.Counter
	Quarantined prometheus.Counter
	Gap         prometheus.Counter
	LogBroken   prometheus.Gauge // 1 or 0

	refused  *prometheus.CounterVec
	mode     *prometheus.GaugeVec
	compared *prometheus.GaugeVec

	HTTPRows prometheus.Counter
	HTTP     prometheus.Histogram // seconds
	requests *prometheus.CounterVec
	logged   *prometheus.CounterVec

	Lag     *Lag
	Blocked *Blocked
}

// Request counts a request for predictions with the status code of its answer.
func (s *Scorer) Request(code, rows int, took time.Duration) {
	s.requests.WithLabelValues(strconv.Itoa(code)).Inc()
	s.HTTPRows.Add(float64(rows))
	s.HTTP.Observe(took.Seconds())
}

// Logged counts rows by what became of them in the topic of requests: acknowledged,
// dropped or late.
func (s *Scorer) Logged(outcome string, rows int) {
	s.logged.WithLabelValues(outcome).Add(float64(rows))
}

// Refused counts a snapshot that is not served, for a reason: damaged or gate.
func (s *Scorer) Refused(reason string) { s.refused.WithLabelValues(reason).Inc() }

// Mode sets how the snapshot served is chosen: follow, hold or pin.
func (s *Scorer) Mode(mode string) {
	for _, m := range []string{"follow", "hold", "pin"} {
		is := 0.0
		if m == mode {
			is = 1
		}
		s.mode.WithLabelValues(m).Set(is)
	}
}

// Challenge sets the metric of the gate for the newest snapshot and for the one that was
// served when it was written.
func (s *Scorer) Challenge(challenger, champion float64) {
	s.compared.WithLabelValues("challenger").Set(challenger)
	s.compared.WithLabelValues("champion").Set(champion)
}

// NewScorer returns the collectors of a scorer of the model, registered with r. It
// panics if r already has them.
func NewScorer(model string, r prometheus.Registerer) *Scorer {
	r = ofModel(model, r)
	m := maker{r}
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "accrete_scorer_http_requests_total",
		Help: "Requests for predictions over HTTP, by status code of the answer.",
	}, []string{"code"})
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "accrete_scorer_refused_snapshots_total",
		Help: "Snapshots that are not served, by reason: damaged, or gate.",
	}, []string{"reason"})
	mode := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_scorer_serving",
		Help: "1 for how the snapshot in use is chosen: follow (the newest that passes the gate), hold or pin; 0 for the others.",
	}, []string{"mode"})
	compared := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_scorer_gate",
		Help: "Metric of the gate over the last records, for the newest snapshot (challenger) and for the one in use when it was written (champion).",
	}, []string{"snapshot"})
	logged := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "accrete_scorer_requests_topic_rows_total",
		Help: "Rows predicted over HTTP by what became of them in requests.topic: acknowledged before the answer, dropped (they are not in the topic), or late (they may be).",
	}, []string{"outcome"})
	r.MustRegister(requests, refused, mode, compared, logged)
	return &Scorer{
		logged:  logged,
		refused: refused, mode: mode, compared: compared,
		HTTPRows: m.counter("accrete_scorer_http_rows_total", "Rows predicted over HTTP."),
		HTTP:     m.histogram("accrete_scorer_http_seconds", "Time to answer a request for predictions over HTTP."),
		requests: requests,

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

// Build registers the constant accrete_build_info.
func Build(r prometheus.Registerer, version string) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "accrete_build_info",
		Help:        "Constant 1, with the version as label.",
		ConstLabels: prometheus.Labels{"version": version},
	}, func() float64 { return 1 }))
}

// Lag is how many records of each partition are still to be dealt with, up to
// its high watermark. It is for one goroutine at a time.
type Lag struct {
	v     *prometheus.GaugeVec
	of    map[[2]string]int64
	total int64
}

// Set sets the lag of one partition, and gives that of all together.
func (l *Lag) Set(topic string, partition int, records int64) (total int64) {
	records = max(0, records)
	p := [2]string{topic, strconv.Itoa(partition)}
	l.v.WithLabelValues(p[:]...).Set(float64(records))
	l.total += records - l.of[p]
	l.of[p] = records
	return l.total
}

// Keep forgets the partitions that are read here no longer, and gives the lag of
// the others together.
func (l *Lag) Keep(reads func(topic string, partition int) bool) (total int64) {
	for p, records := range l.of {
		if n, err := strconv.Atoi(p[1]); err != nil || !reads(p[0], n) {
			l.v.DeleteLabelValues(p[:]...)
			l.total -= records
			delete(l.of, p)
		}
	}
	return l.total
}

// maker makes collectors and registers them.
type maker struct{ r prometheus.Registerer }

func (m maker) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.r.MustRegister(c)
	return c
}

func (m maker) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	m.r.MustRegister(g)
	return g
}

// unknown is a gauge whose value is not known until it is set.
func (m maker) unknown(name, help string) prometheus.Gauge {
	g := m.gauge(name, help)
	g.Set(math.NaN())
	return g
}

// histogram has buckets from 100 µs to 13 s, each twice the one before.
func (m maker) histogram(name, help string) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(100e-6, 2, 18)})
	m.r.MustRegister(h)
	return h
}

// lag is shared by a learner and a scorer in one process: they read different
// topics.
func (m maker) lag() *Lag {
	v := m.shared("accrete_lag_records", "Records between the position and the high watermark, over all partitions.")
	return &Lag{v: v, of: map[[2]string]int64{}}
}
