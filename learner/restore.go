package learner

import (
	"fmt"

	"github.com/accrete-ml/accrete/learner/internal/baseline"
	"github.com/accrete-ml/accrete/learner/internal/interval"
	"github.com/accrete-ml/accrete/learner/internal/serving"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/validation"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// counterFields are the columns of the array "counters".
const (
	counterLabelled = iota
	counterLast     // class of the last label
	counterFields
)

// totalFields are the columns of the array "totals".
const (
	totalWeight = iota
	totalMean
	totalLast // value of the last label
	totalTop
	totalLambda
	totalLinearRows
	totalLinearSolved
	totalFields
)

// Restore returns the Learner that had the State s, which may come from anywhere: an
// invalid State is an error. c must be the Config of that Learner.
func Restore(c Config, s State) (*Learner, error) { return restoreWith(c, s, warmup.NewFit) }

func restoreWith(c Config, s State, by warmup.Fitter) (*Learner, error) {
	s, err := s.open()
	if err != nil {
		return nil, fmt.Errorf("learner: resuming part: %w", err)
	}
	from := &state.Reader{In: s.Serving}
	v := serving.Load(from)
	if err := from.End(); err != nil {
		return nil, fmt.Errorf("learner: serving part: %w", err)
	}
	if c.Metric.SameFile(v.Metric) {
		c.Metric = v.Metric
	}
	l, err := newWith(c, by)
	if err != nil {
		return nil, err
	}
	resuming := &state.Reader{In: s.Resuming}
	l.load(resuming, v)
	if err := resuming.End(); err != nil {
		return nil, fmt.Errorf("learner: resuming part: %w", err)
	}
	l.resume()
	return l, nil
}

// compare requires that the state is one of the configured model.
func (l *Learner) compare(s *state.Reader, v serving.Part) {
	c := l.config
	s.Require(v.BlockSize == c.BlockSize && v.Seed == c.Seed, "block size is %d and seed %d, configured are %d and %d", v.BlockSize, v.Seed, c.BlockSize, c.Seed)
	s.Require(v.Kept == nil, "the model is pruned: it predicts and does not learn")
	s.Require(v.Blocks <= c.options().MaxBlocks(), "%d blocks, want at most %d", v.Blocks, c.options().MaxBlocks())
	s.Require(v.Head.Classes <= c.MaxClasses, "%d classes, want at most %d", v.Head.Classes, c.MaxClasses)
	s.Require(c.Task == Auto || v.Head.Task == Auto || v.Head.Task == c.Task, "task is %v, configured is %v", v.Head.Task, c.Task)
	s.Require(max(1, v.Targets) == c.targets(), "%d targets, configured %d", max(1, v.Targets), c.targets())
	suited, err := l.algorithm.LossOf(l.chosen, v.Head.Task)
	s.Require(err == nil, "%v", err)
	want := target.NewHead(suited, v.Head.Task, v.Head.Classes, c.targets())
	s.Require(v.Head.Loss == want.Loss, "loss is %v, configured is %s", v.Head.Loss, c.Loss)
	s.Require(v.Sampling == c.sampling(), "sampling is %s, configured is %s", v.Sampling, c.Sampling)
	s.Require(v.Metric == c.Metric, "metric is %v, configured is %v", v.Metric, c.Metric)
	s.Require(v.Forest == nil || c.Forest > 0, "the model has a forest, configured is none")
	s.Require(v.Lags == c.Lags, "%d lags, configured %d", v.Lags, c.Lags)
	s.Require(v.Dim == 0 || c.rowSize(c.inputs(v.Dim)) == v.Dim && c.inputs(v.Dim) > 0, "rows of %d values do not match %d lags", v.Dim, c.Lags)
	s.Require(v.Fit == nil || warmup.SameFamily(l.kernel, v.Fit.Kernel) && (v.Fit.Second == nil || !warmup.HasScale(l.kernel)), "the kernel is not of the configured family %q", c.Kernel)
	s.Require((v.Decision != nil) == (c.Costs != "") && (v.Decision == nil || v.Decision.Is(l.rules.Costs())), "the model has a decision rule: %v, configured are costs %q", v.Decision != nil, c.Costs)
	s.Require((v.Mixture != nil) == c.Mixture, "the model has a mixture: %v, configured: %v", v.Mixture != nil, c.Mixture)
	s.Require(v.Mixture == nil || v.Mixture.Sparse == nil || c.Sparse > 0 && len(v.Mixture.SparseCoef) == v.Head.Scores()<<c.Sparse, "the sparse part of the model does not match the configured %d bits", c.Sparse)
	var has interval.Kind
	if v.Intervals != nil {
		has = v.Intervals.Kind()
	}
	s.Require((has.Coverage != 0) == (c.Intervals != 0), "the model has intervals: %v, configured is a coverage of %v", has.Coverage != 0, c.Intervals)
	s.Require(has.Variance == c.Variance, "the model has variances: %v, configured: %v", has.Variance, c.Variance)
}

func (l *Learner) load(s *state.Reader, v serving.Part) {
	c := l.config
	l.compare(s, v)
	counters := state.Take[int64](s, "counters", 1, counterFields)
	totals := state.Take[float64](s, "totals", 1, totalFields)
	var more []float64
	others := c.targets() - 1
	if others > 0 {
		more = state.Take[float64](s, "totals.more", 2, others)
	}
	if s.Err != nil {
		return
	}
	l.head, l.dim, l.fit, l.windows = v.Head, v.Dim, v.Fit, v.Windows
	l.labelled = counters[counterLabelled]
	l.last = Label{Task: l.head.Task, Class: int(counters[counterLast]), Value: totals[totalLast]}
	l.total, l.means[0] = totals[totalWeight], totals[totalMean]
	if others > 0 {
		copy(l.means[1:], more)
		l.last.More = more[others:]
	}
	settled := l.labelled >= int64(warmup.EffectiveAt(warmup.LastCheckpoint))
	s.Require(l.labelled >= 0 && (l.labelled > 0) == (l.head.Task != Auto), "%d labelled rows with task %v", l.labelled, l.head.Task)
	s.Require(l.labelled == 0 || l.dim > 0, "labelled rows without values")
	s.Require((l.fit == nil || l.labelled >= int64(warmup.EffectiveAt(warmup.Checkpoints[0]))) && (l.fit != nil || !settled), "the result of the warm-up does not match the number of labelled rows")
	s.Require(l.last.Class >= 0 && l.last.Class <= max(0, l.head.Classes-1), "the last class is %d", l.last.Class)
	s.Require(l.total >= 0, "the total weight is %v", l.total)
	if s.Err != nil {
		return
	}

	l.weights = state.Take[float64](s, "classes", l.head.Classes, 1)
	l.weighing.Load(s, l.labelled, l.head.Classes)
	waiting, kept := 0, 0
	if l.fit != nil {
		waiting = int(l.labelled % int64(l.minibatchAt(l.labelled)))
	}
	if !settled {
		kept = int(l.labelled)
	}
	l.pending.X = state.Take[float32](s, "pending.x", waiting, l.width())
	l.pending.Labels, l.pending.Weights = target.TakeLabels(s, "pending", waiting, &l.head)
	l.warmup.X = state.TakeRaw(s, "warmup.x", kept, l.dim)
	l.warmup.Labels, l.warmup.Weights = target.TakeLabels(s, "warmup", kept, &l.head)
	l.loadColumns(s, waiting)
	l.loadLinear(s, totals)
	validation.Load(s, l.validation)
	l.drift.Load(s, l.examples())
	l.lags.Load(s, c.inputs(l.dim))
	l.rules.Load(s, v.Decision, v.Intervals)
	if l.inputs != nil {
		l.inputs.Load(s, c.inputs(l.dim))
	}
	if v.Mixture != nil {
		l.loadMixed(s, *v.Mixture)
	}
	if c.Variance && l.fit != nil {
		l.loadPosterior(s, totals[totalLambda], v.Posterior)
	}
	l.rules.LoadOwn(s, c.targets())
	if s.Err != nil {
		return
	}
	for _, w := range l.weights {
		s.Require(w >= 0, "the weight of a class is %v", w)
	}
	if l.fit == nil {
		l.priorIntercept = v.Intercept
		return
	}
	l.fit.TopEigenvalue, l.fit.Lambda = totals[totalTop], totals[totalLambda]
	s.Require(l.fit.Lambda > 0 && l.fit.Lambda <= 1, "the penalty is %v", l.fit.Lambda)
	s.Require(l.fit.TopEigenvalue > 0 && l.fit.TopEigenvalue <= 2, "the largest eigenvalue is %v", l.fit.TopEigenvalue)
	if s.Err == nil {
		l.engine = l.algorithm.New(l.problem(v.Intercept))
		l.engine.Load(s, v.Served, l.labelled/int64(l.minibatchAt(l.labelled)))
	}
}

func (l *Learner) loadLinear(s *state.Reader, totals []float64) {
	if l.fit == nil {
		baseline.LoadNone(s, l.dim)
		return
	}
	l.linear = baseline.NewLinear(l.fit.Scaler.ColumnWeights, l.linearScores())
	l.linear.Load(s, totals[totalLinearRows], totals[totalLinearSolved])
}

// resume scores the pending rows again, and restarts the fit of the warm-up that was in progress.
func (l *Learner) resume() {
	if l.fit != nil {
		l.scorePending()
	}
	for _, r := range l.checkpoints() {
		if int64(r) <= l.labelled && l.labelled < int64(warmup.EffectiveAt(r)) && l.warmup.Fits(r, l.head.Task) {
			l.warmup.Start(r, l.dim, l.fitRequest(), l.fitter)
		}
	}
}
