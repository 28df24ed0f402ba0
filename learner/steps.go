package learner

import (
	"cmp"
	"fmt"

	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// Steps are the options of dsg, udsg and cdsg, some of them also of all. The zero value
// of each selects the default.
type Steps struct {
	StepSize    float64 `json:"step_size,omitempty"`    // γ₀: that of the first step. For precond a part of the Newton step: 0.5; otherwise one that needs no tuning
	Theta       float64 `json:"theta,omitempty"`        // θ: the step size tends to θ/t. For precond it is constant; otherwise 1/λ
	NewSteps    int     `json:"new_steps,omitempty"`    // G of udsg: steps in new blocks, before OldSteps: 1
	OldSteps    int     `json:"old_steps,omitempty"`    // U of udsg: steps in existing blocks: 1
	LongestStep float64 `json:"longest_step,omitempty"` // θ′ of cdsg: largest step size in an existing block, relative to a new one: 2
	Averaging   string  `json:"averaging,omitempty"`    // what serves: "auto" (default), "none", "polynomial" or "uniform", see Averages
	AtCap       string  `json:"at_cap,omitempty"`       // at max_features: "revisit" (default for precond, udsg and cdsg), "all" (otherwise) or "stop"
}

// smallBlock is the block size if max_features is smaller than every default.
const smallBlock = 32

// leastPrecond is the number of rows of a mini-batch below which the covariance of a block
// is too noisy to precondition with.
const leastPrecond = 256

// suited returns c with the defaults that depend on the algorithm.
func (c Config) suited(a *engine.Algorithm) Config {
	d := a.Descent
	if d == nil {
		c.Direction = cmp.Or(c.Direction, descent.Directions[0])
		c.Lambda = cmp.Or(c.Lambda, 1e-6)
	} else {
		if c.Minibatch != 0 && c.Minibatch < leastPrecond {
			c.Direction = cmp.Or(c.Direction, descent.Directions[0])
		}
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
	return engine.Options{Direction: c.Direction, Steps: engine.Steps(c.Steps)}
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
	version := Arithmetic
	if a, err := parseAlgorithm(e.Algorithm); err == nil && a.Descent != nil {
		version += a.Descent.Arithmetic(e.Direction) - 1
	}
	if e.Costs == costsF1 { // its window and its least weight have changed once
		version++
	}
	if e.Mixture { // with the members short and reset
		version += 2
	}
	return version
}

// Averages returns what Config.Averaging can name, the default first.
func Averages() []string { return descent.Averages }

// Caps returns what Config.AtCap can name beside "auto".
func Caps() []string { return descent.Caps }
