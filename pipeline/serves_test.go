package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A learner that has nothing to learn reports which snapshot is served, too.
func TestAnIdleLearnerReportsWhatIsServed(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(100))
	cfg, ev := learntest.Config(c, "idle", in)
	cfg.ToEnd, cfg.Linger, cfg.ReplayLimit = false, time.Minute, 1 // one batch, and a snapshot after it
	stop, _ := start(t, cfg)
	eventually(t, "the snapshot is served", func() bool {
		saved, ok := learntest.Last[event.Saved](ev)
		served, known := learntest.Last[event.Serving](ev)
		return ok && known && served.Choice.Snapshot.Step == saved.Step
	})
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// A snapshot is due an interval after the one before, not when a second interval ends.
func TestSnapshotIsDueAnIntervalAfterTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Learner{config: model.Config{SnapshotEvery: time.Hour}, savedAt: time.Now()}
		time.Sleep(10 * time.Minute)
		if got := l.untilDue(); got != 50*time.Minute {
			t.Errorf("ten minutes after a snapshot the next is due in %v, want 50m", got)
		}
		time.Sleep(2 * time.Hour) // nothing was learned
		if got := l.untilDue(); got != time.Hour {
			t.Errorf("after two hours without anything to save: %v, want 1h", got)
		}
	})
}

// A learner that has learned nothing since its last snapshot takes no other one, however long ago that was.
func TestNoSnapshotWithoutAnythingLearned(t *testing.T) {
	h, err := history.New("m", []byte("{}"), learner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	h.Seq = 5
	l := &Learner{history: h, saved: 5, saving: make(chan struct{}, 1)} // due at once, by its configuration
	if err := l.saveIfDue(t.Context(), nil); err != nil || len(l.saving) > 0 {
		t.Errorf("it begins a snapshot: %v", err)
	}
}
