package admin

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// learn runs a learner to the end of its input.
func learn(t *testing.T, c model.Config) {
	t.Helper()
	l, err := pipeline.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A learner that runs while an operator rolls back may delete the snapshot to which the
// history is to return. A ROLLBACK to it would leave a log that nobody can read.
func TestRollbackToASnapshotThatIsDeletedMeanwhile(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(500))
	cfg, _ := learntest.Config(c, "m", in)
	learn(t, cfg)
	whole := cfg
	whole.Keep = math.MaxInt
	j, err := journal.OpenComplete(t.Context(), whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	to := j.Log.Fold.Seq()
	kafkatest.Fill(t, c, in, 1, learntest.Rings(500))
	cfg.Keep, cfg.History = 1, 1
	learn(t, cfg) // deletes what precedes its last snapshot
	learntest.Wants(t, hold(t.Context(), j, to, cfg.Keep, cfg.History), ErrNowhere, "in the meantime")
	learn(t, cfg)
	_, err = Rollback(t.Context(), cfg, RollbackTo{Step: new(int64)})
	learntest.Wants(t, err, ErrNowhere, "step 0")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(100))
	learn(t, cfg)
}
