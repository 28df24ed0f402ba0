package metrics

import (
	"math"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Lag tracks the number of records of each partition that have yet to be processed,
// up to its high watermark. It must not be used concurrently.
type Lag struct {
	v     *prometheus.GaugeVec
	of    map[[2]string]int64
	total int64
}

// Set sets the lag of one partition, and returns the total lag of all partitions.
func (l *Lag) Set(topic string, partition int, records int64) (total int64) {
	records = max(0, records)
	p := [2]string{topic, strconv.Itoa(partition)}
	l.v.WithLabelValues(p[:]...).Set(float64(records))
	l.total += records - l.of[p]
	l.of[p] = records
	return l.total
}

// Keep removes the partitions for which reads returns false, and returns the total
// lag of the others.
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

// counters returns a counter for each combination of values of the labels.
func (m maker) counters(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.r.MustRegister(v)
	return v
}

// gauges returns a gauge for each combination of values of the labels.
func (m maker) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.r.MustRegister(v)
	return v
}

// unknown returns a gauge that is NaN until it is set.
func (m maker) unknown(name, help string) prometheus.Gauge {
	g := m.gauge(name, help)
	g.Set(math.NaN())
	return g
}

// histogram returns a histogram with buckets from 100 µs to 13 s, each twice the previous one.
func (m maker) histogram(name, help string) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(100e-6, 2, 18)})
	m.r.MustRegister(h)
	return h
}

// lag returns a Lag. A learner and a scorer in one process share its gauge, because they
// read different topics.
func (m maker) lag() *Lag {
	v := m.shared("accrete_lag_records", "Records between the position and the high watermark, over all partitions.")
	return &Lag{v: v, of: map[[2]string]int64{}}
}
