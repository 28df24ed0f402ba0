package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
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
	Kills, WarmUp, Chunks, Unreleased, Recovering int

	Events     int       `json:"events"`
	Labels     int       `json:"labels"`
	Learned    int64     `json:"learned"`   // examples, by the learner
	Matched    int       `json:"matched"`   // labels that belong to features, by the oracle
	TimedOut   int       `json:"timed_out"` // features without one
	Error      float64   `json:"error"`     // progressive, of the last 10,000 examples
	Wrong      float64   `json:"wrong"`     // the same by the oracle, of the predictions in the topic
	Duplicates int       `json:"duplicates"`
	Differing  int       `json:"differing"`
	Verified   int       `json:"verified"`
	Memory     footprint `json:"memory"`
	StateHash  string    `json:"state_hash"`
	Seconds    float64   `json:"seconds"`
}

// killLate kills learners whose labels come late, and checks that each label was graded once,
// by the prediction that was published for its own features before.
func (w *world) killLate(ctx context.Context) (out lateSummary, err error) {
	start := time.Now()
	w.log, w.answer = newModelLog(w.client, w.model("crash")), newPredictions(w.client, w.model("crash"))
	watching, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan footprint, 1)
	go func() { seen <- w.watchMemory(watching) }()
	var s Summary
	if err := w.kill(ctx, &s); err != nil {
		return out, err
	}
	out = lateSummary{Kills: s.Kills, WarmUp: s.WarmUp, Chunks: s.Chunks, Unreleased: s.Unreleased, Recovering: s.Recovering, Events: w.examples, Labels: len(w.joins.labels)}
	if err := w.feed(ctx, w.examples); err != nil {
		return out, err
	}
	report, err := w.learnLate(ctx, "crash")
	if err != nil {
		return out, err
	}
	if err := w.classifyEnd(ctx, &s); err != nil {
		return out, err
	}
	stop()
	out.Memory = <-seen
	out.StateHash, out.Duplicates, out.Differing = s.StateHash, s.Duplicates, s.Differing
	out.Learned, out.Error = report.Examples, report.Progressive
	v, fault := w.verify(ctx, s.StateHash)
	out.Verified = v.Verified
	faults := []error{fault, w.checkGrades(ctx, &out), out.Memory.check()}
	calm, err := w.learnLate(ctx, "calm")
	if err != nil {
		return out, err
	}
	if calm.StateHash != s.StateHash {
		faults = append(faults, fmt.Errorf("the model that was killed ends with state %s, another one with %s", s.StateHash, calm.StateHash))
	}
	if out.Differing > 0 {
		faults = append(faults, fmt.Errorf("%d repeated predictions differ from the first", out.Differing))
	}
	out.Seconds = time.Since(start).Seconds()
	return out, errors.Join(faults...)
}

type lateReport struct {
	Examples    int64
	Progressive float64
	StateHash   string `json:"state_hash"`
}

func (w *world) learnLate(ctx context.Context, model string) (r lateReport, err error) {
	line, err := w.accrete(ctx, "learn", "-c", w.config(model), "--to-end", "--json")
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(line, &r)
}

// checkGrades joins the topics on its own, and compares the number of examples and the share
// of wrong predictions with the learner's.
func (w *world) checkGrades(ctx context.Context, out *lateSummary) error {
	published, err := w.publishedClasses(ctx)
	if err != nil {
		return err
	}
	var grades []bool // of the examples with a prediction, whether it is wrong
	examples := 0
	grade := func(event int, label string) {
		if examples++; published[event] != "" {
			grades = append(grades, published[event] != label)
		}
	}
	w.joinSlowly(out, grade)
	var faults []error
	for i, class := range published {
		if class == "" && i > w.examples/10 {
			faults = append(faults, fmt.Errorf("event %d has no prediction", i))
			break
		}
	}
	last := grades[len(grades)-min(len(grades), 10_000+len(grades)%100):]
	wrong := 0
	for _, is := range last {
		if is {
			wrong++
		}
	}
	out.Wrong = float64(wrong) / float64(len(last))
	if out.Learned != int64(examples) {
		faults = append(faults, fmt.Errorf("%d examples were learned, want %d: %d labels and %d time-outs", out.Learned, examples, out.Matched, out.TimedOut))
	}
	if math.Abs(out.Error-out.Wrong) > 1e-9 {
		faults = append(faults, fmt.Errorf("the learner has graded an error of %v, its predictions in the topic have %v", out.Error, out.Wrong))
	}
	return errors.Join(faults...)
}

// joinSlowly calls grade with each example in the order in which it becomes complete: the
// first label of an event within its time, or that for none.
func (w *world) joinSlowly(out *lateSummary, grade func(event int, label string)) {
	const waiting, complete, over = 1, 2, 3
	ttl, grace := lateTTL.Milliseconds(), lateGrace.Milliseconds()
	state := make([]int, w.examples)
	held := map[int]outcome{} // labels before their features
	clock, oldest := int64(math.MinInt64), 0
	advance := func(to int64, seen int) { // features come by time, so they expire in their order
		for clock = max(clock, to); oldest < seen && w.eventTime(oldest)+ttl+grace < clock; oldest++ {
			if state[oldest] == waiting {
				state[oldest] = over
				out.TimedOut++
				grade(oldest, lateTimeout)
			}
		}
	}
	next := 0
	for _, y := range append(slices.Clone(w.joins.labels), outcome{event: -1, at: math.MaxInt64}) {
		for ; next < w.examples && w.eventTime(next) <= y.at; next++ {
			advance(w.eventTime(next), next)
			state[next] = waiting
			if early, ok := held[next]; ok {
				state[next] = complete
				out.Matched++
				grade(next, early.label)
			}
		}
		if y.event < 0 {
			break
		}
		advance(y.at, next)
		switch at := w.eventTime(y.event); {
		case y.event >= next:
			if _, ok := held[y.event]; !ok {
				held[y.event] = y
			}
		case state[y.event] == waiting && y.at <= at+ttl:
			state[y.event] = complete
			out.Matched++
			grade(y.event, y.label)
		}
	}
}

// publishedClasses returns the class that was published for each event, empty for none.
func (w *world) publishedClasses(ctx context.Context) ([]string, error) {
	out := make([]string, w.examples)
	topic := w.model("crash") + ".predictions"
	first, end, err := w.client.Offsets(ctx, topic)
	if err != nil {
		return nil, err
	}
	for p := range end {
		f := w.client.Fetcher(topic, p)
		for at := first[p]; at < end[p]; {
			got, err := f.Poll(ctx, at)
			if err != nil {
				return nil, err
			}
			for i := range got.Records {
				r := &got.Records[i]
				rest, ok := strings.CutPrefix(header(r, "ce_id"), w.topic+"-")
				partition, offset, _ := strings.Cut(rest, "-")
				k, bad := strconv.Atoi(partition)
				n, worse := strconv.Atoi(offset)
				var v struct{ Prediction *string }
				if err := json.Unmarshal(r.Value, &v); !ok || bad != nil || worse != nil || err != nil {
					return nil, fmt.Errorf("%s: a prediction of nothing: %q", topic, r.Value)
				}
				if v.Prediction != nil {
					out[n*w.partitions+k] = *v.Prediction
				}
			}
			at = got.Next
		}
	}
	return out, nil
}
