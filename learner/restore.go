package learner

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/baseline"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
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

// State returns a copy of the state of the Learner, without a PredictedBatch that has not been
// learned. The names and the order of its arrays are part of the snapshot format.
func (l *Learner) State() State {
	s := State{Serving: l.Serving()}
	top, lambda := 0.0, 0.0
	if l.fit != nil {
		top, lambda = l.fit.TopEigenvalue, l.fit.Lambda
	}
	a := (*state.Arrays)(&s.Resuming)
	state.Put(a, "counters", counterFields, []int64{l.labelled, int64(l.last.Class)})
	state.Put(a, "totals", totalFields, []float64{l.total, l.means[0], l.last.Value, top, lambda, l.linear.Rows, l.linear.Solved})
	if n := l.head.Targets(); n > 1 {
		more := slices.Clone(l.means[1:])
		state.Put(a, "totals.more", n-1, append(more, append(l.last.More, make([]float64, n-1-len(l.last.More))...)...))
	}
	state.Put(a, "classes", 1, l.weights)
	state.Put(a, "pending.x", l.width(), l.pending.X)
	target.PutLabels(a, "pending", l.pending.Labels, l.head.Targets(), l.pending.Weights)
	state.Put(a, "warmup.x", l.dim, l.warmup.X)
	target.PutLabels(a, "warmup", l.warmup.Labels, l.head.Targets(), l.warmup.Weights)
	l.saveColumns(a)
	l.linear.Save(a, l.width())
	saveValidation(a, l.validation)
	l.drift.save(a)
	l.lags.save(a)
	if l.decision != nil {
		l.decision.Save(a)
	}
	if l.intervals != nil {
		l.intervals.Save(a)
	}
	if l.inputs != nil {
		l.inputs.save(a)
	}
	if l.mixture != nil {
		l.mixture.Save(a)
	}
	if l.posterior != nil {
		l.posterior.Save(a)
	}
	l.own.save(a, l.config.uncertainty())
	if l.fit != nil {
		l.engine.Save(a)
	}
	return s
}

// Serving returns the part of the State that it takes to predict.
func (l *Learner) Serving() []Array {
	v := serving{config: l.config, head: l.head, dim: l.dim, fit: l.fit, given: l.config.Metric, Served: engine.Served{Intercept: l.priorIntercept}}
	if l.fit != nil {
		v.Served = l.engine.Serving()
	}
	v.decision = l.costs
	if l.decision != nil {
		v.decision = &l.decision.Rule
	}
	if l.intervals != nil {
		v.intervals, v.uncertainty = &l.intervals.Rule, l.config.uncertainty()
	}
	if l.posterior != nil {
		v.posterior = &l.posterior.Factor
	}
	if l.config.Mixture {
		v.static = &mixture.Static{}
		if l.mixture != nil {
			v.static = &l.mixture.Static
		}
	}
	var a state.Arrays
	v.save(&a)
	return a
}

// Restore returns the Learner that had the State s, which may come from anywhere: an
// invalid State is an error. c must be the Config of that Learner.
func Restore(c Config, s State) (*Learner, error) { return restoreWith(c, s, warmup.NewFit) }

