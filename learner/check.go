package learner

import (
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/divergence"
	"github.com/accrete-ml/accrete/learner/internal/decide"
	"github.com/accrete-ml/accrete/learner/internal/descent"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/lags"
	"github.com/accrete-ml/accrete/learner/internal/newton"
	"github.com/accrete-ml/accrete/learner/internal/oneclass"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

const (
	maxTrees = 4096 // of Config.Forest
	maxFolds = 100  // of Config.Folds
)

// validate returns an error if c, which is effective, is invalid.
func (c Config) validate() error {
	a, err := parseAlgorithm(c.Algorithm)
	if err != nil {
		return err
	}
	if _, err := engine.ParseReaction(c.OnDrift); err != nil {
		return err
	}
	if _, err := descent.NewDirection(c.Direction); err != nil {
		return err
	}
	if err := c.checkSteps(a); err != nil {
		return err
	}
	if err := c.checkKernel(); err != nil {
		return err
	}
	switch l, err := parseLoss(c.Loss); {
	case c.Task < Auto || c.Task > Novelty:
		return fmt.Errorf("task is %d: want 0 to 3", c.Task)
	case err != nil:
		return err
	case lossError(a, l, c.Task) != nil:
		return lossError(a, l, c.Task)
	case l != nil && c.Task != target.TaskOf(l):
		return fmt.Errorf("loss %s is for %v, but the task is %v", l, target.TaskOf(l), c.Task)
	case c.noveltyError(a) != nil:
		return c.noveltyError(a)
	case !warmup.Version(c.Warmup).Valid():
		return fmt.Errorf("warmup is %d: want 0, or %d to %d", c.Warmup, warmup.Second, NewestWarmup)
	case c.Folds != 0 && (c.Folds < 2 || c.Folds > maxFolds):
		return fmt.Errorf("folds is %d: want 0 (none), or 2 to %d", c.Folds, maxFolds)
	case c.Costs != "" && c.Costs != costsF1 && costsError(c.Costs) != nil:
		return costsError(c.Costs)
	case c.Costs != "" && c.Task != Classification:
		return fmt.Errorf("costs %s are for classification, but the task is %v", c.Costs, c.Task)
	case c.Intervals != 0 && !(c.Intervals >= 0.5 && c.Intervals <= 0.999):
		return fmt.Errorf("intervals is %v: want 0 (none), or 0.5 to 0.999", c.Intervals)
	case c.Intervals != 0 && c.Task != Regression:
		return fmt.Errorf("intervals are for regression, but the task is %v", c.Task)
	case c.Variance && c.Task != Regression:
		return fmt.Errorf("variances are for regression, but the task is %v", c.Task)
	case c.Monitor != 0 && (c.Monitor < divergence.MinBlockRows || c.Monitor > divergence.MaxBlockRows):
		return fmt.Errorf("monitor is %d: want 0 (none), or %d to %d rows", c.Monitor, divergence.MinBlockRows, divergence.MaxBlockRows)
	case (c.Balance != "" || c.HalfLife != 0) && c.weighingError(a) != nil:
		return c.weighingError(a)
	case c.Mixture && c.mixtureError() != nil:
		return c.mixtureError()
	case c.Sparse != 0 && c.sparseError() != nil:
		return c.sparseError()
	}
	return c.checkSizes(a)
}

// checkSizes returns an error if a number is out of its range, or excludes another option.
func (c Config) checkSizes(a *engine.Algorithm) error {
	switch {
	case c.Targets < 0 || c.Targets > MaxTargets:
		return fmt.Errorf("targets is %d: want 1 to %d", c.Targets, MaxTargets)
	case c.Targets > 1 && c.Task != Regression:
		return fmt.Errorf("%d targets need task regression, but the task is %v", c.Targets, c.Task)
	case c.BlockSize < 1 || c.BlockSize > 1<<16:
		return fmt.Errorf("block_size is %d: want 1 to 65536", c.BlockSize)
	case c.MaxFeatures < c.BlockSize || c.MaxFeatures > mostFeatures:
		return fmt.Errorf("max_features is %d: want %d (one block) to 16777216", c.MaxFeatures, c.BlockSize)
	case c.Memory > 0 && c.MaxFeatures != mostFeatures:
		return errors.New("memory and max_features exclude each other: memory bounds the features instead")
	case c.Minibatch < 1 || c.Minibatch > 1<<16:
		return fmt.Errorf("minibatch is %d: want 1 to 65536", c.Minibatch)
	case c.MaxClasses < 2 || c.MaxClasses > 1<<16:
		return fmt.Errorf("max_classes is %d: want 2 to 65536", c.MaxClasses)
	case c.Lags > 0 && c.Metric != nil:
		return errors.New("metric and lags exclude each other: lags add inputs of other rows, which a metric does not cover")
	case c.Above() != 0 && (c.Metric != nil || c.Lags > 0):
		return fmt.Errorf("kernel %s requires inputs %s: it excludes metric and lags", c.Kernel, kernel.Domain(c.Above()))
	case c.Forest < 0 || c.Forest > maxTrees:
		return fmt.Errorf("forest is %d: want 0 (none) to %d trees", c.Forest, maxTrees)
	case c.ForestTrial && c.Forest == 0:
		return errors.New("a trial of a forest needs trees")
	case c.ForestPairs && !c.ForestTrial:
		return errors.New("trees of pairs are for a forest on trial")
	case c.ForestRegrow && !c.ForestTrial:
		return errors.New("trees that grow again are for a forest on trial")
	case c.ForestLasting && !c.ForestTrial:
		return errors.New("lasting coefficients of leaves are for a forest on trial")
	case c.Forest > 0 && !a.Forest:
		return fmt.Errorf("forest %d: trees are for the algorithm newton, not for %s", c.Forest, a.Name)
	case c.Effort < AutoEffort || c.Effort > MaxEffort:
		return fmt.Errorf("effort is %d: want 1 to %d, or %d to choose it by the first rows", c.Effort, MaxEffort, AutoEffort)
	case c.Effort != 0 && a.Effort == 0:
		return fmt.Errorf("effort is for the algorithm newton, not for %s", a.Name)
	case c.Lags < 0 || c.Lags > lags.Max:
		return fmt.Errorf("lags is %d: want 0 to %d", c.Lags, lags.Max)
	case !(c.Lambda > 0 || c.Lambda == 0 && a.Penalised()) || c.Lambda > 1:
		return fmt.Errorf("lambda is %v: want more than 0 and at most 1", c.Lambda)
	}
	return nil
}

// checkKernel returns an error if the sampling cannot draw from the kernel.
func (c Config) checkKernel() error {
	k, err := kernel.Parse(c.Kernel)
	if err != nil {
		return err
	}
	sampling, err := features.ParseSampling(c.Sampling)
	if err != nil {
		return err
	}
	return sampling.CheckKernel(k)
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
		{"longest_step", c.LongestStep != 0}, {"averaging", c.Averaging != ""}, {"at_cap", c.AtCap != ""}, {"memory", c.Memory != 0},
	} {
		if o.set {
			return fmt.Errorf("%s is for the algorithms of stochastic descent (dsg, udsg, cdsg, all), not for %s", o.name, a.Name)
		}
	}
	return nil
}

