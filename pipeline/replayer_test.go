package pipeline

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A BATCH is replayed only if the same topic has the same records, and they are read as they were.
func TestABatchIsReplayedAsItWasDecided(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, append(learntest.Rings(20), "garbage"))
	cfg, _ := learntest.Config(c, "m", in)
	ins, err := input.Open(t.Context(), c, cfg.Topics)
	if err != nil {
		t.Fatal(err)
	}
	decider := func() *history.Decider {
		d, err := history.NewDecider(cfg.Decode, false, new(decode.Schema))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	decided := decider().Decide([]input.Span{{In: ins[0], To: 21, Records: kafkatest.Read(t, c, in)}})
	for want, change := range map[string]func(*modellog.Batch){
		"":                         func(*modellog.Batch) {},
		"deleted and created":      func(b *modellog.Batch) { b.Ranges[0].TopicID[0]++ },
		"is not among the inputs":  func(b *modellog.Batch) { b.Ranges[0].Partition = 1 },
		"with digest":              func(b *modellog.Batch) { b.Ranges[0].Digest++ },
		"needs offsets 0 to 22":    func(b *modellog.Batch) { b.Ranges[0].To++ },
		"reads the records differ": func(b *modellog.Batch) { b.Counts.Learned, b.Counts.Quarantined = 21, 0 },
	} {
		b := &modellog.Batch{Seq: 1, Ranges: slices.Clone(decided.Ranges), Counts: decided.Counts}
		change(b)
		r := history.NewReplayer(c, ins, decider(), ingest.NewBudget(1<<20), cfg.Report)
		_, err := r.Decide(t.Context(), b)
		if r.Close(); want == "" && err != nil || want != "" && (!errors.Is(err, input.ErrHistory) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