func restoreWith(c Config, s State, by warmup.Fitter) (*Learner, error) {
	serving := &state.Reader{In: s.Serving}
	v := loadServing(serving)
	if err := serving.End(); err != nil {
		return nil, fmt.Errorf("learner: serving part: %w", err)
	}
	if c.Metric != nil && v.given != nil && c.Metric.hash == v.given.hash {
		c.Metric = v.given
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
func (l *Learner) compare(s *state.Reader, v serving) {
	c := l.config
	s.Require(v.config.BlockSize == c.BlockSize && v.config.Seed == c.Seed, "block size is %d and seed %d, configured are %d and %d", v.config.BlockSize, v.config.Seed, c.BlockSize, c.Seed)
	s.Require(v.kept == nil, "the model is pruned: it predicts and does not learn")
	s.Require(v.Blocks <= c.options().MaxBlocks(), "%d blocks, want at most %d", v.Blocks, c.options().MaxBlocks())
	s.Require(v.head.Classes <= c.MaxClasses, "%d classes, want at most %d", v.head.Classes, c.MaxClasses)
	s.Require(c.Task == Auto || v.head.Task == Auto || v.head.Task == c.Task, "task is %v, configured is %v", v.head.Task, c.Task)
	s.Require(v.config.targets() == c.targets(), "%d targets, configured %d", v.config.targets(), c.targets())
	suited, err := l.algorithm.LossOf(l.chosen, v.head.Task)
	s.Require(err == nil, "%v", err)
	want := target.NewHead(suited, v.head.Task, v.head.Classes, c.targets())
	s.Require(v.head.Loss == want.Loss, "loss is %v, configured is %s", v.head.Loss, c.Loss)
	s.Require(v.config.Sampling == c.Sampling, "sampling is %s, configured is %s", v.config.Sampling, c.Sampling)
	s.Require(v.given == c.Metric, "metric is %v, configured is %v", v.given, c.Metric)
	s.Require(v.Forest == nil || c.Forest > 0, "the model has a forest, configured is none")
	s.Require(v.config.Lags == c.Lags, "%d lags, configured %d", v.config.Lags, c.Lags)
	s.Require(v.dim == 0 || c.rowSize(c.inputs(v.dim)) == v.dim && c.inputs(v.dim) > 0, "rows of %d values do not match %d lags", v.dim, c.Lags)
	s.Require(v.fit == nil || warmup.SameFamily(l.kernel, v.fit.Kernel) && (v.fit.Second == nil || !warmup.HasScale(l.kernel)), "the kernel is not of the configured family %q", c.Kernel)
	s.Require((v.decision != nil) == (c.Costs != "") && (v.decision == nil || v.decision.Is(l.costs)), "the model has a decision rule: %v, configured are costs %q", v.decision != nil, c.Costs)
	s.Require((v.static != nil) == c.Mixture, "the model has a mixture: %v, configured: %v", v.static != nil, c.Mixture)
	s.Require((v.uncertainty.Coverage != 0) == (c.Intervals != 0), "the model has intervals: %v, configured is a coverage of %v", v.uncertainty.Coverage != 0, c.Intervals)
	s.Require(v.uncertainty.Variance == c.Variance, "the model has variances: %v, configured: %v", v.uncertainty.Variance, c.Variance)
}

func (l *Learner) load(s *state.Reader, v serving) {
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
	l.head, l.dim, l.fit = v.head, v.dim, v.fit
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
	loadValidation(s, l.validation)
	l.drift.load(s, l.labelled)
	l.lags.load(s, c.inputs(l.dim))
	if l.decision != nil {
		l.decision.Load(s, *v.decision)
	}
	if l.intervals != nil {
		l.intervals.Load(s, *v.intervals)
	}
	if l.inputs != nil {
		l.inputs = loadInputs(s, c.Monitor, c.inputs(l.dim))
	}
	if v.static != nil {
		l.loadMixed(s, *v.static)
	}
	if c.Variance && l.fit != nil {
		l.loadPosterior(s, totals[totalLambda], v.posterior)
	}
	l.own.load(s, c.targets())
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
	l.linear = baseline.NewLinear(l.fit.Scaler.ColumnWeights, l.head.Scores())
	l.linear.Load(s, totals[totalLinearRows], totals[totalLinearSolved])
}

// resume starts again what was under way.
func (l *Learner) resume() {
	if l.fit != nil {
		l.scorePending()
	}
	for _, r := range warmup.Checkpoints {
		if int64(r) <= l.labelled && l.labelled < int64(warmup.EffectiveAt(r)) && l.warmup.Fits(r, l.head.Task) {
			l.warmup.Start(r, l.dim, l.fitRequest(), l.fitter)
		}
	}
}
