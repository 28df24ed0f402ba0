package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// learnAll runs a learner to the end of its input.
func learnAll(t *testing.T, c model.Config) {
	t.Helper()
	l, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestStateDoesNotDependOnHowRecordsWereCutIntoBatches(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(3000))
	var want snapshot.Hash
	var predictions []string
	for i, size := range []int{1000, 256, 7, 1} {
		cfg, ev := learntest.Config(c, fmt.Sprintf("m%d", size), in)
		cfg.BatchSize, cfg.Learner = size, learntest.Newton
		learnAll(t, cfg)
		got := learntest.FinalHash(t, ev)
		var values []string
		for _, r := range kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model)) {
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
			values := learntest.Rings(3000)
			kafkatest.Fill(t, c, in, partitions, values[:900])
			cfg, ev := learntest.Config(c, "stopped", in)
			cfg.Learner = learntest.Newton
			learnAll(t, cfg)
			kafkatest.Fill(t, c, in, partitions, values[900:2000])
			learnAll(t, cfg)
			kafkatest.Fill(t, c, in, partitions, values[2000:])
			learnAll(t, cfg)
			continuedTwice(t, cfg, ev)
			if partitions > 1 {
				return
			}
			whole, all := learntest.Config(c, "whole", in)
			whole.Learner = learntest.Newton
			learnAll(t, whole)
			if got, want := learntest.FinalHash(t, ev), learntest.FinalHash(t, all); got != want {
				t.Errorf("stopped twice: state hash %v, in one go: %v", got, want)
			}
		})
	}
}

func TestSecondLearnerFencesTheFirst(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(1000)
	kafkatest.Fill(t, c, in, 1, values[:500])
	cfg, ev := learntest.Config(c, "fenced", in)
	cfg.ToEnd = false
	first, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- first.Run(t.Context()) }()
	for {
		if l, ok := learntest.Last[event.Learned](ev); ok && l.Progress.Examples >= 400 {
			break
		}
		select {
		case err := <-done:
			t.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
	second, _ := learntest.Config(c, "fenced", in)
	learnAll(t, second)
	kafkatest.Fill(t, c, in, 1, values[500:]) // its next append shows the first learner that it is fenced
	if err := <-done; !errors.Is(err, ErrFenced) {
		t.Errorf("the first learner ended with %v, want %v", err, ErrFenced)
	}
	learnAll(t, second)
	if v, err := audit.Verify(t.Context(), second); err != nil || v.Divergent != 0 || v.Compared == 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	seen := map[string]string{}
	for _, r := range kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model)) {
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
	good := learntest.Rings(1000)
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
	want, wantEvents := learntest.Config(c, "clean", clean)
	learnAll(t, want)
	cfg, ev := learntest.Config(c, "dirty", in)
	learnAll(t, cfg)
	if got, want := learntest.FinalHash(t, ev), learntest.FinalHash(t, wantEvents); got != want {
		t.Errorf("with garbage the state hash is %v, without %v", got, want)
	}
	q := kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))
	if len(q) != len(mixed)-len(good) {
		t.Errorf("%d records in quarantine, want %d", len(q), len(mixed)-len(good))
	}
	told := 0
	for _, e := range ev.All() {
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
	if n := len(kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model))); n != len(good) {
		t.Errorf("%d predictions, want %d", n, len(good))
	}
}

func TestOtherOptionsAreRefused(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(200))
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Learner.BlockSize, cfg.Learner.MaxFeatures = 0, 0 // the defaults
	learnAll(t, cfg)
	cfg.Learner.MaxFeatures = 64
	_, err := Open(t.Context(), cfg)
	if !errors.Is(err, model.ErrOptions) || !strings.Contains(err.Error(), "learner.max_features is 4096 for this model, but is configured as 64") {
		t.Errorf("got %v", err)
	}
	cfg.Learner.MaxFeatures = 0
	learnAll(t, cfg) // the rejected start has changed nothing
}

// A learner, or a standby, that does not read what the model has learned from is refused before it
// claims the model: otherwise it would fence the owner and then stop.
func TestOtherInputsAreRefusedBeforeTheClaim(t *testing.T) {
	for _, saved := range []bool{true, false} {
		c, in, other := kafkatest.Client(t), kafkatest.Name("rings"), kafkatest.Name("other")
		kafkatest.Fill(t, c, in, 1, learntest.Rings(200))
		kafkatest.Fill(t, c, other, 1, learntest.Rings(10))
		cfg, _ := learntest.Config(c, "m", in)
		cfg.Heartbeat, cfg.ToEnd = 100*time.Millisecond, false
		if !saved {
			cfg.SnapshotEvery = 0
		}
		owner := cfg
		l, err := Open(t.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		for len(kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model))) < 200 {
			time.Sleep(time.Millisecond)
		}
		cfg.Topics = []string{other}
		if err := Accepts(t.Context(), cfg); !errors.Is(err, ErrHistory) {
			t.Errorf("Accepts: %v", err)
		}
		for _, cfg.Standby = range []bool{false, true} {
			if _, err := Open(t.Context(), cfg); !errors.Is(err, ErrHistory) || !strings.Contains(err.Error(), "not among its inputs") {
				t.Errorf("standby %v: got %v", cfg.Standby, err)
			}
		}
		select {
		case err := <-ended:
			t.Fatalf("the owner has ended: %v", err)
		default:
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the owner: %v", err)
		}
	}
}

// The columns are known only with the first record. A configuration that does not fit
// them is rejected before the first BATCH is decided.
func TestTooFewInputsAreRefused(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(200))
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Learner.Sampling = "sorf"
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); !errors.Is(err, learner.ErrInputs) || !strings.Contains(err.Error(), "sorf needs at least 64 inputs, but there are 2") {
		t.Errorf("got %v", err)
	}
	if n := len(kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model))); n > 0 {
		t.Errorf("%d predictions, want none", n)
	}
}

func TestInputThatIsGoneIsNoticed(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(200))
	cfg, _ := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	if err := c.DeleteRecords(t.Context(), in, 0, 150); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Verify(t.Context(), cfg); !errors.Is(err, input.ErrHistory) {
		t.Errorf("verify of a topic that has lost its beginning: %v", err)
	}
}

func TestMissingInputTopicIsOneClearError(t *testing.T) {
	c := kafkatest.Client(t)
	cfg, _ := learntest.Config(c, "m", "nowhere")
	_, err := Open(t.Context(), cfg)
	if !errors.Is(err, input.ErrTopic) || !strings.Contains(err.Error(), `input topic "nowhere" does not exist`) {
		t.Errorf("got %v", err)
	}
}
