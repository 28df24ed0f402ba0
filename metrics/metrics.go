// Package metrics exposes the state of a process: Prometheus collectors, liveness
// and readiness, and an HTTP server.
//
// There is no global state. Collectors are registered with a Registerer that the
// caller provides, so that two learners can run in one test.
package metrics

import (
	"iter"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Learner holds the collectors of a learner. Ages and rates are left to queries.
// Unknown values, such as the time of the newest snapshot before there is one, are NaN.
type Learner struct {
	// Input records by outcome. Records that are replayed after a restart are not
	// counted again.
	Learned, Predicted, Quarantined, Skipped, Gap prometheus.Counter

	MissingColumns prometheus.Gauge   // columns without a value in the last 1,000 records
	DroppedFields  prometheus.Counter // ignored fields that are not columns
	AdoptedColumns prometheus.Counter // fields that became columns
	RenamedColumns prometheus.Counter // columns that are read from a field with another name
	Successions    prometheus.Counter // times that a model with adopted columns has taken over

	Owner, Standby prometheus.Gauge // 1 for the current role of the process

	Batches     prometheus.Counter
	Replayed    prometheus.Counter
	Predictions prometheus.Counter

	Claim     prometheus.Gauge // epoch of the newest claim
	Estimated prometheus.Gauge // estimated error

	Step     prometheus.Gauge
	Features prometheus.Gauge
	Loss     prometheus.Gauge
	Outliers prometheus.Gauge // examples that a mixture for regression did not learn because of their label

	LastProgress prometheus.Gauge // Unix seconds; 0 before the first batch, so that a learner that never starts looks stalled

	DriftADWIN, DriftPageHinkley prometheus.Counter

	InputDistance prometheus.Gauge // relative to the threshold of an alarm
	InputMoved    prometheus.Gauge // columns at the last alarm
	InputChanges  prometheus.Counter
	Weighing      Weighing
	Windows       Windows
	Tables        *Tables

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

	late *Late

	classFigures
	deviations
	errors, explained *prometheus.GaugeVec

	missing *prometheus.GaugeVec   // by column
	void    *prometheus.CounterVec // by type of record
	voidTo  int64                  // offset after the last counted void record

	weights, memberErrors *prometheus.GaugeVec // of a mixture

	partitionTime, headroom, maxFeatures *prometheus.GaugeVec
	mu                                   sync.Mutex
	positions                            map[string]int64 // by topic/partition
}

// ofModel returns a Registerer that adds the label model to every metric, so that
// several models can be distinguished.
func ofModel(model string, r prometheus.Registerer) prometheus.Registerer {
	return prometheus.WrapRegistererWith(prometheus.Labels{"model": model}, r)
}

// NewLearner returns the collectors of a learner of the model, registered with r. It
// panics if r already has them.
func NewLearner(model string, r prometheus.Registerer) *Learner {
	m := maker{ofModel(model, r)}
	examples := m.counters("accrete_examples_total", "Input records by outcome: learned, predicted (no label), quarantined, skipped, or lost (a gap: deleted before they were learned).", "outcome")
	role := m.gauges("accrete_learner_role", "1 for the role of this learner: owner of the model, or standby. Both are 0 until the role is known.", "role")
	drifts := m.counters("accrete_drifts_total", "Detections of an increase of the progressive loss, by detector. A replay after a restart does not count them again.", "detector")
	return &Learner{
		Learned:     examples.WithLabelValues("learned"),
		Predicted:   examples.WithLabelValues("predicted"),
		Quarantined: examples.WithLabelValues("quarantined"),
		Skipped:     examples.WithLabelValues("skipped"),
		Gap:         examples.WithLabelValues("lost"),

		MissingColumns: m.gauge("accrete_missing_columns", "Columns of the model without a value in the last 1,000 records."),
		DroppedFields:  m.counter("accrete_dropped_fields_total", "Fields of records that are not columns of the model and were ignored (input.unknown: ignore)."),
		AdoptedColumns: m.counter("accrete_adopted_columns_total", "Fields of records that became columns (input.on_change: adopt)."),
		RenamedColumns: m.counter("accrete_renamed_columns_total", "Columns of the model that are read from a field with another name, which was adopted (input.on_change: adopt)."),
		Successions:    m.counter("accrete_successions_total", "Times that a model with adopted columns has taken the place of the one without them."),

		Owner:       role.WithLabelValues("owner"),
		Standby:     role.WithLabelValues("standby"),
		Batches:     m.counter("accrete_batches_total", "Batches appended to the model log."),
		Replayed:    m.counter("accrete_replayed_batches_total", "Batches replayed from the model log after a restart."),
		Predictions: m.counter("accrete_predictions_total", "Predictions acknowledged by the broker, including repeated ones."),

		Claim:     m.gauge("accrete_claim_epoch", "Epoch of the newest claim of the model that this learner has made: each claim, of any learner, has a larger one."),
		Estimated: m.unknown("accrete_estimated_error", "Estimate of the error over the recent predictions, most of which may have no label yet: the error of those that have one, corrected by how sure the others are. Error rate, or with learner.variance as accrete_progressive_error; otherwise NaN."),

		Outliers:     m.gauge("accrete_outlier_labels", "With learner.mixture: examples that were not learned because their label is a number far from all others, since the model was created."),
		Step:         m.gauge("accrete_step", "Mini-batches learned since the model was created."),
		Features:     m.gauge("accrete_features", "Random features in use."),
		Loss:         m.unknown("accrete_progressive_loss", "Progressive mean loss over the recent examples."),
		LastProgress: m.gauge("accrete_last_progress_timestamp_seconds", "Unix time at which the last batch was finished."),

		DriftADWIN:       drifts.WithLabelValues("adwin"),
		DriftPageHinkley: drifts.WithLabelValues("page_hinkley"),

		InputDistance: m.unknown("accrete_input_distance", "Distance of the inputs of the last block of records from the reference, divided by the threshold of an alarm (learner.monitor)."),
		InputMoved:    m.gauge("accrete_input_columns_moved", "Columns that had moved at the last alarm of the monitor of the inputs, at most 20. The log names them."),
		InputChanges:  m.counter("accrete_input_changes_total", "Changes of the inputs that the monitor has detected. A replay after a restart does not count them again."),

		Windows:  newWindows(m),
		Weighing: newWeighing(m),
		Tables:   newTables(m, "accrete_"),

		Snapshots:     m.counter("accrete_snapshots_total", "Snapshots completed."),
		SnapshotTime:  m.unknown("accrete_snapshot_timestamp_seconds", "Unix time at which the newest snapshot was completed."),
		SnapshotBytes: m.unknown("accrete_snapshot_bytes", "Size of the newest snapshot."),

		LogBroken:   m.gauge("accrete_log_broken", "1 once the learner has found that the model log was damaged, truncated or recreated, after which it exits with code 78; 0 otherwise."),
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
		late:    newLate(m),

		classFigures: newClassFigures(m),
		deviations:   newDeviations(m),
		errors:       m.gauges("accrete_progressive_error", "Progressive error over the recent examples, of the model (learner accrete) and of baselines: error rate, or mean squared error divided by the variance of the labels. For novelty the share of records that are flagged, without baselines.", "learner"),
		explained:    m.gauges("accrete_progressive_r2", "Of a regression: share of the variance of the labels that the progressive predictions explain (R²), over the recent examples, of the model (learner accrete) and of baselines.", "learner"),
		missing:      m.gauges("accrete_missing_ratio", "Share of 1,000 recent records without a value of the column (input.missing: impute), for the 20 columns with the largest.", "column"),
		void:         m.counters("accrete_log_void_records_total", "Records of the model log, among those read by this process, that do not count: written by a learner that was fenced, repeated, or unreadable (type ?).", "type"),
		weights:      m.gauges("accrete_mixture_weight", "With learner.mixture: weight of a member in the predictions, of the learner or of a scorer. What those of the learner lack of 1 is that of the stacks, which correct the members.", "member", "predictor"),
		memberErrors: m.gauges("accrete_mixture_error", "With learner.mixture: progressive error of a member over the last few thousand examples, of the mixture of all of them (member mixture), and of that of a scorer (member scorer). An example with more than the mean weight counts as one with the mean weight.", "member"),

		partitionTime: m.gauges("accrete_partition_progress_timestamp_seconds", "Unix time at which the partition last made progress.", "topic", "partition"),
		headroom:      m.gauges("accrete_headroom_records", "Records between the log start offset of the partition and the position of the learner. Negative if retention has deleted records that were not learned.", "topic", "partition"),
		maxFeatures:   m.gauges("accrete_max_features", "Maximum of accrete_features, and what the learner does once it is reached: revisit, all, stop, or fixed if the model has all features from the start (learner.step.at_cap).", "at_cap"),
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

// Missing sets, for each of columns, the share of recent records without a value. It replaces
// all shares that were set before.
func (l *Learner) Missing(columns iter.Seq2[string, float64]) {
	l.missing.Reset()
	for name, share := range columns {
		l.missing.WithLabelValues(name).Set(share)
	}
}

// Void counts a void record of the model log. It ignores records that it has counted before,
// because the end of the log is read several times.
func (l *Learner) Void(offset int64, kind string) {
	if offset >= l.voidTo {
		l.void.WithLabelValues(kind).Inc()
		l.voidTo = offset + 1
	}
}

// Cap sets the maximum number of random features, and what the learner does once it is
// reached.
func (l *Learner) Cap(maximum int, atCap string) {
	l.maxFeatures.WithLabelValues(atCap).Set(float64(maximum))
}

// Member sets the recent error of a member of the mixture, and its weights in the predictions
// of the learner and of a scorer.
func (l *Learner) Member(name string, learner, scorer, err float64) {
	l.weights.WithLabelValues(name, "learner").Set(learner)
	l.weights.WithLabelValues(name, "scorer").Set(scorer)
	l.memberErrors.WithLabelValues(name).Set(err)
}

// Mixtures sets the recent errors of the mixtures that the learner and scorers predict with.
func (l *Learner) Mixtures(learner, scorer float64) {
	l.memberErrors.WithLabelValues("mixture").Set(learner)
	l.memberErrors.WithLabelValues("scorer").Set(scorer)
}

// Progressive sets the progressive errors of the model and of the baselines. For a
// regression, majority is the error of predicting the mean.
func (l *Learner) Progressive(model, majority, noChange, linear float64) {
	l.errors.WithLabelValues("accrete").Set(model)
	l.errors.WithLabelValues("majority").Set(majority)
	l.errors.WithLabelValues("no_change").Set(noChange)
	l.errors.WithLabelValues("linear").Set(linear)
}

// Flagged sets the share of recent records that novelty detection has flagged, which it has in place of
// an error.
func (l *Learner) Flagged(share float64) { l.errors.WithLabelValues("accrete").Set(share) }

// Explained sets the coefficients of determination of a regression, for the model and the
// same baselines as Progressive.
func (l *Learner) Explained(model, mean, noChange, linear float64) {
	l.explained.WithLabelValues("accrete").Set(model)
	l.explained.WithLabelValues("majority").Set(mean)
	l.explained.WithLabelValues("no_change").Set(noChange)
	l.explained.WithLabelValues("linear").Set(linear)
}

// Build registers the constant accrete_build_info.
func Build(r prometheus.Registerer, version string) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "accrete_build_info",
		Help:        "Constant 1, with the version as label.",
		ConstLabels: prometheus.Labels{"version": version},
	}, func() float64 { return 1 }))
}
