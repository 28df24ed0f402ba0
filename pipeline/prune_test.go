package pipeline

import (
	"testing"

	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
)

// TestPrunedChallengerIsSmallerAndVerifies publishes a challenger with some of the random
// features, and computes it again from the log.
func TestPrunedChallengerIsSmallerAndVerifies(t *testing.T) {
	cfg, _ := refits(t, 2, 1500)
	cfg.Learner.MaxFeatures = 256
	learnAll(t, cfg)
	_, all, err := Refit(t.Context(), cfg, false)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Refit.Prune = 0.05
	report, few, err := Refit(t.Context(), cfg, true)
	if err != nil || !report.Published || report.Relative > 1e-3 || report.Prune != 0.05 || report.Kept == 0 || 2*report.Kept > report.Features {
		t.Fatalf("%+v, %v", report, err)
	}
	size := func(s *snapshot.Snapshot) int {
		file, err := snapshot.Append(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		return len(file)
	}
	if n, of := size(few), size(all); n > of-8*(report.Features-report.Kept)+report.Features/8+192 {
		t.Errorf("a snapshot of %d bytes, and of %d with all features", n, of)
	}
	published, models := challengers(t, cfg)
	if len(published) != 1 || published[0].Refit.Kept != report.Kept || models[0].RandomFeatures() != report.Kept {
		t.Fatalf("%+v", published)
	}
	cfg.Refit = model.RefitConfig{}
	v, err := audit.Verify(t.Context(), cfg)
	if err != nil || v.Divergent != 0 || v.Challengers != 1 || v.Compared < 1 {
		t.Errorf("%+v, %v", v, err)
	}
}
