package pipeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// Aborted transactions at the end of the predictions topic, however long, do not hide
// that the model log has lost its tail.
func TestAbortedPredictionsDoNotHideALostTail(t *testing.T) {
	d, in := kafkatest.NewDisk(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, d.Addr, nil)
	kafkatest.Fill(t, c, in, 1, rings(1000))
	cfg, _ := config(c, "m", in)
	cfg.Transactional = true
	learnAll(t, cfg)

	var rs []ingest.Record
	for i := range newestPredictions {
		rs = append(rs, ingest.Record{Time: time.Now().UnixMilli(), Value: fmt.Append(nil, i)})
	}
	for range 3 {
		tx := c.Transactor("aborted", time.Minute)
		if err := tx.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Write(t.Context(), PredictionsTopic(cfg.Model), 0, rs); err != nil {
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
	if n := len(kafkatest.Read(t, c, PredictionsTopic(cfg.Model))); n != 1000 {
		t.Fatalf("%d predictions are to be read, want those that were there before", n)
	}
	d.Down(func() {
		d.Change(LogTopic(cfg.Model), 0, func(bs [][]byte) [][]byte { return bs[:6] })
		d.Change(ReleasedTopic(cfg.Model), 0, func([][]byte) [][]byte { return nil }) // the only other trace
	})
	cfg.Client = kafkatest.ClientOf(t, d.Addr, nil)
	_, err := Open(t.Context(), cfg)
	wants(t, err, ErrLog, "has lost its tail")
}
