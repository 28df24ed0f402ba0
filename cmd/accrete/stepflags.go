package main

import (
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
)

// stepFlags are the options of the steps of dsg, udsg, cdsg and all.
type stepFlags struct {
	StepSize    float64 `name:"step-size" default:"0" help:"First step size of dsg, udsg, cdsg and all; with --direction precond a part of the Newton step. 0 selects one that needs no tuning."`
	Theta       float64 `default:"0" help:"Decay of the step size, which tends to THETA/t; 0 selects 1/lambda, and for precond a constant step size."`
	NewSteps    int     `name:"new-steps" default:"0" help:"udsg: number of steps in new blocks before --old-steps; 0 for both selects 1."`
	OldSteps    int     `name:"old-steps" default:"0" help:"udsg: number of steps in existing blocks."`
	LongestStep float64 `name:"longest-step" default:"0" help:"cdsg: largest step size in an existing block, relative to a new one; 0 selects 2."`
	Averaging   string  `enum:"${averages}" default:"auto" help:"What dsg, udsg, cdsg and all serve: ${enum} (${default}). auto: the iterate or its polynomial average, whichever had the lower recent loss."`
	AtCap       string  `name:"at-cap" enum:"auto,${caps}" default:"auto" help:"What dsg, udsg and cdsg do at --max-features: ${enum} (${default}). revisit: steps in existing blocks. all: steps in all blocks at once. stop: nothing."`
}

func (f stepFlags) steps() learner.Steps {
	return learner.Steps{
		StepSize: f.StepSize, Theta: f.Theta, NewSteps: f.NewSteps, OldSteps: f.OldSteps,
		LongestStep: f.LongestStep, Averaging: f.Averaging, AtCap: f.AtCap,
	}
}

// steps are the options of the steps in a configuration file.
func steps(s config.Step) learner.Steps {
	return learner.Steps{
		StepSize: s.Size, Theta: s.Theta, NewSteps: s.New, OldSteps: s.Old,
		LongestStep: s.Longest, Averaging: s.Averaging, AtCap: s.AtCap,
	}
}
