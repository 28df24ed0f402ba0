package learner

import (
	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/baseline"
	"github.com/accrete-ml/accrete/learner/internal/drift"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/posterior"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// forgetPosterior is the factor of the weight that the rows so far have in the variances after a
// reaction to drift. Chosen by trial, see docs/constants.md.
const forgetPosterior = 0.01

// adopt starts the model again with a fit, and has it learn the rows so far, in their
// order. They do not count for the progressive validation again.
func (l *Learner) adopt(f warmup.Fit) {
	l.team.Wait()
	l.warmup.Result = nil
	f.Encoding = f.Encoding.Start()
	f.Encoding.Settle(l.warmup.Columns)
	l.fit = &f
	l.head.Standardize(f.Scales)
	prior := l.startIntercepts()
	p := l.problem(prior)
	p.Before = l.engine
	l.engine = l.algorithm.New(p)
	l.startPosterior(prior)
	l.linear = baseline.NewLinear(f.Scaler.ColumnWeights, l.linearScores())
	l.pending.Clear()
	x, d, m := l.encodeRows(), l.width(), l.minibatchAt(l.labelled)
	if l.early = nil; l.mixture != nil {
		l.team.Go(func() { l.startMixed(x) })
	}
	for i, y := range l.warmup.Labels {
		l.pending.X = state.Extend(l.pending.X, d)
		f.Scaler.Apply(l.pending.X[i%m*d:], x[i*d:(i+1)*d])
		l.pending.Labels = append(l.pending.Labels, y)
		l.pending.Weights = append(l.pending.Weights, l.warmup.Weights[i])
		if len(l.pending.Labels) == m {
			l.scorePending()
			l.pending.Again, l.pending.More = true, i+1+m <= len(l.warmup.Labels)
			l.fitPending()
		}
	}
	l.team.Wait()
	l.scorePending()
}

// rescale starts the model again with other scales of the targets if labels have grown far beyond
// the scales of the warm-up.
func (l *Learner) rescale() {
	if l.fit == nil || l.warming() {
		return
	}
	scales := l.mixture.Grown(&l.head)
	if scales == nil {
		return
	}
	fit := *l.fit
	fit.Scales = scales
	l.fit = &fit
	l.head.Standardize(scales)
	l.engine = l.algorithm.New(l.problem(make([]float64, l.head.Scores())))
	l.linear = baseline.NewLinear(fit.Scaler.ColumnWeights, l.linearScores())
	l.mixture.Rescale(&l.head)
	l.scorePending()
}

// minibatchAt returns the number of rows of the mini-batch that ends at labelled row n or soon
// after it. An algorithm with large mini-batches has smaller ones at first: they are halved until
// they have no more rows than there were when the latest fit took effect.
func (l *Learner) minibatchAt(n int64) int {
	m, at := l.config.Minibatch, max(warmup.LatestEffect(n, l.checkpoints()), warmup.EffectiveAt(warmup.Checkpoints[0]))
	for l.algorithm.SmallerEarly && m > at {
		m = (m + 1) / 2
	}
	return m
}

// fitPending has the engine and the linear baseline learn the pending rows.
func (l *Learner) fitPending() {
	if p := &l.pending; l.head.Task != Novelty {
		l.linear.Learn(&l.head, p.X, p.Labels, p.Weights)
	}
	if l.drift.Due {
		l.React()
	}
	if l.posterior != nil {
		l.posterior.Learn(l.pending.X, l.pending.Weights)
	}
	l.engine.Learn(&l.pending)
	l.pending.Clear()
}

// Drift is a set of detectors that have raised an alarm because the progressive loss
// has grown: a bit for each, DriftADWIN and DriftPageHinkley.
type Drift = drift.Drift

// The detectors of drift.
const (
	DriftADWIN       = drift.ByADWIN       // Bifet and Gavaldà 2007
	DriftPageHinkley = drift.ByPageHinkley // Page 1954
)

// Drifts are how often the detectors have raised an alarm so far, in the fields ADWIN and
// PageHinkley, which are of type int64.
type Drifts = drift.Drifts

// React applies the configured reaction to drift.
func (l *Learner) React() {
	l.drift.Due = false
	if l.reaction == engine.ReactNone {
		return
	}
	if e, ok := l.engine.(engine.Reactor); ok && l.reaction != engine.ReactReset {
		e.React(l.reaction)
	} else {
		l.engine = l.algorithm.New(l.problem(l.startIntercepts()))
	}
	if l.posterior != nil {
		l.posterior.Forget(forgetPosterior)
	}
	l.scorePending() // the pending rows are learned next
}

// linearScores returns the number of scores of the linear baseline.
func (l *Learner) linearScores() int {
	if l.head.Task == Regression {
		return l.head.Targets()
	}
	return l.head.Scores()
}

// checkpoints returns the numbers of rows at which the warm-up has fits.
func (l *Learner) checkpoints() []int {
	return warmup.CheckpointsOf(warmup.Version(l.config.Warmup), l.config.quick())
}

func (l *Learner) fitRequest() warmup.Request {
	a := warmup.Request{
		Version:  warmup.Version(l.config.Warmup),
		Quick:    l.config.quick(),
		Robust:   l.config.Mixture,
		Task:     l.head.Task,
		Kernel:   l.kernel,
		Folds:    l.config.Folds,
		Scores:   l.config.NormalScores,
		Scaled:   l.config.Metric != nil,
		Single:   !features.AllowsSecond(l.kernel, l.config.sampling()),
		Leverage: l.config.sampling() == features.Leveraged,
	}
	a.Trees = l.config.Forest > 0
	if o := l.config.options(); l.algorithm.FixedBlocks != nil {
		a.Fixed = warmup.FixedFeatures{Map: o.FeatureMap(l.dim), Blocks: l.algorithm.FixedBlocks(o)}
		a.Single = true
	}
	return a
}

// warming reports whether the warm-up still needs the rows.
func (l *Learner) warming() bool {
	return l.labelled <= int64(warmup.EffectiveAt(warmup.LastCheckpoint))
}

// advance does what is due after a labelled row.
func (l *Learner) advance() {
	switch {
	case l.warmup.Result != nil && warmup.TakesEffect(l.labelled):
		l.adopt(<-l.warmup.Result)
	case len(l.pending.Labels) == l.minibatchAt(l.labelled):
		l.step()
	}
	for _, r := range l.checkpoints() {
		if int64(r) == l.labelled && l.warmup.Fits(r, l.head.Task) {
			l.warmup.Start(r, l.dim, l.fitRequest(), l.fitter)
		}
	}
	if l.labelled == int64(warmup.EffectiveAt(warmup.LastCheckpoint)) {
		l.warmup = warmup.Buffer{}
		if l.mixture != nil {
			l.mixture.EndWarmup()
		}
	}
}

// startPosterior starts the variances again, with the fit in effect.
func (l *Learner) startPosterior(prior []float64) {
	if !l.config.Variance {
		return
	}
	l.posterior = posterior.NewTracker(l.problem(prior), l.config.fixedFeatures(l.algorithm))
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
