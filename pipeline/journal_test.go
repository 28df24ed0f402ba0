package pipeline

import (
	"math"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A start reads only the end of the model log, however long that is. It reaches the
// same seq and claim, and estimates the size of the log.
func TestStartReadsTheEndOfTheLog(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, rings(2000))
	cfg, _ := config(c, "m", in)
	cfg.BatchSize, cfg.SnapshotEvery, cfg.ChunkBytes, cfg.Learner.MaxFeatures = 4, time.Millisecond, 64<<10, 64
	learnAll(t, cfg)

	cfg.Keep = 1000 // more than there are, so that none is dropped
	whole, err := openJournal(t.Context(), cfg, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(t.Context(), cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	if read, all := len(j.log.Fold.Snapshots()), len(whole.log.Fold.Snapshots()); all < 8 || read > all/2 {
		t.Errorf("%d of %d snapshots were read", read, all)
	}
	if j.log.Next() != whole.log.Next() || j.log.Fold.Seq() != whole.log.Fold.Seq() || j.log.Fold.Chain() != whole.log.Fold.Chain() || j.log.Fold.Claim().Owner != whole.log.Fold.Claim().Owner {
		t.Errorf("seq %d under %v, want %d under %v", j.log.Fold.Seq(), j.log.Fold.Claim().Owner, whole.log.Fold.Seq(), whole.log.Fold.Claim().Owner)
	}
	if r := float64(j.log.Size.Total) / float64(whole.log.Size.Total); r < .2 || r > 5 { // snapshots grow with the window
		t.Errorf("the log is taken for %d bytes, and has %d", j.log.Size.Total, whole.log.Size.Total)
	}
}
