package bench

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// TestPresetsAreConfigurations: the learner takes the papers' mini-batches and blocks.
func TestPresetsAreConfigurations(t *testing.T) {
	for name, p := range presets {
		for _, algorithm := range []string{"dsg", "udsg", "cdsg"} {
			c := learner.Config{Algorithm: algorithm, Direction: "rate", Minibatch: p.steps.Minibatch, BlockSize: p.steps.BlockSize, Lambda: p.steps.Lambda, MaxFeatures: 1 << 20}
			if _, err := learner.New(c); err != nil {
				t.Errorf("%s: %s: %v", name, algorithm, err)
			}
		}
	}
}

func TestMissingSetSaysWhatToDownload(t *testing.T) {
	c := &Command{Dir: "data"}
	for name, want := range map[string]string{
		"epsilon": "download epsilon_normalized from the LIBSVM data sets and save it there as epsilon.train.libsvm, and epsilon_normalized.t as epsilon.test.libsvm",
		"covtype": "save it there as covtype.train.libsvm",
		"mine":    "want NAME.train or NAME.stream with one of the endings .csv",
	} {
		if got := c.missing(name); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
