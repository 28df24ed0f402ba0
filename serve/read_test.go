package serve_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// heard collects the events of a scorer that runs until the test ends.
type heard struct {
	mu  sync.Mutex
	all []serve.Event
}

func (w *world) hear(t *testing.T) (h *heard, stop func() error) {
	h = new(heard)
	s := serve.NewScorer(serve.Config{
		Model: w.model, Client: w.client, Log: model.LogTopic(w.model), Topics: []string{w.asked},
		Output: model.ScoresTopic(w.model), Quarantine: model.QuarantineTopic(w.model), Group: w.model + "-scorer",
		Report: func(ev serve.Event) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.all = append(h.all, ev)
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(cancel)
	return h, func() error {
		cancel()
		return <-done
	}
}

// until waits until the number of scored records is reached, and returns the
// losses and truncations reported before.
func (h *heard) until(t *testing.T, scored int) (lost []serve.Gap, truncated []serve.Truncated) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		h.mu.Lock()
		n := 0
		lost, truncated = nil, nil
		for _, ev := range h.all {
			switch ev := ev.(type) {
			case serve.Scored:
				n += ev.Scored
			case serve.Gap:
				lost = append(lost, ev)
			case serve.Truncated:
				truncated = append(truncated, ev)
			}
		}
		h.mu.Unlock()
		if n >= scored {
			return lost, truncated
		}
		if time.Now().After(end) {
			t.Fatalf("%d records scored, want %d", n, scored)
		}
	}
}

func TestRecordsDeletedUnscoredAreReported(t *testing.T) {
	w := newWorld(t)
	w.client = kafkatest.ClientOf(t, w.addr, nil)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 300, class))
	kafkatest.Fill(t, w.client, w.asked, 1, rings(2, 100, none))
	w.learn(t, w.in)
	h, stop := w.hear(t)
	h.until(t, 100)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	kafkatest.Fill(t, w.client, w.asked, 1, rings(3, 100, none))
	if err := w.client.DeleteRecords(t.Context(), w.asked, 0, 150); err != nil {
		t.Fatal(err)
	}
	h, stop = w.hear(t)
	lost, _ := h.until(t, 50)
	if len(lost) != 1 || lost[0] != (serve.Gap{Topic: w.asked, From: 100, To: 150}) {
		t.Errorf("lost before the start: %+v", lost)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

func TestAddedPartitionsAreScored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 300, class))
	kafkatest.Fill(t, w.client, w.asked, 2, rings(2, 100, none))
	w.learn(t, w.in)
	h, stop := w.hear(t)
	other, stopOther := w.hear(t)
	for end := time.Now().Add(time.Minute); h.scored()+other.scored() < 100 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	kafkatest.AddPartitions(t, w.addr, w.asked, 5)
	kafkatest.Fill(t, w.client, w.asked, 5, rings(3, 500, none))
	for end := time.Now().Add(time.Minute); h.scored()+other.scored() < 600; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d and %d records scored, want 600", h.scored(), other.scored())
		}
	}
	for _, stop := range []func() error{stop, stopOther} {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
}

func (h *heard) scored() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ev := range h.all {
		if ev, ok := ev.(serve.Scored); ok {
			n += ev.Scored
		}
	}
	return n
}

