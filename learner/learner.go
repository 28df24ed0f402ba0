package learner

import (
	"fmt"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/cores"
	"github.com/accrete-ml/accrete/learner/divergence"
	"github.com/accrete-ml/accrete/learner/internal/baseline"
	"github.com/accrete-ml/accrete/learner/internal/decide"
	"github.com/accrete-ml/accrete/learner/internal/drift"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/lags"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/posterior"
	"github.com/accrete-ml/accrete/learner/internal/rules"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/validation"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/internal/weighing"
	"github.com/accrete-ml/accrete/learner/internal/windows"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Learner is a model that learns. It is for one goroutine.
type Learner struct {
	config    Config // effective
	algorithm *engine.Algorithm
	kernel    kernel.Kernel // as configured
	reaction  engine.Reaction
	chosen    loss.Loss // as configured; nil for the one that suits the task

	head           target.Head
	dim            int           // values of a raw row, with lags; 0 before the first row
	fit            *warmup.Fit   // in effect; nil before the first
	engine         engine.Engine // nil before the first fit
	priorIntercept []float64     // intercepts of the model before the first fit

	labelled int64
	weights  []float64 // of each class, all rows together
	means    []float64 // of the targets of a regression so far
	total    float64   // weight of all rows
	last     Label

	warmup     warmup.Buffer
	fitter     warmup.Fitter
	pending    engine.Minibatch
	raw        []float64 // the pending rows as they were; empty without an encoding
	linear     baseline.Linear
	validation []validation.Stream // of each target; of classes, one
	drift      drift.Detectors
	lags       lags.Lags
	rules      rules.Rules
	weighing   weighing.Rules     // of the rows so far
	ahead      weighing.Rules     // of the rows of the pass as well
	posterior  *posterior.Tracker // nil without Config.Variance, and before the first fit
	inputs     *divergence.Watch  // nil without Config.Monitor
	unwatched  bool               // inputs has yet to see the pass that is being learned
	meanwhile  func()             // of LearnWhile, until it is called
	mixture    *mixture.Mixture   // nil without Config.Mixture, and before the first label
	early      *warmup.Scaler     // of the mixture's members before the first fit
	machines   *features.Bank     // random features of the kernel machines in the mixture, with the fit machinesOf
	machinesOf *warmup.Fit
	windows    *windows.Windows // nil before the first row that has windows
	finished   bool             // see Finish

	pass    PredictedBatch
	team    cores.Team
	scratch scratch
}

// scratch is memory that steps reuse.
type scratch struct {
	linear []float64 // of the linear baseline
	points []float64 // predicted numbers of a row
}

// New returns a Learner without any rows.
func New(c Config) (*Learner, error) { return newWith(c, warmup.NewFit) }

func newWith(c Config, by warmup.Fitter) (*Learner, error) {
	c, err := c.Effective()
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	algorithm, err := parseAlgorithm(c.Algorithm)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	k, err := kernel.Parse(c.Kernel)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	reaction, err := engine.ParseReaction(c.OnDrift)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	chosen, err := c.loss()
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	if c.Metric != nil && !c.Metric.Whole() {
		return nil, fmt.Errorf("learner: metric %v: only its hash is known: set Config.Metric to the metric itself", c.Metric)
	}
	n := c.targets()
	of := rules.Options{F1: c.Costs == costsF1, Uncertainty: c.uncertainty(), Targets: n, Mixture: c.Mixture}
	if c.Costs != "" && !of.F1 {
		if of.Costs, err = decide.ParseCosts(c.Costs); err != nil {
			return nil, fmt.Errorf("learner: %w", err)
		}
	}
	var watch *divergence.Watch
	if c.Monitor != 0 {
		watch = divergence.NewWatch(c.Monitor, warmup.Version(c.Warmup) < warmup.Thirteenth)
	}
	return &Learner{
		inputs: watch, rules: rules.New(of), weighing: weighing.New(c.shares(), c.HalfLife, c.Seed),
		config: c, fitter: by, algorithm: algorithm,
		kernel: k, chosen: chosen, reaction: reaction,
		lags: lags.New(c.Lags, c.labelSize()),
		head: target.NewHead(chosen, Auto, 0, n), means: make([]float64, n),
		validation: make([]validation.Stream, n),
	}, nil
}

// Step is the result of Learn.
type Step struct {
	Step     int64 // mini-batches learned so far
	Labelled int64 // labelled rows learned so far
	Learned  int   // of the PredictedBatch
	Changed  bool  // whether the model has changed, so that it may predict otherwise
	Drift    Drift // detectors that have raised an alarm in the PredictedBatch
}

// Learn learns the labelled rows of the last PredictedBatch, once.
//
// It panics if p is not that PredictedBatch, or is learned already; if its Batch was Reset in
// between; after Finish; and for a label that cannot be one of the model: of another task, with
// another number of targets, or with a class from Config.MaxClasses on or below 0.
func (l *Learner) Learn(p *PredictedBatch) Step { return l.LearnWhile(p, nil) }

// LearnWhile does what Learn does, and calls f once before it returns, unless f is nil. If there is
// a core for it, another goroutine calls f while the model changes: f may read p, and must not use
// l.
func (l *Learner) LearnWhile(p *PredictedBatch, f func()) Step {
	if p != &l.pass || p.learned || p.batch == nil {
		panic("learner: Learn takes the most recent PredictedBatch, and takes it once")
	}
	if p.batch.resets != p.resets {
		panic("learner: the Batch of a PredictedBatch was Reset before Learn")
	}
	if l.finished {
		panic("learner: Learn after Finish")
	}
	s := Step{}
	if p.isMixed {
		l.mixture.Commit()
	}
	l.weighing.Set(&l.ahead)
	l.unwatched, l.meanwhile = l.inputs != nil, f
	for i := range p.rows {
		if to := p.keeping[i]; to != nil {
			l.keepBaselines(to, p, i)
		}
		if p.batch.Label(i).Task != Auto {
			s.Learned++
			changed, drift := l.row(p, i)
			s.Changed, s.Drift = changed || s.Changed, drift|s.Drift
		}
	}
	l.watch(p)
	l.callMeanwhile()
	p.learned = true
	s.Labelled, s.Step = l.examples(), l.steps()
	return s
}

// watch shows the inputs of p to their monitor, unless it has seen them already.
func (l *Learner) watch(p *PredictedBatch) {
	if l.unwatched {
		l.unwatched = false
		l.inputs.Add(p.firstSeen(), p.batch.dim, Clocks(p.batch.types))
	}
}

// callMeanwhile calls the function of LearnWhile, unless it has been called.
func (l *Learner) callMeanwhile() {
	if f := l.meanwhile; f != nil {
		l.meanwhile = nil
		f()
	}
}

func (l *Learner) steps() int64 { return l.labelled / int64(l.config.Minibatch) }

// row learns row i of p. It reports whether the model has changed, and which detectors
// have raised an alarm.
func (l *Learner) row(p *PredictedBatch, i int) (changed bool, found Drift) {
	x, y, weight := p.raw.X(i), target.BoundedLabel(p.batch.Label(i)), target.BoundedWeight(p.batch.Weight(i))
	if y.Targets() != l.head.Targets() {
		panic(fmt.Sprintf("learner: label has %d targets, the model has %d", y.Targets(), l.head.Targets()))
	}
	f := p.fate(i)
	changed = !f.Thinned && l.changesAfter(l.labelled+1, y)
	l.validate(p, i, y, weight)
	weight *= f.age
	found = l.grade(p, i, y, weight)
	if !l.lags.None() {
		l.lags.Push(p.batch.keys[i], p.batch.X(i), y)
	}
	if f.Thinned {
		l.passOver(p, i, y, weight)
		return false, found
	}
	if p.outlier(i) {
		weight = 0 // until labels like it are usual
	}
	l.labelled++
	grown := l.count(y, weight)
	if l.warming() {
		l.warmup.Add(x, y, weight)
	}
	if l.fit == nil {
		l.setPrior()
	} else {
		l.push(p, i, y, target.BoundedWeight(weight*f.Rows))
	}
	if l.mixture != nil {
		l.learnMixed(p, i, y, weight*f.Relative)
	} else if i == p.rows-1 && l.meanwhile != nil {
		l.team.Go(l.callMeanwhile)
	}
	if grown {
		l.scorePending()
	}
	l.advance()
	l.team.Wait() // for the mixture, or the function of LearnWhile
	if l.mixture != nil && l.labelled%mixture.GrownRows == 0 {
		l.rescale()
	}
	if changed {
		l.rules.StepIntervals()
	}
	return changed, found
}

// grade shows the label y of row i of p to all that is learned from predictions and their labels: the
// rules, and the detectors, of which it returns those that have raised an alarm.
func (l *Learner) grade(p *PredictedBatch, i int, y Label, weight float64) (found Drift) {
	served, mixed := p.Row(i), p.Row(i)
	if p.isMixed {
		served = p.Scorer.Row(i)
	}
	if l.fit != nil {
		l.rules.AddDecision(served, mixed, y.Class, weight)
	}
	if weight > 0 && p.Size > 0 {
		l.addResiduals(p, i, served, mixed, y)
	}
	if !l.warming() {
		found = l.drift.Add(p.head.BoundedError(p.Row(i), y))
		l.drift.Due = l.drift.Due || found != 0
	}
	return found
}

// changesAfter reports whether the model changes after labelled row n, with label y.
func (l *Learner) changesAfter(n int64, y Label) bool {
	switch {
	case l.head.Task != Regression && l.head.Task != Novelty && y.Class >= l.head.Classes:
		return true
	case l.fit == nil && l.head.Classes == 1: // the only class has the probability 1
		return n == int64(warmup.EffectiveAt(warmup.LastCheckpoint))
	}
	if l.config.Mixture && n%mixture.ChunkRows == 0 {
		return true
	}
	return l.fit == nil || n%int64(l.minibatchAt(n)) == 0 || warmup.TakesEffect(n)
}

// push adds row i of p to the pending ones.
func (l *Learner) push(p *PredictedBatch, i int, y Label, weight float64) {
	d := l.width()
	l.pending.X = append(l.pending.X, p.x[i*d:(i+1)*d]...)
	if l.fit.Encoding != nil {
		l.raw = append(l.raw, p.raw.X(i)...)
	}
	l.pending.Scores = append(l.pending.Scores, p.f[i*p.columns:(i+1)*p.columns]...)
	l.pending.Labels = append(l.pending.Labels, y)
	l.pending.Weights = append(l.pending.Weights, weight)
}

// scorePending computes the scores of the pending rows under the model as it is.
func (l *Learner) scorePending() {
	l.pending.Scores = l.engine.Score(l.pending.Scores[:0], l.pending.X, len(l.pending.Labels))
}

func (l *Learner) problem(prior []float64) engine.Problem {
	o := l.config.options()
	o.Warming = warmup.Version(l.config.Warmup) >= warmup.Fourth && l.labelled < int64(warmup.EffectiveAt(warmup.LastCheckpoint))
	return engine.Problem{Options: o, Head: l.head, Dim: l.width(), Fit: l.fit, Prior: prior, Team: &l.team}
}

// step learns the pending rows, a whole mini-batch.
func (l *Learner) step() {
	l.learnEncoding()
	l.fitPending()
	l.rules.StepDecisions(l.minibatchAt(l.labelled))
}

// points returns the number that the values p of a prediction predict for each target. A mixture
// has no quantiles, so one scratch buffer is enough.
func (l *Learner) points(p []float64) []float64 {
	if !l.head.Quantiles.Valid() {
		return p
	}
	l.scratch.points = l.head.Quantiles.Points(l.scratch.points[:0], p)
	return l.scratch.points
}
