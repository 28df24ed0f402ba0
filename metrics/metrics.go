// Package metrics says how a process is doing: Prometheus collectors, liveness
// and readiness, and the port they are asked on.
//
// Nothing here is global: collectors go to the Registerer that is passed in, so
// that two learners in one test do not meet.
package metrics

import (
	"errors"
	"math"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Learner is what a learner counts. Ages and rates are left to the reader. What
// is not known yet is NaN: a snapshot that was never made has no time.
type Learner struct {
	// Records of the input by what became of them. A replay after a restart
	// counts none of them again.
	Learned, Predicted, Quarantined, Skipped, Lost prometheus.Counter

	Owner, Standby prometheus.Gauge // 1 for the role that the process has

	Batches     prometheus.Counter
	Replayed    prometheus.Counter
	Predictions prometheus.Counter

	Step     prometheus.Gauge
	Features prometheus.Gauge
	Loss     prometheus.Gauge

	LastProgress prometheus.Gauge // Unix seconds; 0 means never, so that who never begins is seen to stall

	DriftADWIN, DriftPageHinkley prometheus.Counter

	Snapshots     prometheus.Counter
	SnapshotTime  prometheus.Gauge // Unix seconds
	SnapshotBytes prometheus.Gauge

	MemoryLimit prometheus.Gauge // bytes

	Refits      prometheus.Counter
	RefitTime   prometheus.Gauge // Unix seconds
	Suboptimal  prometheus.Gauge
	RefitGap    prometheus.Gauge
	RefitFailed prometheus.Counter

	LogAppend prometheus.Histogram // seconds
	Learn     prometheus.Histogram // seconds

	Lag *Lag

	errors *prometheus.GaugeVec

	partitionTime, headroom *prometheus.GaugeVec
	mu                      sync.Mutex
	positions               map[string]int64 // by topic/partition
}

// NewLearner makes a learner's collectors and registers them with r. It panics
// if r has a learner's already.
func NewLearner(r prometheus.Registerer) *Learner {
	m := maker{r}
	examples := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "accrete_examples_total",
		Help: "Input records by what became of them: learned, predicted only, sent to quarantine, skipped, lost to retention.",
	}, []string{"outcome"})
	progressive := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_progressive_error",
		Help: "Error over the recent examples, each predicted before it was learned, of the model and of baselines: rate of wrong classes, or mean squared error over the variance.",
	}, []string{"model"})
	partitionTime := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_partition_progress_timestamp_seconds",
		Help: "When records of the partition were last dealt with, in Unix time.",
	}, []string{"topic", "partition"})
	headroom := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_headroom_records",
		Help: "Records between the oldest that the partition still has and the next one to be dealt with: what retention may take before it takes what was not learned. It falls below 0 where it has.",
	}, []string{"topic", "partition"})
	drifts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "accrete_drifts_total",
		Help: "Times that a detector noticed that the progressive loss has grown. A replay after a restart counts none of them again.",
	}, []string{"detector"})
	role := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_learner_role",
		Help: "1 for the role of this learner: owner of the model, or standby. Both are 0 until it is known.",
	}, []string{"role"})
	r.MustRegister(role, examples, progressive, partitionTime, headroom, drifts)
	return &Learner{
		Learned:     examples.WithLabelValues("learned"),
		Predicted:   examples.WithLabelValues("predicted"),
		Quarantined: examples.WithLabelValues("quarantined"),
		Skipped:     examples.WithLabelValues("skipped"),
		Lost:        examples.WithLabelValues("lost"),

		Owner:   role.WithLabelValues("owner"),
		Standby: role.WithLabelValues("standby"),

		Batches:     m.counter("accrete_batches_total", "Batches whose composition is in the model log."),
		Replayed:    m.counter("accrete_replayed_batches_total", "Batches learned again from the model log after a restart."),
		Predictions: m.counter("accrete_predictions_total", "Predictions acknowledged by the broker, repeated ones included."),

		Step:     m.gauge("accrete_step", "Mini-batches learned since the model began."),
		Features: m.gauge("accrete_features", "Random features in use."),
		Loss:     m.unknown("accrete_progressive_loss", "Mean loss over the recent examples, each predicted before it was learned."),

		LastProgress: m.gauge("accrete_last_progress_timestamp_seconds", "When the last batch was dealt with, in Unix time."),

		DriftADWIN:       drifts.WithLabelValues("adwin"),
		DriftPageHinkley: drifts.WithLabelValues("page_hinkley"),

		Snapshots:     m.counter("accrete_snapshots_total", "Snapshots completed."),
		SnapshotTime:  m.unknown("accrete_snapshot_timestamp_seconds", "When the newest snapshot was completed, in Unix time."),
		SnapshotBytes: m.unknown("accrete_snapshot_bytes", "Size of the newest snapshot."),

		MemoryLimit: m.unknown("accrete_memory_limit_bytes", "What process_resident_memory_bytes stays below, by a formula over the sizes of snapshots and batches so far."),

		Refits:      m.counter("accrete_refits_total", "Refits whose model is in the model log as a challenger."),
		RefitFailed: m.counter("accrete_refits_failed_total", "Refits that came to nothing, which is no harm to the model."),
		RefitTime:   m.unknown("accrete_refit_timestamp_seconds", "When the newest refit was completed, in Unix time."),
		Suboptimal:  m.unknown("accrete_suboptimality_bound", "The live model's objective on the records of the newest refit was within this of the optimum. NaN where the refit has another loss than the model."),
		RefitGap:    m.unknown("accrete_refit_gap", "And the refitted model's within this."),

		LogAppend: m.histogram("accrete_log_append_seconds", "Time from sending a batch's record to the model log until it was acknowledged."),
		Learn:     m.histogram("accrete_learn_seconds", "Time to predict and learn a batch."),

		Lag:    m.lag(),
		errors: progressive,

		partitionTime: partitionTime,
		headroom:      headroom,
		positions:     map[string]int64{},
	}
}

