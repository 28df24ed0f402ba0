package learner

import (
	"encoding/binary"
	"testing"
)

// A model with a bound of its memory grows until its state, five times and twice, fills it
// to the last block, and then does what is configured. A restored learner goes on as it.
func TestFeaturesGrowUntilTheMemoryIsFull(t *testing.T) {
	const memory = 1 << 20
	for _, algorithm := range []string{"dsg", "udsg", "cdsg"} {
		t.Run(algorithm, func(t *testing.T) {
			c := Config{Algorithm: algorithm, Direction: "rate", BlockSize: 128, Minibatch: 8, Steps: Steps{Memory: memory}}
			if algorithm == "udsg" {
				c.AtCap = "stop"
			}
			l := newLearner(t, c)
			rows := stream{config: c, dim: 3, label: numeric}.rows(1600)
			learn(l, rows, 500)
			p := l.Progress()
			of, err := c.CapOf(l.Serving())
			if err != nil || p.Cap != of || of.Memory != memory || of.MaxFeatures == 0 || c.Cap().MaxFeatures != 0 {
				t.Fatalf("%+v of the learner, %+v of the state, %v", p.Cap, of, err)
			}
			if algorithm != "cdsg" && p.Features != of.MaxFeatures || p.Features > of.MaxFeatures {
				t.Errorf("%d features, the maximum is %d", p.Features, of.MaxFeatures)
			}
			if p.Features != of.MaxFeatures {
				return
			}
			coefficients, frequencies := 0, p.Features*4*(3+1)
			for _, a := range append(l.Serving(), l.State().Resuming...) {
				switch a.Name {
				case "coefficients", "u", "v", "traces":
					coefficients += binary.Size(a.Data)
				}
			}
			taken, block := 2*(5*coefficients+frequencies), 2*(5*40+16)*c.BlockSize
			if taken > memory || taken+block <= memory {
				t.Errorf("features take %d bytes of %d, and a block %d", taken, memory, block)
			}
			restored, err := Restore(c, l.State())
			if err != nil {
				t.Fatal(err)
			}
			more := stream{config: c, dim: 3, label: numeric}.rows(200)
			learn(l, more, 50)
			learn(restored, more, 50)
			sameState(t, "restored", l.State(), restored.State())
			if got := l.Progress().Features; got != p.Features {
				t.Errorf("%d features after the maximum of %d", got, p.Features)
			}
		})
	}
}

// New classes take memory from features that have not been added yet.
func TestClassesAtTheMemoryLimit(t *testing.T) {
	c := Config{Algorithm: "dsg", Direction: "rate", BlockSize: 128, Minibatch: 8, Steps: Steps{Memory: 1 << 20}}
	l := newLearner(t, c)
	label := func(i int, x []float64) Label {
		y := Label{Task: Classification}
		if x[0] > 0 {
			y.Class = 1 + min(3, i/300)
		}
		return y
	}
	learn(l, stream{config: c, dim: 3, label: label}.rows(1400), 300)
	p := l.Progress()
	if five := c.MostFeatures(3, 5); p.Features != max(five, p.Cap.MaxFeatures) || c.MostFeatures(3, 1) <= five {
		t.Errorf("%d features, %+v, want %d", p.Features, p.Cap, five)
	}
	if _, err := Restore(c, l.State()); err != nil {
		t.Error(err)
	}
}

func TestMemoryIsForGrowingModels(t *testing.T) {
	for _, c := range []Config{
		{Steps: Steps{Memory: 1 << 20}}, {Algorithm: "all", Steps: Steps{Memory: 1 << 20}}, {Algorithm: "dsg", Steps: Steps{Memory: 1000}},
		{Algorithm: "dsg", Steps: Steps{Memory: -1}}, {Algorithm: "dsg", MaxFeatures: 4096, Steps: Steps{Memory: 1 << 20}},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		} else {
			t.Log(err)
		}
	}
	p, err := ParsePreset("dsg-paper")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := p.Over(Config{Steps: Steps{Memory: 1 << 30}}).Effective(); err != nil || c.MaxFeatures != 1<<24 {
		t.Errorf("%+v, %v", c, err)
	}
}
