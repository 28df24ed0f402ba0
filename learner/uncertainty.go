package learner

import (
	"cmp"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/posterior"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// forgetPosterior is the factor of the weight that the rows so far have in the variances after a
// reaction to drift. Chosen by trial, see docs/constants.md.
const forgetPosterior = 0.01

// startPosterior starts the variances again, with the fit in effect.
func (l *Learner) startPosterior(prior []float64) {
	if !l.config.Variance {
		return
	}
	l.posterior = posterior.NewTracker(l.problem(prior), l.config.fixedFeatures(l.algorithm))
}

// fixedFeatures returns the number of random features that a model has from the start, and
// 0 if it grows.
func (c Config) fixedFeatures(a *engine.Algorithm) int {
	if a.FixedBlocks == nil {
		return 0
	}
	return a.FixedBlocks(c.options()) * c.BlockSize
}

// loadPosterior reads the variances of a learner that has a fit with this penalty.
func (l *Learner) loadPosterior(s *state.Reader, penalty float64, f *posterior.Factor) {
	p := l.problem(nil)
	fit := *l.fit
	fit.Lambda, p.Fit = penalty, &fit
	if s.Require(penalty > 0 && penalty <= 1, "the penalty is %v", penalty); s.Err != nil {
		return
	}
	l.posterior = posterior.NewTracker(p, l.config.fixedFeatures(l.algorithm))
	l.posterior.Load(s, f)
}

// VarianceBytes returns the memory that a Learner of c needs for variances beside its State,
// in bytes.
func (c Config) VarianceBytes() int {
	if !c.Variance {
		return 0
	}
	return posterior.Bytes
}

// Conformal learns the width of intervals that contain a given share of the labels, for
// any distribution, which may change. Radius, in standard deviations of the prediction,
// rises after a label outside and falls after one inside, so that on any stream the
// share of labels outside tends to 1 - Coverage (Gibbs and Candès 2021, as the quantile
// tracker of Angelopoulos, Candès and Tibshirani 2023). The zero value is ready, with
// intervals of width 0. It is for one goroutine.
type Conformal struct {
	Coverage float64 // share of the labels inside; 0 selects 0.9
	Radius   float64 // of the interval: predictions ± Radius standard deviations
}

// conformalRate is the largest change of Radius for one row. Chosen by trial, see
// docs/constants.md.
const conformalRate = 0.05

// Add learns the distance of a label from its prediction, in standard deviations.
func (c *Conformal) Add(score float64) {
	step := cmp.Or(c.Coverage, 0.9) // outside
	if score <= c.Radius {
		step--
	}
	c.Radius = max(0, c.Radius+float64(conformalRate*step))
}
