package fit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/chart"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/metric"
)

// inputFlags select the columns that are inputs, and say how missing values are read.
type inputFlags struct {
	Columns []string `placeholder:"COLUMN,..." help:"Input columns, each a name or name:type, for example code:category or note:text (default: all but label, key and weight). * stands for all columns that are not named: code:category,* declares one type. With the types id and ignored alone: columns that are not inputs."`
	Print   bool     `name:"print-columns" help:"Print the columns and their types as input.columns for the configuration of a model."`
	Windows string   `placeholder:"WINDOW;..." help:"Statistics of the earlier rows of a key as additional inputs, for example 'key=card of=amount over=1h,7d time=at' (docs/windows.md)."`
	Missing string   `enum:"impute,refuse,zero" default:"impute" help:"Missing values: empty cells, NA and null. impute: the mean of a number, a category of its own. refuse: treat the row as unreadable. zero: read 0 (${default})."`
}

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

// decode returns the configuration for reading rows.
func (f *Command) decode(task learner.Task) decode.Config {
	c := decode.Config{Labels: f.Label, Key: f.Key, Weight: f.Weight, Task: task, MaxClasses: f.MaxClasses, Depth: decode.MaxDepth, Grams: task != learner.Novelty, Zones: true, Above: learner.Config{Kernel: f.Kernel}.Above(), Counts: learner.Config{Loss: f.Loss}.Counts()}
	c.Infer = f.Metric == "" && c.Above == 0
	c.Sparse, c.Time = f.Sparse > 0, f.Time
	columns := config.ParseColumns(f.Columns)
	if names := columns.Names(); names != nil {
		c.Columns, c.Unknown = names, "ignore"
	}
	c.Types = columns.Types()
	if windows, err := config.ParseWindows(f.Windows); err == nil { // otherwise Validate reports the error
		c.Windows = windows.Of()
	}
	if f.Missing != "refuse" {
		c.Missing = f.Missing
	}
	return c
}

// Validate rejects values that the learner would interpret as "use the default", and an algorithm
// other than that of the preset. Kong calls it.
func (f *Command) Validate(k *kong.Context) error {
	f.given = map[string]bool{}
	for _, given := range k.Path {
		if given.Flag != nil {
			f.given[given.Flag.Name] = true
		}
	}
	if p, err := learner.ParsePreset(f.Preset); err == nil && f.given["algorithm"] && p.Check(f.Algorithm) != nil {
		return p.Check(f.Algorithm)
	}
	if err := cmp.Or(f.validateWindows(), f.validateAges()); err != nil {
		return err
	}
	if err := config.ParseColumns(f.Columns).Check(); err != nil {
		return fmt.Errorf("--columns: %w", err)
	}
	switch {
	case f.Minibatch < 0:
		return fmt.Errorf("--minibatch is %d: want 0 or more", f.Minibatch)
	case f.MaxClasses < 2 || f.MaxClasses > 65536:
		return fmt.Errorf("--max-classes is %d: want 2 to 65536", f.MaxClasses)
	case f.MaxFeatures < 1:
		return fmt.Errorf("--max-features is %d: want 1 or more", f.MaxFeatures)
	case !(f.Lambda >= 0 && f.Lambda <= 1):
		return fmt.Errorf("--lambda is %v: want 0 to 1", f.Lambda)
	case f.Seed == 0:
		return fmt.Errorf("--seed is 0: want 1 or more")
	}
	return f.ClassFlags.Validate()
}

// Files returns the files that are read and written.
func (f *Command) Files() env.Files {
	return env.Files{
		Inputs:  []env.Named{{Name: "the training file", Path: f.Train}, {Name: "--test", Path: f.Test}, {Name: "--metric", Path: f.Metric}},
		Outputs: append([]env.Named{{Name: "--save", Path: f.Save}, {Name: "--predictions", Path: f.Predictions}, {Name: "--plot", Path: f.Plot}}, f.ProfileFlags.Outputs()...),
	}
}

// foresee reports errors that would otherwise occur only after the whole file
// has been learned.
func (f *Command) foresee() error {
	if f.Test != "" {
		if _, err := os.Stat(f.Test); errors.Is(err, fs.ErrNotExist) {
			return files.NotFound(f.Test)
		}
	}
	if f.Plot != "" {
		if err := chart.Check(f.Plot); err != nil {
			return exit.Usage("--plot: %w", err)
		}
	}
	if f.Predictions != "" && f.Shuffle != nil {
		return exit.Usage("--predictions are in the order of the file: omit --shuffle")
	}
	return nil
}

