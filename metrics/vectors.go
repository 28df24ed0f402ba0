package metrics

import "github.com/prometheus/client_golang/prometheus"

// vectors are the metrics of a learner that have labels.
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
}

func newVectors(r prometheus.Registerer) (v vectors) {
	v.examples = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "accrete_examples_total",
		Help: "Input records by outcome: learned, predicted (no label), quarantined, skipped, or lost (a gap: deleted before they were learned).",
	}, []string{"outcome"})
	v.progressive = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_progressive_error",
		Help: "Progressive error over the recent examples, of the model (learner accrete) and of baselines: error rate, or mean squared error divided by the variance of the labels.",
	}, []string{"learner"})
	v.partitionTime = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_partition_progress_timestamp_seconds",
		Help: "Unix time at which the partition last made progress.",
	}, []string{"topic", "partition"})
	v.headroom = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_headroom_records",
		Help: "Records between the log start offset of the partition and the position of the learner. Negative if retention has deleted records that were not learned.",
	}, []string{"topic", "partition"})
	v.drifts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "accrete_drifts_total",
		Help: "Detections of an increase of the progressive loss, by detector. A replay after a restart does not count them again.",
	}, []string{"detector"})
	v.role = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_learner_role",
		Help: "1 for the role of this learner: owner of the model, or standby. Both are 0 until the role is known.",
	}, []string{"role"})
	v.weights = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_mixture_weight",
		Help: "With learner.mixture: weight of a member in the predictions, of the learner or of a scorer.",
	}, []string{"member", "predictor"})
	v.memberErrors = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_mixture_error",
		Help: "With learner.mixture: progressive error of a member over the last few thousand examples, and of the mixture of a scorer.",
	}, []string{"member"})
	v.maxFeatures = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_max_features",
		Help: "Maximum of accrete_features, and what the learner does once it is reached: revisit, all, stop, or fixed if the model has all features from the start (learner.step.at_cap).",
	}, []string{"at_cap"})
	r.MustRegister(v.maxFeatures, v.weights, v.memberErrors, v.role, v.examples, v.progressive, v.partitionTime, v.headroom, v.drifts)
	return v
}
