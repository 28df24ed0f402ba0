package learner

import "testing"

// A model that has its maximum of features does what Cap says, and has that many.
func TestCapIsWhatModelsReach(t *testing.T) {
	for _, test := range []struct {
		config Config
		at     string
	}{
		{Config{}, "revisit"}, {Config{Algorithm: "ridge"}, "fixed"}, {Config{Algorithm: "dsg"}, "revisit"}, {Config{Algorithm: "dsg", Direction: "rate"}, "all"},
		{Config{Algorithm: "cdsg", Steps: Steps{AtCap: "stop"}}, "stop"}, {Config{Algorithm: "all"}, "all"},
	} {
		c := test.config
		c.BlockSize, c.MaxFeatures = 8, 30
		if c.Algorithm == "dsg" || c.Algorithm == "cdsg" {
			c.Minibatch = 256
		}
		of := c.Cap()
		if of.AtCap != "fixed" && of.MaxFeatures != 32 || of.AtCap != test.at {
			t.Errorf("%+v: %+v, want %s", test.config, of, test.at)
		}
		l := newLearner(t, c)
		learn(l, stream{config: c, dim: 3, label: sided}.rows(3200), 500)
		if f := l.Progress().Features; f > of.MaxFeatures || of.AtCap != "stop" && c.Algorithm != "cdsg" && f < of.MaxFeatures {
			t.Errorf("%+v: %d features, want %d", test.config, f, of.MaxFeatures)
		}
	}
}