func TestTruncatedInputIsScoredOn(t *testing.T) {
	d := kafkatest.NewDisk(t)
	w := newWorld(t)
	w.addr, w.client = d.Addr, kafkatest.ClientOf(t, d.Addr, nil)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 300, class))
	for i := range 3 {
		kafkatest.Fill(t, w.client, w.asked, 1, rings(uint64(i), 100, none))
	}
	w.learn(t, w.in)
	h, stop := w.hear(t)
	h.until(t, 300)
	d.Down(func() { d.Cut(w.asked, 0, 1) })
	kafkatest.Fill(t, kafkatest.ClientOf(t, d.Addr, func(c *ingest.Config) {}), w.asked, 1, rings(9, 40, none))
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, cut := h.until(t, 300); len(cut) > 0 && cut[0].Next == 300 && cut[0].End >= 200 && cut[0].End <= 240 {
			kafkatest.Fill(t, kafkatest.ClientOf(t, d.Addr, nil), w.asked, 1, rings(10, 100, none))
			h.until(t, 300+int(340-cut[0].End)) // those written in place of the lost ones are scored, too
			break
		}
		if time.Now().After(end) {
			t.Fatal("the truncation was not noticed")
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// A topic that is deleted and created again while a scorer reads it is scored from its beginning,
// whether it has fewer records than before or more.
func TestARecreatedTopicIsScoredFromItsBeginning(t *testing.T) {
	for _, records := range []int{40, 300} {
		w := newWorld(t)
		w.client = kafkatest.ClientOf(t, w.addr, nil)
		kafkatest.Fill(t, w.client, w.in, 1, rings(1, 300, class))
		kafkatest.Fill(t, w.client, w.asked, 1, rings(2, 100, none))
		w.learn(t, w.in)
		h, stop := w.hear(t)
		h.until(t, 100)
		kafkatest.Delete(t, w.addr, w.asked)
		eventually(t, "the scorer has not noticed that the topic is gone", h.retrying)
		kafkatest.Fill(t, kafkatest.ClientOf(t, w.addr, nil), w.asked, 1, rings(3, records, none))
		_, cut := h.until(t, 100+records)
		if want := (serve.Truncated{Topic: w.asked, Next: 100, Recreated: true}); len(cut) != 1 || cut[0] != want {
			t.Errorf("reported: %+v, want %+v", cut, want)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// A topic that is created again with fewer partitions is scored as well, and the scorer holds those
// that are left.
func TestATopicWithFewerPartitionsIsScoredOn(t *testing.T) {
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 300, class))
	kafkatest.Fill(t, w.client, w.asked, 3, rings(2, 90, none))
	w.learn(t, w.in)
	h, stop := w.hear(t)
	h.until(t, 90)
	kafkatest.Delete(t, w.addr, w.asked)
	eventually(t, "the scorer has not noticed that the topic is gone", h.retrying)
	kafkatest.Fill(t, kafkatest.ClientOf(t, w.addr, nil), w.asked, 1, rings(3, 40, none))
	h.until(t, 130)
	eventually(t, "the scorer still holds partitions that the topic does not have", func() bool { return h.holds(w.asked, 1) })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

// All scorers of a topic that is created again with fewer partitions know how many it has, not only the
// one that assigns them.
func TestAllScorersKnowTheNumberOfPartitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 300, class))
	kafkatest.Fill(t, w.client, w.asked, 3, nil)
	w.learn(t, w.in)
	one, stopOne := w.hear(t)
	two, stopTwo := w.hear(t)
	both := func(of int) func() bool {
		return func() bool {
			a, b := one.share(), two.share()
			return a.Of == of && b.Of == of && len(a.Mine[w.asked])+len(b.Mine[w.asked]) == of
		}
	}
	eventually(t, "the scorers do not share three partitions", both(3))
	kafkatest.Delete(t, w.addr, w.asked)
	kafkatest.Fill(t, kafkatest.ClientOf(t, w.addr, nil), w.asked, 1, nil)
	eventually(t, "the scorers do not share one partition", both(1))
	for _, stop := range []func() error{stopOne, stopTwo} {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// eventually waits until done is true. otherwise is what is wrong if that takes a minute.
func eventually(t *testing.T, otherwise string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(otherwise)
		}
	}
}

// holds reports whether the last share of the topic has that many partitions.
func (h *heard) holds(topic string, partitions int) bool {
	last := h.share()
	return len(last.Mine[topic]) == partitions && last.Of == partitions
}

// share returns the last share.
func (h *heard) share() (last serve.Shared) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ev := range h.all {
		if ev, ok := ev.(serve.Shared); ok {
			last = ev
		}
	}
	return last
}

func (h *heard) retrying() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.all, func(ev serve.Event) bool { _, ok := ev.(serve.Retrying); return ok })
}
