package setup

import (
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/learner"
)

// learnerOf returns the options of the learner that c describes. d says how it reads records.
func learnerOf(c *config.Config, d *decode.Config) (learner.Config, error) {
	metric, err := KernelMetric(c)
	if err != nil {
		return learner.Config{}, err
	}
	effort, err := learner.ParseEffort(c.Learner.Effort)
	if err != nil {
		return learner.Config{}, exit.Refuse(err)
	}
	halfLife, err := config.ParseHalfLife(c.Learner.HalfLife)
	if err != nil {
		return learner.Config{}, exit.Refuse(err)
	}
	nu := 0.0
	if d.Task == learner.Novelty {
		nu = c.Learner.Nu
	}
	of := learner.Config{
		Algorithm:    c.Learner.Algorithm,
		Direction:    c.Learner.Direction,
		Loss:         c.Learner.Loss,
		OnDrift:      c.Learner.OnDrift,
		Mixture:      c.Learner.Mixture == "on",
		Lags:         c.Input.Lags,
		Costs:        string(c.Learner.Costs),
		Balance:      string(c.Learner.Balance),
		HalfLife:     halfLife,
		Intervals:    c.Learner.Intervals,
		Variance:     c.Learner.Variance == "on",
		Effort:       effort,
		Folds:        c.Learner.Folds,
		NormalScores: c.Learner.NormalScores == "auto",
		Sparse:       c.Input.Sparse,
		Warmup:       learner.NewestWarmup,
		Discard:      true,
		Kernel:       c.Learner.Kernel,
		Metric:       metric,
		Sampling:     c.Learner.Sampling,
		Task:         d.Task,
		MaxFeatures:  maxFeatures(&c.Learner),
		BlockSize:    c.Learner.BlockSize,
		Minibatch:    c.Learner.Minibatch,
		Steps:        steps(&c.Learner),
		MaxClasses:   c.Input.MaxClasses,
		Targets:      d.Targets(),
		Lambda:       c.Learner.Lambda,
		Monitor:      c.Learner.Monitor,
		Seed:         c.Learner.Seed,
		Nu:           nu,
	}
	of.Mixture = of.Mixture || c.Learner.Mixture == "auto" && of.SuitsMixture()
	if of, err = of.WithForest(c.Learner.Forest, c.Refit.Every > 0); err != nil {
		return of, exit.Refuse(err)
	}
	return of, nil
}

// maxFeatures returns the maximum of random features, 0 if memory bounds them.
func maxFeatures(l *config.Learner) int {
	if l.Memory > 0 {
		return 0
	}
	return l.MaxFeatures
}

// steps returns the options of the steps.
func steps(l *config.Learner) learner.Steps {
	s := l.Step
	return learner.Steps{
		StepSize: s.Size, Theta: s.Theta, NewSteps: s.New, OldSteps: s.Old,
		LongestStep: s.Longest, Averaging: s.Averaging, AtCap: s.AtCap, Memory: int64(l.Memory),
	}
}