// options returns the learner.Config that the flags describe.
func (f *Command) options(e *env.Env) (learner.Config, error) {
	task, err := learner.ParseTask(f.Task)
	if err != nil {
		return learner.Config{}, err
	}
	metric, err := f.metric(e)
	if err != nil {
		return learner.Config{}, err
	}
	effort, err := learner.ParseEffort(f.Effort)
	if err != nil {
		return learner.Config{}, exit.Flag("effort", err)
	}
	halfLife, err := config.ParseHalfLife(f.HalfLife)
	if err != nil {
		return learner.Config{}, exit.Flag("half-life", err)
	}
	nu := 0.0
	if task == learner.Novelty {
		nu = f.Nu
	}
	of := learner.Config{
		Nu: nu, Algorithm: f.Algorithm, Direction: f.Direction, Loss: f.Loss, Kernel: f.Kernel, Metric: metric, Sampling: f.Sampling, Task: task, MaxClasses: f.MaxClasses, MaxFeatures: f.MaxFeatures,
		BlockSize: f.BlockSize, Minibatch: f.Minibatch, Lambda: f.Lambda, Steps: f.steps(), Lags: f.Lags, Costs: f.Costs, Balance: f.Balance, HalfLife: halfLife, Intervals: f.Intervals, Variance: f.Variance, Monitor: f.Monitor, OnDrift: f.OnDrift, Mixture: f.Mixture == "on", Sparse: f.Sparse, Seed: f.Seed, Effort: effort, Folds: f.Folds, NormalScores: f.NormalScores == "auto", Warmup: learner.NewestWarmup, Discard: true, Targets: len(f.Label),
	}
	if f.Memory != "" {
		size, err := config.ParseSize(f.Memory)
		if err != nil {
			return learner.Config{}, exit.Flag("memory", err)
		}
		of.Memory = int64(size)
		if size > 0 {
			of.MaxFeatures = 0
		}
	}
	if f.Preset != "none" {
		p, err := learner.ParsePreset(f.Preset)
		if err != nil {
			return learner.Config{}, exit.Usage("%w", err)
		}
		of = f.under(p, of)
	}
	of.Mixture = of.Mixture || f.Mixture == "auto" && of.SuitsMixture()
	if of, err = of.WithForest(f.Forest, f.Refit); err != nil {
		return learner.Config{}, exit.Flag("forest", err)
	}
	options, err := of.Effective()
	switch {
	case err != nil:
		return options, f.flagged(err)
	case f.Refit && task == learner.Novelty:
		return options, exit.Usage("--refit fits coefficients to labels, which --task novelty does not have")
	case f.Refit && of.Forest > 0:
		return options, exit.Usage("%w: omit --refit or --forest", learner.ErrForest)
	case f.Refit && f.Sparse > 0:
		return options, exit.Usage("%w: omit --refit or --sparse", learner.ErrSparse)
	case f.Print && f.Sparse > 0:
		return options, exit.Usage("--print-columns: with --sparse, inputs are hashed by their names, and a model has no columns to configure")
	case f.Lags > 0 && f.Test != "":
		return options, exit.Usage("a model with lags can only be evaluated on the rows that it learns: omit --test")
	case f.given["nu"] && task != learner.Novelty:
		return options, exit.Usage("--nu is the share of rows that --task novelty flags: add --task novelty, or omit --nu")
	case !f.Refit && f.givenOf(ofRefit) != "":
		return options, exit.Usage("--%s is for the model that --refit solves for: add --refit, or omit it", f.givenOf(ofRefit))
	}
	return options, f.refitError()
}

// refitError returns an error if a flag of --refit is out of range.
func (f *Command) refitError() error {
	switch {
	case !(f.Prune >= 0 && f.Prune < 1):
		return exit.Usage("--prune is %v: want 0 or more and less than 1", f.Prune)
	case !f.Refit:
		return nil
	case f.Window < 2:
		return exit.Usage("--window is %d: want 2 or more", f.Window)
	case !(f.Tolerance > 0):
		return exit.Usage("--tolerance is %v: want more than 0", f.Tolerance)
	case !(f.Penalty >= 0):
		return exit.Usage("--penalty is %v: want 0 or more", f.Penalty)
	case f.Coordinates < 0:
		return exit.Usage("--coordinates is %d: want 0 or more", f.Coordinates)
	}
	return nil
}

// flagged returns the usage error for an error of the learner's options, which begins with a flag if
// it is about the value of one.
func (f *Command) flagged(err error) error {
	option, _, _ := strings.Cut(err.Error(), " is ")
	if flag := strings.ReplaceAll(option, "_", "-"); f.given[flag] {
		return exit.Flag(flag, err)
	}
	return exit.Usage("%w", err)
}

// ofRefit are the flags that are for --refit alone.
var ofRefit = []string{"window", "tolerance", "prune", "by-norm", "coordinates", "penalty"}

// givenOf returns the first of some flags that is on the command line, or "".
func (f *Command) givenOf(flags []string) string {
	for _, name := range flags {
		if f.given[name] {
			return name
		}
	}
	return ""
}

// under returns of with the options of the preset p, except those that a flag on the command line
// sets.
func (f *Command) under(p learner.Preset, of learner.Config) learner.Config {
	out := p.Over(of)
	for flag, keep := range map[string]func(){
		"direction":    func() { out.Direction = of.Direction },
		"block-size":   func() { out.BlockSize = of.BlockSize },
		"minibatch":    func() { out.Minibatch = of.Minibatch },
		"max-features": func() { out.MaxFeatures = of.MaxFeatures },
		"lambda":       func() { out.Lambda = of.Lambda },
		"new-steps":    func() { out.NewSteps = of.NewSteps },
		"old-steps":    func() { out.OldSteps = of.OldSteps },
		"longest-step": func() { out.LongestStep = of.LongestStep },
		"averaging":    func() { out.Averaging = of.Averaging },
		"at-cap":       func() { out.AtCap = of.AtCap },
	} {
		if f.given[flag] {
			keep()
		}
	}
	return out
}

// metric returns the metric of --metric, or nil.
func (f *Command) metric(e *env.Env) (*metric.Metric, error) {
	if f.Metric == "" {
		return nil, nil
	}
	m, err := files.ReadMetric(f.Metric)
	if err != nil {
		return nil, exit.Refuse(fmt.Errorf("--metric: %w", err))
	}
	if m.Keys() > 0 && f.Key == "" {
		e.Log.Warn().Int("keys", m.Keys()).Msg("the file has a metric for each key, but without --key all rows use the shared one")
	}
	return m, nil
}
