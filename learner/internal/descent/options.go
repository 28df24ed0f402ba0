package descent

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// Averages are what Options.Averaging can name, the default first. auto serves the
// iterate or its polynomial-decay average, whichever had the lower recent loss.
var Averages = []string{"auto", "none", "polynomial", "uniform"}

// Caps are what Options.AtCap can name beside "", the default of the rule: what a
// mini-batch does to a model that may not grow any further.
var Caps = []string{capRevisit, capAll, capStop}

const (
	capRevisit = "revisit" // a step in one existing block
	capAll     = "all"     // a step in all blocks at once
	capStop    = "stop"    // nothing
)

// atCap returns what a step of the rule does at the cap.
func atCap(r Rule, o engine.Options) string {
	if _, steady := r.(All); steady {
		return capAll
	}
	return cmp.Or(o.AtCap, defaultCapOf(r, o.Direction))
}

// defaultCapOf returns what the rule does at the cap if nothing is configured.
func defaultCapOf(r Rule, direction string) string {
	if _, ok := r.(DSG); ok && direction != precondName {
		return capAll
	}
	return capRevisit
}

// largeSizes are the rows of a mini-batch and the features of a block for precond:
// the covariance of a block takes as many rows as a block has cosines and sines.
// smallSizes are those for the other directions. Chosen by trial, see
// docs/algorithms.md.
var (
	largeSizes = engine.Sizes{Minibatch: 1024, BlockSize: 512}
	smallSizes = engine.Sizes{Minibatch: 128, BlockSize: 32}
)

func sizes(direction string) engine.Sizes {
	if direction == precondName {
		return largeSizes
	}
	return smallSizes
}

// effective fills in the options that depend on the rule and the direction. A choice that was the
// only one in earlier versions is still "", because options are hashed into model logs.
func effective(r Rule, o engine.Options) engine.Options {
	_, grows := r.(DSG)
	switch grows = grows && o.Direction == precondName; {
	case grows && o.AtCap == "":
		o.AtCap = defaultCapOf(r, o.Direction)
	case !grows && o.AtCap == defaultCapOf(r, o.Direction):
		o.AtCap = ""
	}
	if o.Averaging == Averages[0] {
		o.Averaging = ""
	}
	return o
}

// maxSteps is the largest value of Options.NewSteps and Options.OldSteps.
const maxSteps = 1 << 20

// minMemory is the least value of Options.Memory, in bytes.
const minMemory = 1 << 20

// check returns an error if the options do not suit the rule.
func check(r Rule, o engine.Options) error {
	_, checks := r.(CDSG)
	_, uniform := r.(UDSG)
	_, steady := r.(All)
	switch {
	case checks && o.Direction == "adagrad":
		return fmt.Errorf("%s chooses the size of its steps, which direction adagrad ignores: want precond or rate", r)
	case o.StepSize != 0 && o.Direction == "adagrad":
		return fmt.Errorf("step_size %v: direction adagrad has step sizes of its own", o.StepSize)
	case !(o.StepSize >= 0) || math.IsInf(o.StepSize, 1) || o.Direction == precondName && o.StepSize > 1:
		return fmt.Errorf("step_size is %v: want 0 for the default, or more; for direction precond at most 1", o.StepSize)
	case !(o.Theta >= 0) || math.IsInf(o.Theta, 1):
		return fmt.Errorf("theta is %v: want 0 for the default, or more", o.Theta)
	case !uniform && (o.NewSteps != 0 || o.OldSteps != 0):
		return fmt.Errorf("new_steps and old_steps are for udsg, not for %s", r)
	case o.NewSteps < 0 || o.NewSteps > maxSteps:
		return fmt.Errorf("new_steps is %d: want 0 to %d", o.NewSteps, maxSteps)
	case o.OldSteps < 0 || o.OldSteps > maxSteps:
		return fmt.Errorf("old_steps is %d: want 0 to %d", o.OldSteps, maxSteps)
	case !checks && o.LongestStep != 0:
		return fmt.Errorf("longest_step is for cdsg, not for %s", r)
	case o.LongestStep != 0 && !(o.LongestStep >= 1 && o.LongestStep <= 100):
		return fmt.Errorf("longest_step is %v: want 1 to 100", o.LongestStep)
	case o.Averaging != "" && !slices.Contains(Averages, o.Averaging):
		return fmt.Errorf("averaging %q: want one of %v", o.Averaging, Averages)
	case o.AtCap != "" && !slices.Contains(Caps, o.AtCap):
		return fmt.Errorf("at_cap %q: want one of %v", o.AtCap, Caps)
	case o.Memory != 0 && steady:
		return fmt.Errorf("memory is for dsg, udsg and cdsg: %s takes a step in all features that it has", r)
	case o.Memory != 0 && o.Memory < minMemory:
		return fmt.Errorf("memory is %d: want 0 (none), or %d bytes or more", o.Memory, minMemory)
	case o.AtCap != "" && steady:
		return fmt.Errorf("at_cap is for dsg, udsg and cdsg: %s always takes a step in all blocks", r)
	}
	return nil
}

// with returns the rule with the options that are for it.
func with(r Rule, o engine.Options) Rule {
	switch r := r.(type) {
	case UDSG:
		if o.NewSteps != 0 || o.OldSteps != 0 {
			return UDSG{int64(o.NewSteps), int64(o.OldSteps)}
		}
	case CDSG:
		r.Cap = o.LongestStep
		return r
	}
	return r
}
