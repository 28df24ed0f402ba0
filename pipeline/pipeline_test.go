package pipeline

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// rings returns n records in which the class depends on the distance from the centre.
// Every 50th record has no label.
func rings(n int) []string {
	rng := rand.New(rand.NewPCG(3, 4))
	out := make([]string, n)
	for i := range out {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		label := fmt.Sprintf(`,"label":"%v"`, math.Hypot(x, y) > 1.2)
		if i%50 == 49 {
			label = ""
		}
		out[i] = fmt.Sprintf(`{"features":{"x":%v,"y":%v}%s}`, x, y, label)
	}
	return out
}

// events collects the events that a pipeline reports.
type events struct {
	mu  sync.Mutex
	all []event.Event
}

func (e *events) add(ev event.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

// last returns the last event of type E.
func last[E any](e *events) (ev E, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.all {
		if x, is := x.(E); is {
			ev, ok = x, true
		}
	}
	return ev, ok
}

// config returns the configuration of a model. The model is unique to the test run if
// the topic is.
func config(c *ingest.Client, model, topic string) (Config, *events) {
	ev := new(events)
	return Config{
		Model: model + "." + topic, Client: c, Topics: []string{topic},
		Learner:   learner.Config{Kernel: "gaussian:1.5", BlockSize: 16, MaxFeatures: 64}, // small, and with a fixed scale for the warm-up
		BatchSize: 100, Linger: time.Millisecond,
		SnapshotEvery: time.Hour, ReplayLimit: time.Hour, Keep: 3, History: 1 << 30,
		ToEnd: true, Report: ev.add,
	}, ev
}

// learnAll runs a learner to the end of its input.
func learnAll(t *testing.T, c Config) {
	t.Helper()
	l, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// finalHash returns the state hash of the last snapshot.
func finalHash(t *testing.T, ev *events) snapshot.Hash {
	t.Helper()
	s, ok := last[event.Saved](ev)
	if !ok {
		t.Fatal("no snapshot was saved")
	}
	return s.StateHash
}

func TestStateDoesNotDependOnHowRecordsWereCutIntoBatches(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, rings(3000))
	var want snapshot.Hash
	var predictions []string
	for i, size := range []int{1000, 256, 7, 1} {
		cfg, ev := config(c, fmt.Sprintf("m%d", size), in)
		cfg.BatchSize = size
		learnAll(t, cfg)
		got := finalHash(t, ev)
		var values []string
		for _, r := range kafkatest.Read(t, c, PredictionsTopic(cfg.Model)) {
			values = append(values, strings.Replace(string(r.Value), cfg.Model, "m", 1))
		}
		if i == 0 {
			want, predictions = got, values
			if len(values) != 3000 {
				t.Fatalf("%d predictions of 3000 records", len(values))
			}
			continue
		}
		if got != want {
			t.Errorf("BATCHes of %d: state hash %v, of 1000: %v", size, got, want)
		}
		for k := range values {
			if values[k] != predictions[k] {
				t.Fatalf("BATCHes of %d: prediction %d is %s, of 1000: %s", size, k, values[k], predictions[k])
			}
		}
	}
}

func TestRestartGoesOnExactly(t *testing.T) {
	for _, partitions := range []int{1, 3} {
		t.Run(fmt.Sprint(partitions), func(t *testing.T) {
			c, in := kafkatest.Client(t), kafkatest.Name("rings")
			values := rings(3000)
			kafkatest.Fill(t, c, in, partitions, values[:900])
			cfg, ev := config(c, "stopped", in)
			learnAll(t, cfg)
			kafkatest.Fill(t, c, in, partitions, values[900:2000])
			learnAll(t, cfg)
			kafkatest.Fill(t, c, in, partitions, values[2000:])
			learnAll(t, cfg)
			if r, ok := last[event.Restored](ev); !ok || r.Step == 0 {
				t.Error("the last run did not begin at a snapshot")
			}
			v, err := Verify(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if v.Compared != 3 || v.Divergent != 0 || v.FromSeq != 1 {
				t.Errorf("verify: %+v", v)
			}
			if partitions > 1 {
				return
			}
			whole, all := config(c, "whole", in)
			learnAll(t, whole)
			if got, want := finalHash(t, ev), finalHash(t, all); got != want {
				t.Errorf("stopped twice: state hash %v, in one go: %v", got, want)
			}
		})
	}
}

func TestSecondLearnerFencesTheFirst(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := rings(1000)
	kafkatest.Fill(t, c, in, 1, values[:500])
	cfg, ev := config(c, "fenced", in)
	cfg.ToEnd = false
	first, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- first.Run(t.Context()) }()
	for {
		if l, ok := last[event.Learned](ev); ok && l.Progress.Examples >= 400 {
			break
		}
		select {
		case err := <-done:
			t.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
	second, _ := config(c, "fenced", in)
	learnAll(t, second)
	kafkatest.Fill(t, c, in, 1, values[500:]) // its next append shows the first learner that it is fenced
	if err := <-done; !errors.Is(err, ErrFenced) {
		t.Errorf("the first learner ended with %v, want %v", err, ErrFenced)
	}
	learnAll(t, second)
	if v, err := Verify(t.Context(), second); err != nil || v.Divergent != 0 || v.Compared == 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	seen := map[string]string{}
	for _, r := range kafkatest.Read(t, c, PredictionsTopic(cfg.Model)) {
		id := kafkatest.Header(r, "ce_id")
		if was, ok := seen[id]; ok && was != string(r.Value) {
			t.Errorf("%s was predicted as %s and as %s", id, was, r.Value)
		}
		seen[id] = string(r.Value)
	}
	if len(seen) != len(values) {
		t.Errorf("%d of %d records have a prediction", len(seen), len(values))
	}
}

func TestGarbageGoesToQuarantineAndChangesNothing(t *testing.T) {
	c, in, clean := kafkatest.Client(t), kafkatest.Name("rings"), kafkatest.Name("rings")
	good := rings(1000)
	kafkatest.Fill(t, c, clean, 1, good)
	var mixed []string
	bad := []string{`{`, `{"features":{"x":1},"label":"true"}`, `{"features":{"x":1,"y":"two"},"label":"true"}`, ``, `{"features":{"x":1e999,"y":1},"label":"true"}`, "\xff\xfe", `{"features":{"x":1,"y":2,"z":3}}`}
	for i, v := range good {
		mixed = append(mixed, v)
		if i%100 == 50 {
			mixed = append(mixed, bad[(i/100)%len(bad)])
		}
	}
	kafkatest.Fill(t, c, in, 1, mixed)
	want, wantEvents := config(c, "clean", clean)
	learnAll(t, want)
	cfg, ev := config(c, "dirty", in)
	learnAll(t, cfg)
	if got, want := finalHash(t, ev), finalHash(t, wantEvents); got != want {
		t.Errorf("with garbage the state hash is %v, without %v", got, want)
	}
	q := kafkatest.Read(t, c, QuarantineTopic(cfg.Model))
	if len(q) != len(mixed)-len(good) {
		t.Errorf("%d records in quarantine, want %d", len(q), len(mixed)-len(good))
	}
	told := 0
	for _, e := range ev.all {
		if e, ok := e.(event.Quarantining); ok {
			for _, b := range e.Bad {
				told += b.Records
				if n := b.Last - b.First + 1; b.Records < 1 || n < int64(b.Records) || b.Err == nil {
					t.Errorf("told of %+v", b)
				}
			}
		}
	}
	if told != len(q) {
		t.Errorf("told of %d records in quarantine, and there are %d", told, len(q))
	}
	for _, r := range q {
		if kafkatest.Header(r, "__connect.errors.exception.message") == "" {
			t.Errorf("quarantined without a reason: %q", r.Headers)
		}
	}
	if n := len(kafkatest.Read(t, c, PredictionsTopic(cfg.Model))); n != len(good) {
		t.Errorf("%d predictions, want %d", n, len(good))
	}
}

func TestOtherOptionsAreRefused(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, rings(200))
	cfg, _ := config(c, "m", in)
	cfg.Learner.BlockSize, cfg.Learner.MaxFeatures = 0, 0 // the defaults
	learnAll(t, cfg)
	cfg.Learner.MaxFeatures = 64
	_, err := Open(t.Context(), cfg)
	if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "learner.max_features is 4096 for this model, but is configured as 64") {
		t.Errorf("got %v", err)
	}
	cfg.Learner.MaxFeatures = 0
	learnAll(t, cfg) // the rejected start has changed nothing
}

// The columns are known only with the first record. A configuration that does not fit
// them is rejected before the first BATCH is decided.
func TestTooFewInputsAreRefused(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, rings(200))
	cfg, _ := config(c, "m", in)
	cfg.Learner.Sampling = "sorf"
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); !errors.Is(err, learner.ErrInputs) || !strings.Contains(err.Error(), "sorf needs at least 64 inputs, but there are 2") {
		t.Errorf("got %v", err)
	}
	if n := len(kafkatest.Read(t, c, PredictionsTopic(cfg.Model))); n > 0 {
		t.Errorf("%d predictions, want none", n)
	}
}

func TestInputThatIsGoneIsNoticed(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, rings(200))
	cfg, _ := config(c, "m", in)
	learnAll(t, cfg)
	if err := c.DeleteRecords(t.Context(), in, 0, 150); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), cfg); !errors.Is(err, input.ErrHistory) {
		t.Errorf("verify of a topic that has lost its beginning: %v", err)
	}
}

func TestMissingInputTopicIsOneClearError(t *testing.T) {
	c := kafkatest.Client(t)
	cfg, _ := config(c, "m", "nowhere")
	_, err := Open(t.Context(), cfg)
	if !errors.Is(err, input.ErrTopic) || !strings.Contains(err.Error(), `input topic "nowhere" does not exist`) {
		t.Errorf("got %v", err)
	}
}
