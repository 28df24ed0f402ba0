package config

import (
	"strings"
	"testing"
)

// A preset sets the options that are not set themselves, and says that it did.
func TestAPresetSetsTheOtherOptions(t *testing.T) {
	c, err := Load(Sources{Set: []string{"model=m", "kafka.bootstrap.servers=a:1", "input.topics=t", "input.label=y", "learner.preset=udsg-paper", "learner.minibatch=100"}})
	if err != nil {
		t.Fatal(err)
	}
	l := c.Learner
	if l.Algorithm != "udsg" || l.Direction != "rate" || l.BlockSize != 32 || l.Minibatch != 100 || l.Step.New != 1 || l.Step.Averaging != "none" || l.Lambda != 1e-6 {
		t.Errorf("%+v", l)
	}
	for _, algorithm := range []string{"newton", "dsg"} {
		_, err := Load(Sources{Set: []string{"model=m", "kafka.bootstrap.servers=a:1", "input.topics=t", "input.label=y", "learner.preset=udsg-paper", "learner.algorithm=" + algorithm}})
		if err == nil || !strings.Contains(err.Error(), "preset udsg-paper is for algorithm udsg, not for "+algorithm) {
			t.Errorf("%s with another preset: %v", algorithm, err)
		}
	}
	if a, b := c.sources["learner.algorithm"].String(), c.sources["learner.minibatch"].Kind; a != "preset udsg-paper" || b != "flag" {
		t.Errorf("algorithm is from %q, minibatch from %q", a, b)
	}
}
