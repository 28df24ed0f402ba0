package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/synth"
)

// Features and labels come in two topics. An event has its features every lateEvery, and its
// label up to lateTTL later.
const (
	lateEvery = 10 * time.Millisecond
	lateTTL   = 20 * time.Second
	lateGrace = time.Second

	lateTimeout = "none" // label of events without one
)

// outcome is a label in the topic of labels.
type outcome struct {
	event int
	at    int64 // milliseconds
	label string
}

// lateStream is what is fed, and how far.
type lateStream struct {
	labels []outcome // by time
	truth  []string  // classes of the events
	fed    int       // of labels
}

func (w *world) labelTopic() string { return w.topic + "-outcomes" }

func (w *world) eventTime(i int) int64 {
	return w.began - int64(w.examples-i)*lateEvery.Milliseconds()
}

// lateInput returns the options of the input for labels that come late.
func (w *world) lateInput() string {
	if !w.options.late {
		return ""
	}
	return fmt.Sprintf(", labels: {topic: %s, key: id, field: is, ttl: %v, grace: %v, pending: 5000, on_timeout: %s, quarantine: []}", w.labelTopic(), lateTTL, lateGrace, lateTimeout)
}

// prepareLate draws the labels: one in twenty is lost, one in twenty comes twice, one in fifty
// is followed by another one, and one in fifty comes after its time or before its features.
func (w *world) prepareLate(ctx context.Context) error {
	s, x := synth.Stream{Seed: 7}, make([]float64, synth.Dim)
	rng := rand.New(rand.NewPCG(w.seed, 11))
	ttl := lateTTL.Milliseconds()
	l := &lateStream{}
	for i := range w.examples {
		class := s.At(int64(i), x)
		is := string(rune('a' + class))
		l.truth = append(l.truth, is)
		v := fmt.Appendf(nil, `{"id":"e%d"`, i)
		for j, f := range x {
			v = fmt.Appendf(v, `,"x%d":%s`, j, strconv.FormatFloat(f, 'g', 5, 64))
		}
		w.values[i] = append(v, '}')
		at := w.eventTime(i)
		switch u := rng.IntN(100); {
		case u < 5:
			continue // lost
		case u < 7:
			l.labels = append(l.labels, outcome{i, at + ttl + 1 + rng.Int64N(ttl/2), is})
			continue
		case u < 9:
			l.labels = append(l.labels, outcome{i, at - rng.Int64N(ttl/4), is})
			continue
		case u < 14:
			l.labels = append(l.labels, outcome{i, at + rng.Int64N(ttl), is})
		case u < 16:
			l.labels = append(l.labels, outcome{i, at + rng.Int64N(ttl), "c"})
		}
		l.labels = append(l.labels, outcome{i, at + rng.Int64N(ttl), is})
	}
	slices.SortStableFunc(l.labels, func(a, b outcome) int { return cmp.Compare(a.at, b.at) })
	w.joins = l
	return w.client.Create(ctx, w.labelTopic(), w.partitions, nil)
}

// feedLabels appends the labels up to the time of the features that are fed, and all of them
// at the end.
func (w *world) feedLabels(ctx context.Context) error {
	byPartition := make([][]ingest.Record, w.partitions)
	for l := w.joins; l.fed < len(l.labels) && (w.fed == w.examples || l.labels[l.fed].at <= w.eventTime(w.fed-1)); l.fed++ {
		y := l.labels[l.fed]
		p := y.event % w.partitions
		byPartition[p] = append(byPartition[p], ingest.Record{Time: y.at, Value: fmt.Appendf(nil, `{"id":"e%d","is":"%s"}`, y.event, y.label)})
	}
	for i, rs := range byPartition {
		if len(rs) > 0 {
			if err := w.client.Producer().Publish(ctx, w.labelTopic(), i, rs); err != nil {
				return err
			}
		}
	}
	return nil
}

// lateSummary is the result of a run with late labels.
type lateSummary struct {
	killed

	Labels   int       `json:"labels"`
	Matched  int       `json:"matched"`   // labels that belong to features, by the oracle
	TimedOut int       `json:"timed_out"` // features without one
	Wrong    float64   `json:"wrong"`     // the progressive error by the oracle, of the predictions in the topic
	Memory   footprint `json:"memory"`
}

// killLate kills learners whose labels come late, and checks that each label was graded once,
// by the prediction that was published for its own features before.
func (w *world) killLate(ctx context.Context) (out lateSummary, err error) {
	start := time.Now()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan footprint, 1)
	go func() { seen <- w.watchMemory(watching) }()
	if out.killed, err = w.killToEnd(ctx); err != nil {
		return out, err
	}
	out.Labels = len(w.joins.labels)
	stop()
	out.Memory = <-seen
	grades := errors.Join(w.checkGrades(ctx, &out), out.Memory.check())
	faults, err := w.compareWithCalm(ctx, &out.killed)
	if err != nil {
		return out, err
	}
	faults = append(faults, grades)
	out.Seconds = time.Since(start).Seconds()
	return out, errors.Join(faults...)
}
