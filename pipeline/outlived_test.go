package pipeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// Aborted transactions at the end of the predictions topic, however long, do not hide
// that the model log has lost its tail.
func TestAbortedPredictionsDoNotHideALostTail(t *testing.T) {
	d, in := kafkatest.NewDisk(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, d.Addr, nil)
	kafkatest.Fill(t, c, in, 1, learntest.Rings(1000))
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Transactional = true
	learnAll(t, cfg)

	var rs []ingest.Record
	for i := range journal.PredictionsAtOnce {
		rs = append(rs, ingest.Record{Time: time.Now().UnixMilli(), Value: fmt.Append(nil, i)})
	}
	for range 3 {
		tx := c.Transactor("aborted", time.Minute)
		if err := tx.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Write(t.Context(), model.PredictionsTopic(cfg.Model), 0, rs); err != nil {
			t.Fatal(err)
		}
	}
	tx := c.Transactor("aborted", time.Minute) // aborts the last one
	if err := tx.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(kafkatest.Read(t, c, model.PredictionsTopic(cfg.Model))); n != 1000 {
		t.Fatalf("%d predictions are to be read, want those that were there before", n)
	}
	d.Down(func() {
		d.Change(model.LogTopic(cfg.Model), 0, func(bs [][]byte) [][]byte { return bs[:6] })
		d.Change(model.ReleasedTopic(cfg.Model), 0, func([][]byte) [][]byte { return nil }) // the only other trace
	})
	cfg.Client = kafkatest.ClientOf(t, d.Addr, nil)
	_, err := Open(t.Context(), cfg)
	learntest.Wants(t, err, ErrLog, "has lost its tail")
}

// A successor that was killed while it published again, before it came to the last seq,
// does not hide that the model log has lost its tail.
func TestRepeatedPredictionsDoNotHideALostTail(t *testing.T) {
	d, in := kafkatest.NewDisk(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, d.Addr, nil)
	kafkatest.Fill(t, c, in, 1, learntest.Rings(1000))
	cfg, _ := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	d.Down(func() {
		d.Change(model.LogTopic(cfg.Model), 0, func(bs [][]byte) [][]byte { return bs[:6] })
	})
	c = kafkatest.ClientOf(t, d.Addr, nil)
	cfg.Client = c
	j, err := journal.Unread(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.ReadOn(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	again := j.Log.Fold.Seq()
	if again <= j.Log.Fold.Released() {
		t.Fatalf("the rest of the log ends at seq %d and has released all of it", again)
	}
	var rs []ingest.Record
	for range journal.PredictionsAtOnce + 1 {
		rs = append(rs, ingest.Record{Time: time.Now().UnixMilli(), Value: []byte("{}"), Headers: []ingest.Header{{Key: "ce_sequence", Value: fmt.Append(nil, again)}}})
	}
	if err := c.Producer().Publish(t.Context(), model.PredictionsTopic(cfg.Model), 0, rs); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), cfg)
	learntest.Wants(t, err, ErrLog, "has lost its tail")
}