// Partition says where a partition's reading goes on, and how many records it
// still has before that.
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

// Progressive sets the errors over the recent examples: of the model and of
// the baselines. For a regression majority is the mean's.
func (l *Learner) Progressive(model, majority, noChange, linear float64) {
	l.errors.WithLabelValues("accrete").Set(model)
	l.errors.WithLabelValues("majority").Set(majority)
	l.errors.WithLabelValues("no_change").Set(noChange)
	l.errors.WithLabelValues("linear").Set(linear)
}

// Scorer is what a scorer counts.
type Scorer struct {
	Step        prometheus.Gauge
	ModelTime   prometheus.Gauge // Unix seconds
	Scored      prometheus.Counter
	Quarantined prometheus.Counter

	Lag *Lag
}

// NewScorer makes a scorer's collectors and registers them with r. It panics if
// r has a scorer's already.
func NewScorer(r prometheus.Registerer) *Scorer {
	m := maker{r}
	return &Scorer{
		Step:        m.gauge("accrete_scorer_step", "Step of the snapshot that makes the predictions."),
		ModelTime:   m.unknown("accrete_scorer_model_timestamp_seconds", "When that snapshot was made, in Unix time."),
		Scored:      m.counter("accrete_scorer_scored_total", "Records predicted by the scorer."),
		Quarantined: m.counter("accrete_scorer_quarantined_total", "Records that the scorer sent to quarantine."),
		Lag:         m.lag(),
	}
}

// Build registers the constant accrete_build_info.
func Build(r prometheus.Registerer, version string) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "accrete_build_info",
		Help:        "Always 1; the version is in the label.",
		ConstLabels: prometheus.Labels{"version": version},
	}, func() float64 { return 1 }))
}

// Lag is how many committed records of each partition are still to be dealt
// with. It is for one goroutine at a time.
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
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "accrete_lag_records",
		Help: "Committed records that are still to be dealt with.",
	}, []string{"topic", "partition"})
	err := m.r.Register(v)
	var there prometheus.AlreadyRegisteredError
	if errors.As(err, &there) {
		v, err = there.ExistingCollector.(*prometheus.GaugeVec), nil
	}
	if err != nil {
		panic(err)
	}
	return &Lag{v: v, of: map[[2]string]int64{}}
}
