package pipeline

import (
	"testing"

	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A program that does not want to know what happens sets no Config.Report.
func TestNobodyNeedsReports(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(300))
	cfg, _ := learntest.Config(c, "m", in)
	cfg.Report = nil
	learnAll(t, cfg)
	if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Compared != 1 || v.Divergent != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := audit.Rebuild(t.Context(), cfg, []string{"key=nobody"}, ""); err != nil {
		t.Error(err)
	}
	if _, err := admin.Adopt(t.Context(), cfg, admin.Adoption{DryRun: true}); err != nil {
		t.Error(err)
	}
	_, there := cluster(t)
	imported(t, model.Config{Client: there, Model: cfg.Model}, exported(t, cfg))
}

// A learner that takes a snapshot after each BATCH sleeps while there is none.
func TestNoSnapshotIsDueAtOnce(t *testing.T) {
	if wait := new(Learner).untilDue(); wait <= 0 {
		t.Errorf("looks again after %v whether a snapshot is due", wait)
	}
}

// A BATCH of no records would never end.
func TestABatchHasRecords(t *testing.T) {
	cfg, _ := learntest.Config(kafkatest.Client(t), "m", kafkatest.Name("rings"))
	cfg.BatchSize = 0
	if _, err := Open(t.Context(), cfg); err == nil || err.Error() != "the batch size is 0: want at least 1" {
		t.Errorf("error %v", err)
	}
	if _, err := Open(t.Context(), model.Config{Model: "m"}); err == nil || err.Error() != "no Client is set: want one of ingest.New" {
		t.Errorf("without a client: %v", err)
	}
	if _, err := Open(t.Context(), model.Config{Client: cfg.Client}); err == nil || err.Error() != "no Model is set: want the name of the model" {
		t.Errorf("without a name: %v", err)
	}
}
