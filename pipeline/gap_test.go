package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// start runs a learner until the test ends or stop is called. The error of Run is
// received from ended or returned by stop.
func start(t *testing.T, c model.Config) (stop func() error, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l, err := Open(ctx, c)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(cancel)
	return func() error {
		cancel()
		return <-done
	}, done
}

// eventually polls until a condition holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// learned returns the number of labelled examples that the model has learned.
func learned(ev *learntest.Events) int64 {
	if l, ok := learntest.Last[event.Learned](ev); ok {
		return l.Progress.Examples
	}
	return 0
}

func TestInputLostWhileTheLearnerWasDown(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(1000)
	kafkatest.Fill(t, c, in, 1, values[:400])
	cfg, ev := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, values[400:])
	if err := c.DeleteRecords(t.Context(), in, 0, 650); err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), cfg)
	if err == nil {
		err = l.Run(t.Context())
	}
	if !errors.Is(err, input.ErrGap) || !strings.Contains(err.Error(), "records 400 to 649") || !strings.Contains(err.Error(), "input.on_gap") {
		t.Fatalf("on_gap: stop ended with %v", err)
	}

	cfg.OnGap = "record"
	learnAll(t, cfg)
	if g, ok := learntest.Last[event.Gap](ev); !ok || g.From != 400 || g.To != 650 {
		t.Errorf("lost: %+v, %v", g, ok)
	}
	if got, want := learned(ev), int64(750-750/50); got != want {
		t.Errorf("learned %d examples, want %d", got, want)
	}
	learnAll(t, cfg) // from the snapshot after the GAP
	v, err := audit.Verify(t.Context(), cfg)
	if err != nil || v.Compared != 1 || v.Divergent != 0 || v.Lost != 250 {
		t.Errorf("verify from the snapshot before the gap: %+v, %v", v, err)
	}
}

func TestGapAtTheEndIsRecordedOnce(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(100))
	cfg, ev := learntest.Config(c, "m", in)
	cfg.OnGap = "record"
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, learntest.Rings(50))
	if err := c.DeleteRecords(t.Context(), in, 0, 150); err != nil {
		t.Fatal(err)
	}
	ends := cfg
	ends.ToEnd = false // the end that a reader can reach is after the gap
	stop, _ := start(t, ends)
	eventually(t, "the gap is recorded", func() bool { _, ok := learntest.Last[event.Gap](ev); return ok })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	ev.Reset()
	learnAll(t, cfg)
	if g, ok := learntest.Last[event.Gap](ev); ok {
		t.Errorf("recorded again: %+v", g)
	}
}

func TestRetentionOvertakesARunningLearner(t *testing.T) {
	addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, addr, func(c *ingest.Config) { c.MaxFetchBytes, c.MaxBatchBytes = 2048, 2048 })
	values := learntest.Rings(3000)
	kafkatest.Fill(t, c, in, 1, values[:500])
	for _, gaps := range []string{"record", "stop"} {
		cfg, ev := learntest.Config(c, gaps, in)
		cfg.ToEnd, cfg.OnGap = false, gaps
		held, hold := make(chan struct{}), make(chan struct{})
		cfg.Report = func(e event.Event) {
			ev.Add(e)
			if l, ok := e.(event.Learned); ok && l.Seq == 2 { // which blocks the source
				close(held)
				<-hold
			}
		}
		stop, ended := start(t, cfg)
		<-held
		if gaps == "record" {
			kafkatest.Fill(t, c, in, 1, values[500:])
			if err := c.DeleteRecords(t.Context(), in, 0, 2500); err != nil {
				t.Fatal(err)
			}
			close(hold)
			eventually(t, "the end of the topic is learned", func() bool {
				lag, ok := learntest.Last[event.Lag](ev)
				return ok && lag.Next == 3000
			})
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			g, ok := learntest.Last[event.Gap](ev)
			if !ok || g.To != 2500 || g.From <= 0 || g.From > 1000 {
				t.Errorf("lost: %+v, %v", g, ok)
			}
			continue
		}
		kafkatest.Fill(t, c, in, 1, values)
		if err := c.DeleteRecords(t.Context(), in, 0, 5500); err != nil {
			t.Fatal(err)
		}
		close(hold)
		if err := <-ended; !errors.Is(err, input.ErrGap) {
			t.Errorf("ended with %v, want %v", err, input.ErrGap)
		}
	}
}

func TestRecreatedInputIsNoticed(t *testing.T) {
	addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, addr, nil)
	values := learntest.Rings(1000)
	again := func() {
		kafkatest.Delete(t, addr, in)
		eventually(t, "the topic is gone", func() bool {
			_, err := c.Topic(t.Context(), in)
			return errors.Is(err, ingest.ErrUnknownTopic)
		})
		kafkatest.Fill(t, c, in, 1, values) // more records than before, beginning with the same
	}
	kafkatest.Fill(t, c, in, 1, values[:500])
	cfg, _ := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	again()
	if _, err := Open(t.Context(), cfg); !errors.Is(err, input.ErrHistory) || !strings.Contains(err.Error(), "created again") {
		t.Errorf("at the start: %v", err)
	}

	cfg, ev := learntest.Config(c, "running", in)
	cfg.ToEnd = false
	_, ended := start(t, cfg)
	eventually(t, "it learns", func() bool { return learned(ev) == 980 })
	values = append(values, values...)
	again()
	if err := <-ended; !errors.Is(err, input.ErrHistory) || !strings.Contains(err.Error(), "created again") {
		t.Errorf("while it runs: %v", err)
	}
}

func TestInputThatIsNotTheSameIsNoticedWithoutTopicIDs(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 2, learntest.Rings(400))
	cfg, _ := learntest.Config(c, "m", in)
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	seek := func() error {
		return l.inputs.Seek(t.Context(), c, l.history.Reached, cfg.Report)
	}
	if err := seek(); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	l.history.Reached[1].Fingerprint ^= 1
	if err := seek(); !errors.Is(err, input.ErrHistory) || !strings.Contains(err.Error(), "record 199 of") {
		t.Errorf("another record before the position: %v", err)
	}
	l.history.Reached[1].Fingerprint ^= 1
	l.history.Reached[0].Next += 7
	if err := seek(); !errors.Is(err, input.ErrHistory) || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("a topic that ends before the position: %v", err)
	}
}
