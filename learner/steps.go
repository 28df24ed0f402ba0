package learner

import (
	"cmp"
	"fmt"

	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// smallBlock is the block size if max_features is smaller than every default.
const smallBlock = 32

// suited returns c with the defaults that depend on the algorithm.
func (c Config) suited(a *engine.Algorithm) Config {
	d := a.Descent
	if d == nil {
		c.Direction = cmp.Or(c.Direction, descent.Directions[0])
		c.Lambda = cmp.Or(c.Lambda, 1e-6)
	} else {
		c.Direction = cmp.Or(c.Direction, d.Direction)
		if !d.Penalised {
			c.Lambda = cmp.Or(c.Lambda, 1e-6)
		}
	}
	of := engine.Sizes{Minibatch: a.Minibatch, BlockSize: a.BlockSize}
	if d != nil {
		of = d.Sizes(c.Direction)
	}
	for of.BlockSize > max(smallBlock, c.MaxFeatures) {
		of.BlockSize /= 2
	}
	c.BlockSize = cmp.Or(c.BlockSize, of.BlockSize)
	c.Minibatch = cmp.Or(c.Minibatch, of.Minibatch)
	if c.AtCap == "auto" {
		c.AtCap = ""
	}
	if d != nil {
		o := d.Effective(c.stepOptions())
		c.Averaging, c.AtCap = o.Averaging, o.AtCap
	} else if c.Averaging == "auto" {
		c.Averaging = ""
	}
	return c
}

// stepOptions are the options that package descent fills in and checks.
func (c Config) stepOptions() engine.Options {
	return engine.Options{Direction: c.Direction, Steps: c.stepsOf()}
}

func (c Config) stepsOf() engine.Steps {
	return engine.Steps{
		StepSize: c.StepSize, Theta: c.Theta, NewSteps: c.NewSteps, OldSteps: c.OldSteps,
		LongestStep: c.LongestStep, Averaging: c.Averaging, AtCap: c.AtCap,
	}
}

// checkSteps returns an error if the options of the steps do not suit the algorithm.
func (c Config) checkSteps(a *engine.Algorithm) error {
	if a.Descent != nil {
		return a.Descent.Check(c.stepOptions())
	}
	for _, o := range []struct {
		name string
		set  bool
	}{
		{"step_size", c.StepSize != 0}, {"theta", c.Theta != 0}, {"new_steps", c.NewSteps != 0}, {"old_steps", c.OldSteps != 0},
		{"longest_step", c.LongestStep != 0}, {"averaging", c.Averaging != ""}, {"at_cap", c.AtCap != ""},
	} {
		if o.set {
			return fmt.Errorf("%s is for the algorithms of stochastic descent (dsg, udsg, cdsg, all), not for %s", o.name, a.Name)
		}
	}
	return nil
}

// Arithmetic returns the version of what the algorithm of c computes. A log is learned
// again by programs of its own version only, so it grows by one with every change after
// which the same rows lead to another state or prediction.
func (c Config) Arithmetic() int {
	e, err := c.Effective()
	if err != nil {
		return Arithmetic
	}
	if a, err := parseAlgorithm(e.Algorithm); err == nil && a.Descent != nil {
		return Arithmetic - 1 + a.Descent.Arithmetic(e.Direction)
	}
	return Arithmetic
}

// Averages returns what Config.Averaging can name, the default first.
func Averages() []string { return descent.Averages }

// Caps returns what Config.AtCap can name beside "auto".
func Caps() []string { return descent.Caps }