// noveltyError returns an error if c, of algorithm a, has the task Novelty and something that does
// not suit it, or has another task and something that is for Novelty alone.
func (c Config) noveltyError(a *engine.Algorithm) error {
	novelty := c.Task == Novelty
	switch {
	case novelty != (a.Name == oneclass.Algorithm.Name):
		return fmt.Errorf("algorithm %s is not for task %v: leave one of them out", c.Algorithm, c.Task)
	case novelty && !(c.Nu >= loss.MinNu && c.Nu <= loss.MaxNu):
		return fmt.Errorf("nu is %v: want %v to %v", c.Nu, loss.MinNu, loss.MaxNu)
	case !novelty && c.Nu != 0:
		return fmt.Errorf("nu %v is for task novelty, but the task is %v", c.Nu, c.Task)
	case novelty && c.Lags > 0:
		return errors.New("lags are inputs of earlier labels, which task novelty does not have")
	}
	return nil
}

// SuitsMixture reports whether c gets a mixture by default, in a host that chooses one: if c has
// the default algorithm and a loss that a mixture supports, and its effort is not far below that of
// the members of a mixture, or its rows have a sparse part.
func (c Config) SuitsMixture() bool {
	c.Mixture = true
	e, err := c.Effective()
	return err == nil && e.Algorithm == algorithms[0].Name && (e.Sparse > 0 || !e.quick())
}

// WithForest returns c with the forest that a host names for it, as ParseForest reads it. With
// "auto" it is a forest on trial if c has a mixture, no sparse inputs and the full effort of the
// algorithm, and the model has no refits, which a forest excludes. Otherwise there is no forest.
func (c Config) WithForest(name string, refits bool) (Config, error) {
	trees, trial, err := ParseForest(name)
	if err != nil {
		return c, err
	}
	c.Forest, c.ForestTrial, c.ForestPairs, c.ForestRegrow, c.ForestLasting = trees, trial, trial, trial, trial
	if trial && (refits || !c.suitsForest()) {
		c.Forest, c.ForestTrial, c.ForestPairs, c.ForestRegrow, c.ForestLasting = 0, false, false, false, false
	}
	return c, nil
}

// suitsForest reports whether c is suited to a forest on trial.
func (c Config) suitsForest() bool {
	e, err := c.Effective()
	return err == nil && e.Mixture && e.Sparse == 0 && e.effort() >= newton.FullEffort
}

// mixtureError returns an error if c, whose task and loss are effective, cannot have a mixture.
func (c Config) mixtureError() error {
	l, err := parseLoss(c.Loss)
	switch {
	case err != nil:
		return err
	case c.Task == Novelty:
		return errors.New("a mixture weighs its members by labels, which task novelty does not have")
	case l != nil && l != loss.Loss(loss.Logistic{}) && l != loss.Loss(loss.Softmax{}) && l != loss.Loss(loss.Square{}):
		return fmt.Errorf("a mixture is for the losses logistic, softmax and square, not for %s", l)
	case c.Algorithm == "ridge" && c.Task != Regression:
		return errors.New("a mixture is of probabilities, which ridge does not predict: use another algorithm")
	}
	return nil
}

// sparseError returns what is wrong with c, which has a sparse part.
func (c Config) sparseError() error {
	switch {
	case c.Sparse < LeastSparse || c.Sparse > MostSparse:
		return fmt.Errorf("sparse is %d: want 0 (none), or %d to %d bits", c.Sparse, LeastSparse, MostSparse)
	case c.Lags > 0:
		return errors.New("sparse inputs and lags exclude each other")
	case c.Metric != nil:
		return errors.New("sparse inputs and a metric exclude each other: the metric is of columns with names")
	case !c.Mixture:
		if err := c.mixtureError(); err != nil {
			return fmt.Errorf("sparse inputs are for a member of a mixture: %w", err)
		}
		return errors.New("sparse inputs are for a member of a mixture: switch the mixture on")
	}
	return nil
}

func costsError(text string) error {
	_, err := decide.ParseCosts(text)
	return err
}

func lossError(a *engine.Algorithm, chosen loss.Loss, task Task) error {
	_, err := a.LossOf(chosen, task)
	return err
}
