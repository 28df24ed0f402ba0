package learner

import (
	"fmt"
	"slices"

	"github.com/accrete-ml/accrete/features"
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

// State returns a copy of all that the Learner is. A Pass that has not been
// learned is not part of it.
func (l *Learner) State() State {
	s := State{Serving: l.Serving()}
	top, lambda := 0.0, 0.0
	if l.fit != nil {
		top, lambda = l.fit.top, l.fit.lambda
	}
	a := (*arrays)(&s.Resuming)
	put(a, "counters", counterFields, []int64{l.labelled, int64(l.last.Class)})
	put(a, "totals", totalFields, []float64{l.total, l.means[0], l.last.Value, top, lambda, l.linear.rows, l.linear.solved})
	if n := l.targets(); n > 1 {
		more := slices.Clone(l.means[1:])
		put(a, "totals.more", n-1, append(more, append(l.last.More, make([]float64, n-1-len(l.last.More))...)...))
	}
	put(a, "classes", 1, l.weights)
	put(a, "pending.x", l.dim, l.pending.x)
	putLabels(a, "pending", l.pending.labels, l.targets(), l.pending.weights)
	put(a, "warmup.x", l.dim, l.warmup.x)
	putLabels(a, "warmup", l.warmup.labels, l.targets(), l.warmup.weights)
	l.linear.save(a, l.dim)
	saveRecords(a, l.records)
	l.drift.save(a)
	l.lags.save(a)
	if l.fit != nil {
		l.engine.save(a)
	}
	return s
}

// Serving returns the part of the State that it takes to predict.
func (l *Learner) Serving() []Array {
	v := serving{config: l.config, head: l.head, dim: l.dim, fit: l.fit, given: l.config.Metric, served: served{intercept: l.first}}
	if l.fit != nil {
		v.served = l.engine.serving()
	}
	var a arrays
	v.save(&a)
	return a
}

// Restore returns the Learner whose State s is, or says what is wrong with s: it
// may come from anywhere. c must be the Config that the Learner was made with.
func Restore(c Config, s State) (*Learner, error) { return restoreWith(c, s, newFit) }

func restoreWith(c Config, s State, by Fitter) (*Learner, error) {
	serving := &source{in: s.Serving}
	v := loadServing(serving)
	if err := serving.end(); err != nil {
		return nil, fmt.Errorf("learner: serving part: %w", err)
	}
	if c.Metric != nil && v.given != nil && c.Metric.hash == v.given.hash {
		c.Metric = v.given
	}
	l, err := newWith(c, by)
	if err != nil {
		return nil, err
	}
	resuming := &source{in: s.Resuming}
	l.load(resuming, v)
	if err := resuming.end(); err != nil {
		return nil, fmt.Errorf("learner: resuming part: %w", err)
	}
	l.resume()
	return l, nil
}

func (l *Learner) load(s *source, v serving) {
	c := l.config
	s.want(v.config.Width == c.Width && v.config.Seed == c.Seed, "width %d and seed %d, configured %d and %d", v.config.Width, v.config.Seed, c.Width, c.Seed)
	s.want(v.blocks <= c.options().maxBlocks(), "%d blocks of at most %d", v.blocks, c.options().maxBlocks())
	s.want(v.head.classes <= c.MaxClasses, "%d classes of at most %d", v.head.classes, c.MaxClasses)
	s.want(c.Task == Auto || v.head.task == Auto || v.head.task == c.Task, "task %v, configured %v", v.head.task, c.Task)
	s.want(v.config.targets() == c.targets(), "%d targets, configured %d", v.config.targets(), c.targets())
	suited, err := l.algorithm.lossOf(l.chosen, v.head.task)
	s.want(err == nil, "%v", err)
	want := newHead(suited, v.head.task, v.head.classes, c.targets())
	s.want(v.head.loss == want.loss, "loss %v, configured %s", v.head.loss, c.Loss)
	s.want(v.config.Sampling == c.Sampling, "sampling %s, configured %s", v.config.Sampling, c.Sampling)
	s.want(v.given == c.Metric, "metric %v, configured %v", v.given, c.Metric)
	s.want(v.config.Lags == c.Lags, "%d lags, configured %d", v.config.Lags, c.Lags)
	s.want(v.dim == 0 || c.width(c.inputs(v.dim)) == v.dim && c.inputs(v.dim) > 0, "rows of %d values with %d lags", v.dim, c.Lags)
	s.want(l.kernel == (features.Gaussian{}) || v.fit == nil || v.fit.kernel == l.kernel && v.fit.second == nil, "not the configured kernel %q", c.Kernel)
	counters := take[int64](s, "counters", 1, counterFields)
	totals := take[float64](s, "totals", 1, totalFields)
	var more []float64
	others := c.targets() - 1
	if others > 0 {
		more = take[float64](s, "totals.more", 2, others)
	}
	if s.err != nil {
		return
	}
	l.head, l.dim, l.fit = v.head, v.dim, v.fit
	l.labelled = counters[counterLabelled]
	l.last = Label{Task: l.task, Class: int(counters[counterLast]), Value: totals[totalLast]}
	l.total, l.means[0] = totals[totalWeight], totals[totalMean]
	if others > 0 {
		copy(l.means[1:], more)
		l.last.More = more[others:]
	}
	settled := l.labelled >= int64(effect(lastRung))
	s.want(l.labelled >= 0 && (l.labelled > 0) == (l.task != Auto), "%d labelled rows of task %v", l.labelled, l.task)
	s.want(l.labelled == 0 || l.dim > 0, "labelled rows of no values")
	s.want((l.fit == nil || l.labelled >= int64(effect(rungs[0]))) && (l.fit != nil || !settled), "a fit too soon or too late")
	s.want(l.last.Class >= 0 && l.last.Class <= max(0, l.classes-1), "the last class is %d", l.last.Class)
	s.want(l.total >= 0, "the total weight is %v", l.total)
	if s.err != nil {
		return
	}

	l.weights = take[float64](s, "classes", l.classes, 1)
	waiting, kept := 0, 0
	if l.fit != nil {
		waiting = int(l.labelled % int64(c.Minibatch))
	}
	if !settled {
		kept = int(l.labelled)
	}
	l.pending.x = take[float32](s, "pending.x", waiting, l.dim)
	l.pending.labels, l.pending.weights = takeLabels(s, "pending", waiting, &l.head)
	l.warmup.x = take[float64](s, "warmup.x", kept, l.dim)
	l.warmup.labels, l.warmup.weights = takeLabels(s, "warmup", kept, &l.head)
	l.loadLinear(s, totals)
	loadRecords(s, l.records)
	l.drift.load(s, l.labelled)
	l.lags.load(s, c.inputs(l.dim))
	if s.err != nil {
		return
	}
	for _, w := range l.weights {
		s.want(w >= 0, "the weight of a class is %v", w)
	}
	if l.fit == nil {
		l.first = v.intercept
		return
	}
	l.fit.top, l.fit.lambda = totals[totalTop], totals[totalLambda]
	s.want(l.fit.lambda > 0 && l.fit.lambda <= 1, "the penalty is %v", l.fit.lambda)
	s.want(l.fit.top > 0 && l.fit.top <= 2, "the largest eigenvalue is %v", l.fit.top)
	if s.err == nil {
		l.engine = l.algorithm.new(l.problem(v.intercept))
		l.engine.load(s, v.served, l.steps())
	}
}

func (l *Learner) loadLinear(s *source, totals []float64) {
	if l.fit == nil {
		loadNoLinear(s, l.dim)
		return
	}
	l.linear = newLinear(l.fit.scaler.metric, l.sums())
	l.linear.load(s, totals[totalLinearRows], totals[totalLinearSolved])
}

// resume starts again what was under way.
func (l *Learner) resume() {
	if l.fit != nil {
		l.forecast()
	}
	for _, r := range rungs {
		if int64(r) <= l.labelled && l.labelled < int64(effect(r)) && l.warmup.fits(r, l.task) {
			l.warmup.start(r, l.dim, l.asked(), l.fitter)
		}
	}
}
