package metrics

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// blockedLimit is the time after which a partition whose last stable offset does not
// advance, although it is below the high watermark, counts as blocked. It is longer than
// the transactions of most producers.
const blockedLimit = 25 * time.Second

// Blocked tracks the records that open transactions hide from a read-committed
// reader. A hanging transaction, whose producer is gone and which its coordinator
// does not end, blocks all later records for ever. Blocked must not be used
// concurrently.
type Blocked struct {
	records, seconds *prometheus.GaugeVec
	now              func() time.Time
	of               map[[2]string]standing
	shown            map[[2]string]struct{} // partitions with gauges, blocked or not
}

// standing is a last stable offset below the high watermark, and the time since when it
// has not advanced.
type standing struct {
	stable int64
	since  time.Time
}

// Set sets the last stable offset and the high watermark of one partition. If any
// partition is blocked, Set returns a reason for not being ready, which describes
// the partition that has been blocked for longest.
func (b *Blocked) Set(topic string, partition int, stable, high int64) (reason string) {
	p := [2]string{topic, strconv.Itoa(partition)}
	was, blocked := b.of[p]
	switch {
	case high <= stable:
		delete(b.of, p)
	case !blocked || was.stable != stable:
		b.of[p] = standing{stable, b.now()}
	}
	b.shown[p] = struct{}{}
	b.records.WithLabelValues(p[:]...).Set(float64(max(0, high-stable)))
	seconds := 0.0
	if s, ok := b.of[p]; ok {
		seconds = b.now().Sub(s.since).Seconds()
	}
	b.seconds.WithLabelValues(p[:]...).Set(seconds)
	return b.reason()
}

func (b *Blocked) reason() (reason string) {
	longest := blockedLimit
	for p, s := range b.of {
		if d := b.now().Sub(s.since); d > longest {
			longest = d
			reason = fmt.Sprintf("%s/%s: a transaction that begins at offset %d has been open for %v and blocks all later records: see kafka-transactions.sh find-hanging", p[0], p[1], s.stable, d.Truncate(time.Second))
		}
	}
	return reason
}

// Keep removes the partitions for which reads returns false, and returns the same
// reason as Set.
func (b *Blocked) Keep(reads func(topic string, partition int) bool) (reason string) {
	for p := range b.shown {
		if n, err := strconv.Atoi(p[1]); err != nil || !reads(p[0], n) {
			b.records.DeleteLabelValues(p[:]...)
			b.seconds.DeleteLabelValues(p[:]...)
			delete(b.of, p)
			delete(b.shown, p)
		}
	}
	return b.reason()
}

// blocked returns a Blocked. A learner and a scorer in one process share its gauges.
func (m maker) blocked() *Blocked {
	return &Blocked{
		records: m.shared("accrete_blocked_records", "Records between the last stable offset and the high watermark, which cannot be read until the oldest open transaction ends. They are part of accrete_lag_records."),
		seconds: m.shared("accrete_blocked_seconds", "Seconds since the last stable offset last advanced, while it is below the high watermark; 0 otherwise."),
		now:     time.Now,
		of:      map[[2]string]standing{},
		shown:   map[[2]string]struct{}{},
	}
}

// shared returns a gauge by partition, which may already be registered.
func (m maker) shared(name, help string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"topic", "partition"})
	err := m.r.Register(v)
	var there prometheus.AlreadyRegisteredError
	if errors.As(err, &there) {
		v, err = there.ExistingCollector.(*prometheus.GaugeVec), nil
	}
	if err != nil {
		panic(err)
	}
	return v
}
