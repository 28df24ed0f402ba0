package learner

import "testing"

// Every preset is valid, changes options that have their default alone, and learns.
func TestEveryPresetIsValidAndLearns(t *testing.T) {
	for _, p := range Presets() {
		c, err := p.Over(Config{Algorithm: "newton", Direction: "auto", MaxFeatures: defaultMaxFeatures}).Effective()
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if c.Algorithm != p.Config.Algorithm || c.Direction != "rate" || c.Minibatch != 64 || c.MaxFeatures != p.Config.MaxFeatures {
			t.Errorf("%s: %+v", p.Name, c)
		}
		if d := p.Over(Config{Minibatch: 200, Lambda: 0.5}); d.Minibatch != 200 || d.Lambda != 0.5 || d.BlockSize != 32 {
			t.Errorf("%s: over other options: %+v", p.Name, d)
		}
		l := newLearner(t, c)
		learn(l, stream{config: c, dim: 3, label: sided}.rows(1600), 500)
		if f := l.Progress().Features; f < 32 {
			t.Errorf("%s: %d features", p.Name, f)
		}
	}
	if _, err := ParsePreset("paper"); err == nil {
		t.Error("an unknown preset is taken")
	}
}
