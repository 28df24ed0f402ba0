package memory

import (
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// TestWindowsCount: newton has a packed copy of the inputs of its window, and of wide ones their
// phases, and the machines of a mixture have them of theirs.
func TestWindowsCount(t *testing.T) {
	for _, test := range []struct {
		config          learner.Config
		inputs, numbers int64
	}{
		{learner.Config{}, 50, 8192 * 50},
		{learner.Config{Algorithm: "ridge"}, 50, 0},
		{learner.Config{Mixture: true}, 50, (8192 + 512 + 4096) * 50},
		{learner.Config{Mixture: true, Warmup: learner.NewestWarmup}, 50, (16384 + 512 + 4096) * 50},
		{learner.Config{Mixture: true, Warmup: learner.NewestWarmup, Effort: 64}, 50, (8192 + 512 + 4096) * 50},
		{learner.Config{Mixture: true, Warmup: learner.NewestWarmup}, 512, (8192+512+4096)*512 + 8192*4104 + (512+4096)*1032}, // and phases of 4,096 and 1,024 features, rounded up
		{learner.Config{Warmup: learner.NewestWarmup}, 50, 8192 * 50},
	} {
		config, err := test.config.Effective()
		if err != nil {
			t.Fatal(err)
		}
		with := Estimate{Model: config, Learners: 1, Dim: test.inputs}
		without := Estimate{Model: config, Dim: test.inputs}
		if got, want := with.Limit()-without.Limit(), 2*4*test.numbers; got != want {
			t.Errorf("%+v: windows take %d bytes, want %d", test.config, got, want)
		}
	}
}
