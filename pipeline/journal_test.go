package pipeline

import (
	"math"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A start reads only the end of the model log, however long that is. It reaches the
// same seq and claim, and estimates the size of the log.
func TestStartReadsTheEndOfTheLog(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(2000))
	cfg, _ := learntest.Config(c, "m", in)
	cfg.BatchSize, cfg.SnapshotEvery, cfg.ChunkBytes, cfg.Learner.MaxFeatures = 4, time.Millisecond, 64<<10, 64
	learnAll(t, cfg)

	cfg.Keep = 1000 // more than there are, so that none is dropped
	whole, err := journal.Open(t.Context(), cfg, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	if read, all := len(j.Log.Fold.Snapshots()), len(whole.Log.Fold.Snapshots()); all < 8 || read > all/2 {
		t.Errorf("%d of %d snapshots were read", read, all)
	}
	if j.Log.Next() != whole.Log.Next() || j.Log.Fold.Seq() != whole.Log.Fold.Seq() || j.Log.Fold.Chain() != whole.Log.Fold.Chain() || j.Log.Fold.Claim().Owner != whole.Log.Fold.Claim().Owner {
		t.Errorf("seq %d under %v, want %d under %v", j.Log.Fold.Seq(), j.Log.Fold.Claim().Owner, whole.Log.Fold.Seq(), whole.Log.Fold.Claim().Owner)
	}
	if r := float64(j.Log.Size.Total) / float64(whole.Log.Size.Total); r < .2 || r > 5 { // snapshots grow with the window
		t.Errorf("the log is taken for %d bytes, and has %d", j.Log.Size.Total, whole.Log.Size.Total)
	}
}
