package learner

import (
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

func TestEffortsAreNumbersOrNames(t *testing.T) {
	for s, want := range map[string]int{"default": 0, "auto": AutoEffort, "1": 1, "8": 8, "256": 256, "1024": 1024} {
		if got, err := ParseEffort(s); err != nil || got != want {
			t.Errorf("ParseEffort(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "0", "-1", "1025", "8.5", "fast", "1e2"} {
		if got, err := ParseEffort(s); err == nil {
			t.Errorf("ParseEffort(%q) = %d, want an error", s, got)
		}
	}
}

// TestEffortBoundsFeatures: an effort is for newton, sets the maximum of features, and as
// the default changes no model.
func TestEffortBoundsFeatures(t *testing.T) {
	for _, test := range []struct {
		config Config
		effort int
		most   int // 0: refused
	}{
		{Config{}, 0, 4096},
		{Config{Effort: 256}, 0, 4096},
		{Config{Effort: AutoEffort}, AutoEffort, 4096},
		{Config{Warmup: NewestWarmup, Effort: 256}, 256, 4096},
		{Config{Warmup: NewestWarmup, Effort: AutoEffort}, 0, 4096},
		{Config{Warmup: int(warmup.Thirteenth), Effort: 256}, 0, 4096},
		{Config{Warmup: int(warmup.Thirteenth), Effort: AutoEffort}, AutoEffort, 4096},
		{Config{Effort: 8}, 8, 512},
		{Config{Effort: 8, MaxFeatures: 128}, 8, 128},
		{Config{Effort: 1, BlockSize: 300}, 1, 300},
		{Config{Effort: 1024}, 1024, 4096},
		{Config{Effort: 256, Algorithm: "ridge"}, 0, 4096},
		{Config{Warmup: NewestWarmup, Effort: 256, Algorithm: "ridge"}, 0, 4096},
		{Config{Sparse: 18, Mixture: true}, 4, 256},
		{Config{Sparse: 18, Mixture: true, Effort: 8}, 8, 512},
		{Config{Sparse: 18, Mixture: true, Effort: 256}, 256, 4096},
		{Config{Sparse: 18, Mixture: true, Effort: 256, Algorithm: "ridge", Task: Regression}, 0, 4096},
		{Config{Sparse: 18, Mixture: true, Effort: AutoEffort}, AutoEffort, 4096},
		{Config{Warmup: NewestWarmup, Sparse: 18, Mixture: true}, 4, 256},
		{Config{Warmup: NewestWarmup, Sparse: 18, Mixture: true, Effort: AutoEffort}, AutoEffort, 4096},
		{Config{Effort: 1025}, 0, 0},
		{Config{Effort: -2}, 0, 0},
		{Config{Effort: 8, Algorithm: "ridge"}, 0, 0},
		{Config{Effort: 8, Task: Novelty}, 0, 0},
	} {
		c, err := test.config.Effective()
		switch {
		case test.most == 0 && err == nil:
			t.Errorf("%+v: no error", test.config)
		case test.most != 0 && (err != nil || c.Effort != test.effort || c.MaxFeatures != test.most):
			t.Errorf("%+v: effort %d, %d features, %v; want %d, %d", test.config, c.Effort, c.MaxFeatures, err, test.effort, test.most)
		case test.most != 0:
			if again, err := c.Effective(); err != nil || again != c {
				t.Errorf("%+v: effective once %+v, twice %+v, %v", test.config, c, again, err)
			}
		}
	}
}

// TestEffortOfSparseModelIsKept: a model from when 256 meant the default goes on with it; no
// other effort stands for another.
func TestEffortOfSparseModelIsKept(t *testing.T) {
	for _, test := range []struct{ have, configured, want, sparse int }{
		{4, 256, 4, 18}, {4, 0, 4, 18}, {256, 256, 256, 18}, {256, 0, 4, 18}, {4, 32, 32, 18}, {8, 256, 256, 18}, {4, 256, 0, 0},
	} {
		c := Config{Sparse: test.sparse, Mixture: true, Effort: test.configured}
		was := Config{Sparse: test.sparse, Mixture: true, Effort: test.have}
		if e, err := c.KeepEffort(was).Effective(); err != nil || e.Effort != test.want {
			t.Errorf("%+v: effort %d, %v", test, e.Effort, err)
		}
	}
}

// New models whose effort is not configured make fewer row visits where labels are noise; others
// have the effort that they have.
func TestNewModelsSpareVisits(t *testing.T) {
	for _, test := range []struct {
		config Config
		want   bool
	}{
		{Config{Warmup: NewestWarmup}, true},
		{Config{Warmup: NewestWarmup, Effort: AutoEffort}, true},
		{Config{Warmup: NewestWarmup, Sparse: 18, Mixture: true, Effort: AutoEffort}, true},
		{Config{Warmup: NewestWarmup, Sparse: 18, Mixture: true}, false},
		{Config{Warmup: NewestWarmup, Effort: 256}, false},
		{Config{Warmup: int(warmup.Thirteenth)}, false},
		{Config{Warmup: int(warmup.Thirteenth), Effort: AutoEffort}, false},
	} {
		if c, err := test.config.Effective(); err != nil || c.options().Sparing != test.want {
			t.Errorf("%+v: %v, %v", test.config, c.options().Sparing, err)
		}
	}
}
