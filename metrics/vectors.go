package metrics

import "github.com/prometheus/client_golang/prometheus"

// vectors holds the metrics of a learner that have labels.
type vectors struct {
	examples      *prometheus.CounterVec
	progressive   *prometheus.GaugeVec
	partitionTime *prometheus.GaugeVec
	headroom      *prometheus.GaugeVec
	drifts        *prometheus.CounterVec
	role          *prometheus.GaugeVec
	weights       *prometheus.GaugeVec
	memberErrors  *prometheus.GaugeVec
	maxFeatures   *prometheus.GaugeVec
	missing       *prometheus.GaugeVec
	void          *prometheus.CounterVec
}

func newVectors(r prometheus.Registerer) (v vectors) {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
		r.MustRegister(g)
		return g
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	v.examples = counter("accrete_examples_total", "Input records by outcome: learned, predicted (no label), quarantined, skipped, or lost (a gap: deleted before they were learned).", "outcome")
	v.progressive = gauge("accrete_progressive_error", "Progressive error over the recent examples, of the model (learner accrete) and of baselines: error rate, or mean squared error divided by the variance of the labels.", "learner")
	v.partitionTime = gauge("accrete_partition_progress_timestamp_seconds", "Unix time at which the partition last made progress.", "topic", "partition")
	v.headroom = gauge("accrete_headroom_records", "Records between the log start offset of the partition and the position of the learner. Negative if retention has deleted records that were not learned.", "topic", "partition")
	v.drifts = counter("accrete_drifts_total", "Detections of an increase of the progressive loss, by detector. A replay after a restart does not count them again.", "detector")
	v.role = gauge("accrete_learner_role", "1 for the role of this learner: owner of the model, or standby. Both are 0 until the role is known.", "role")
	v.weights = gauge("accrete_mixture_weight", "With learner.mixture: weight of a member in the predictions, of the learner or of a scorer. What those of the learner lack of 1 is that of the stacks, which correct the members.", "member", "predictor")
	v.memberErrors = gauge("accrete_mixture_error", "With learner.mixture: progressive error of a member over the last few thousand examples, and of the mixture of a scorer.", "member")
	v.maxFeatures = gauge("accrete_max_features", "Maximum of accrete_features, and what the learner does once it is reached: revisit, all, stop, or fixed if the model has all features from the start (learner.step.at_cap).", "at_cap")
	v.missing = gauge("accrete_missing_ratio", "Share of 1,000 recent records without a value of the column (input.missing: impute), for the 20 columns with the largest.", "column")
	v.void = counter("accrete_log_void_records_total", "Records of the model log, among those read by this process, that do not count: written by a learner that was fenced, repeated, or unreadable (type ?).", "type")
	return v
}
