package pipeline

import (
	"errors"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/internal/broker"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

func TestStopLeavesASnapshotOfEverythingDecided(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(2000))
	cfg, ev := learntest.Config(c, "m", in)
	cfg.ToEnd, cfg.BatchSize = false, 10
	stop, _ := start(t, cfg)
	eventually(t, "it learns", func() bool { return learned(ev) > 100 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	l, _ := learntest.Last[event.Learned](ev)
	r, _ := learntest.Last[event.Published](ev)
	if s, ok := learntest.Last[event.Saved](ev); !ok || s.Seq != l.Seq || r.Seq != l.Seq {
		t.Errorf("learned to seq %d, released to %d, saved %+v", l.Seq, r.Seq, s)
	}
}

// The first snapshot, which scorers wait for, is written as soon as the warm-up ends.
func TestFirstSnapshotDoesNotWait(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(2000))
	cfg, ev := learntest.Config(c, "m", in)
	cfg.ToEnd = false
	stop, _ := start(t, cfg)
	eventually(t, "there is a snapshot", func() bool { _, ok := learntest.Last[event.Saved](ev); return ok })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

func TestStopEndsInTimeWithoutABroker(t *testing.T) {
	t.Parallel()
	for _, transactional := range []bool{false, true} {
		b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
		if err != nil {
			t.Fatal(err)
		}
		c, in := kafkatest.ClientOf(t, b.Addr(), nil), kafkatest.Name("rings")
		kafkatest.Fill(t, c, in, 1, learntest.Rings(2000))
		cfg, ev := learntest.Config(c, "m", in)
		cfg.ToEnd, cfg.BatchSize, cfg.Drain, cfg.Transactional = false, 10, 500*time.Millisecond, transactional
		stop, _ := start(t, cfg)
		eventually(t, "it learns", func() bool { return learned(ev) > 100 })
		b.Close()
		eventually(t, "it misses the broker", func() bool { _, ok := learntest.Last[event.Retrying](ev); return ok })
		watch := kafkatest.NewStopwatch()
		err = stop()
		if took := watch.Elapsed(); took > 5*time.Second {
			t.Errorf("stopping took %v", took)
		}
		if !errors.Is(err, ErrUndrained) {
			t.Errorf("transactional %v: ended with %v, want %v", transactional, err, ErrUndrained)
		}
	}
}

func TestLearnerThatHangsGivesUp(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(50)) // too few for a fit, which would take longer
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Watchdog, cfg.BatchSize = time.Second, 10
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	hang := make(chan struct{})
	defer close(hang)
	beat, n := l.history.Beat, 0
	l.history.Beat = func() {
		beat()
		if n++; n == 3 {
			<-hang
		}
	}
	if err := l.Run(t.Context()); !errors.Is(err, ErrHung) {
		t.Errorf("ended with %v, want %v", err, ErrHung)
	}
	cfg.Watchdog = 0
	learnAll(t, cfg) // the next learner continues
}

func TestWatchdogLeavesAnIdleLearnerAlone(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(50))
	cfg, ev := learntest.Config(c, "m", in)
	cfg.ToEnd, cfg.Watchdog = false, time.Second // enough for a mini-batch on a busy machine
	stop, _ := start(t, cfg)
	eventually(t, "it learns", func() bool { return learned(ev) == 49 })
	late := time.Now().Add(2 * cfg.Watchdog)
	eventually(t, "the limit has passed", func() bool { return time.Now().After(late) })
	if err := stop(); err != nil {
		t.Error(err)
	}
}
