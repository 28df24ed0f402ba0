package pipeline

import (
	"errors"
	"testing"

	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

func TestTooMuchBadInputPausesUntilResumed(t *testing.T) {
	c, in, clean := kafkatest.Client(t), kafkatest.Name("rings"), kafkatest.Name("rings")
	good := learntest.Rings(2000)
	var mixed []string
	mixed = append(mixed, good[:700]...)
	for range 700 {
		mixed = append(mixed, `{"other":"schema"}`)
	}
	mixed = append(mixed, good[700:]...)
	kafkatest.Fill(t, c, in, 1, mixed)
	kafkatest.Fill(t, c, clean, 1, good)

	cfg, ev := learntest.Config(c, "m", in)
	cfg.ToEnd = false
	paused := func() bool {
		p, ok := learntest.Last[event.Paused](ev)
		return ok && p.Why.Bad > budgetWindow/2
	}
	stop, _ := start(t, cfg)
	eventually(t, "it pauses", paused)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	p, _ := learntest.Last[event.Paused](ev)
	if n := len(kafkatest.Read(t, c, model.QuarantineTopic(cfg.Model))); int64(n) != p.Why.Bad || n > 600 {
		t.Errorf("%d records in quarantine, the pause says %v", n, p.Why)
	}
	if s, ok := learntest.Last[event.Saved](ev); !ok || s.Seq != p.Why.Seq {
		t.Errorf("snapshot at seq %d, paused behind %d", s.Seq, p.Why.Seq)
	}

	// A restart does not end the pause, and with ToEnd it is an error.
	toEnd := cfg
	toEnd.ToEnd = true
	l, err := Open(t.Context(), toEnd)
	if err == nil {
		err = l.Run(t.Context())
	}
	if !errors.Is(err, ErrPoisoned) {
		t.Errorf("--to-end: %v, want %v", err, ErrPoisoned)
	}
	ev.Reset()
	stop, _ = start(t, cfg)
	eventually(t, "it has paused after a restart", paused)
	if _, ok := learntest.Last[event.Learned](ev); ok {
		t.Error("it learned while it was paused")
	}
	if was, err := admin.Resume(t.Context(), cfg); err != nil || was == nil || was.Seq != p.Why.Seq {
		t.Errorf("resume: %v, %v", was, err)
	}
	eventually(t, "it has learned all", func() bool { return learned(ev) == 1960 })
	if _, ok := learntest.Last[event.Resumed](ev); !ok {
		t.Error("it went on without a word")
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if was, err := admin.Resume(t.Context(), cfg); err != nil || was != nil {
		t.Errorf("resume of a learner that has not paused: %v, %v", was, err)
	}
	want, wantEvents := learntest.Config(c, "clean", clean)
	learnAll(t, want)
	if got, want := learntest.FinalHash(t, ev), learntest.FinalHash(t, wantEvents); got != want {
		t.Errorf("state hash %v, without the bad records %v", got, want)
	}
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Divergent != 0 || v.Compared == 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

func TestBudget(t *testing.T) {
	var b budget
	items := func(bad bool, n int) []history.Item {
		out := make([]history.Item, n)
		if bad {
			for i := range out {
				out[i].Err = errors.New("bad")
			}
		}
		return out
	}
	if b.spend(items(true, 500)) || b.spend(items(false, 500)) {
		t.Error("half of 1,000 is too much")
	}
	if b.spend(items(true, 500)) {
		t.Error("bad records are still held against it 1,000 records later")
	}
	if !b.spend(items(true, 1)) {
		t.Error("501 of 1,000 are not too much")
	}
	b = budget{}
	if !b.spend(append(items(true, 501), items(false, 2000)...)) {
		t.Error("a bad stretch is forgotten because good records follow in the same BATCH")
	}
}
