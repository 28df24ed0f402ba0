package learner

import (
	"fmt"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/baseline"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Learner is a model and how it learns. It is for one goroutine.
type Learner struct {
	config    Config // effective
	algorithm *engine.Algorithm
	kernel    features.Kernel // as configured
	reaction  engine.Reaction
	chosen    loss.Loss // likewise; nil for the one that suits the task

	head   target.Head
	dim    int           // of the rows; 0 before the first
	fit    *warmup.Fit   // in effect; nil before the first
	engine engine.Engine // nil before the first fit
	first  []float64     // intercepts of the model before the first fit

	labelled int64
	weights  []float64 // of each class, all rows together
	means    []float64 // of the targets of a regression so far
	total    float64   // weight of all rows
	last     Label

	warmup  warmup.Buffer
	fitter  warmup.Fitter
	pending engine.Minibatch
	linear  baseline.Linear
	records []record // of each target; of classes, one
	drift   detectors
	lags    lags

	pass    Pass
	scratch scratch
}

// scratch is memory that a step needs and nothing remembers.
type scratch struct {
	target []float64 // of the linear baseline
	linear []float64
}

// New returns a Learner that has seen nothing.
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
	kernel, err := features.ParseKernel(c.Kernel)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	reaction, err := engine.ParseReaction(c.OnDrift)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	chosen, err := parseLoss(c.Loss)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	if c.Metric != nil && !c.Metric.whole() {
		return nil, fmt.Errorf("learner: of the metric %v there is the hash alone", c.Metric)
	}
	n := c.targets()
	return &Learner{
		config: c, fitter: by, algorithm: algorithm, kernel: kernel, chosen: chosen, reaction: reaction, lags: lags{k: c.Lags, marks: c.marks()},
		head: target.NewHead(chosen, Auto, 0, n), means: make([]float64, n), records: make([]record, n),
	}, nil
}

// Step is what Learn did.
type Step struct {
	Step     int64 // mini-batches learned so far
	Labelled int64 // labelled rows learned so far
	Learned  int   // of the Pass
	Changed  bool  // the model is not the one before: what it predicts next may differ
	Drift    Drift // detectors that have noticed drift in the Pass
}

// Learn learns the labelled rows of the last Pass, once.
func (l *Learner) Learn(p *Pass) Step {
	if p != &l.pass || p.learned || p.batch == nil {
		panic("learner: Learn wants the last Pass, and only once")
	}
	s := Step{}
	for i := range p.rows {
		if p.batch.Label(i).Task != Auto {
			s.Learned++
			changed, drift := l.row(p, i)
			s.Changed, s.Drift = changed || s.Changed, drift|s.Drift
		}
	}
	p.learned = true
	s.Labelled, s.Step = l.labelled, l.steps()
	return s
}

func (l *Learner) steps() int64 { return l.labelled / int64(l.config.Minibatch) }

// row learns row i of p and says whether the model has changed, and the stream.
func (l *Learner) row(p *Pass, i int) (changed bool, found Drift) {
	x, y, weight := p.inputs.X(i), target.BoundedLabel(p.batch.Label(i)), target.BoundedWeight(p.batch.Weight(i))
	if y.Outputs() != l.head.Targets() {
		panic(fmt.Sprintf("learner: a label of %d targets for a model of %d", y.Outputs(), l.head.Targets()))
	}
	changed = l.changes(l.labelled+1, y)
	l.grade(p, i, y, weight)
	if l.lags.k > 0 {
		l.lags.push(p.batch.keys[i], p.batch.X(i), y)
	}
	if !l.warming() {
		found = l.drift.add(p.head.Surprise(p.Row(i), y))
		l.drift.due = l.drift.due || found != 0
	}
	l.labelled++
	grown := l.count(y, weight)
	if l.warming() {
		l.warmup.Add(x, y, weight)
	}
	if l.fit == nil {
		l.prior()
	} else {
		l.push(p, i, y, weight)
	}
	if grown {
		l.forecast()
	}
	l.advance()
	return changed, found
}

// changes says whether labelled row n, with label y, is one after which the
// model differs.
func (l *Learner) changes(n int64, y Label) bool {
	switch {
	case l.head.Task != Regression && y.Class >= l.head.Classes:
		return true
	case l.fit == nil && l.head.Classes == 1: // one class so far: there is no doubt to change
		return n == int64(warmup.EffectiveAt(warmup.LastCheckpoint))
	}
	return l.fit == nil || n%int64(l.config.Minibatch) == 0 || warmup.TakesEffect(n)
}

// warming says whether the warm-up still needs the rows.
func (l *Learner) warming() bool {
	return l.labelled <= int64(warmup.EffectiveAt(warmup.LastCheckpoint))
}

// advance does what is due after a labelled row.
func (l *Learner) advance() {
	switch {
	case l.warmup.Result != nil && warmup.TakesEffect(l.labelled):
		l.adopt(<-l.warmup.Result)
	case len(l.pending.Labels) == l.config.Minibatch:
		l.step()
	}
	for _, r := range warmup.Checkpoints {
		if int64(r) == l.labelled && l.warmup.Fits(r, l.head.Task) {
			l.warmup.Start(r, l.dim, l.asked(), l.fitter)
		}
	}
	if l.labelled == int64(warmup.EffectiveAt(warmup.LastCheckpoint)) {
		l.warmup = warmup.Buffer{}
	}
}

// count counts a label, and says whether its class is new to a model that has
// a fit.
func (l *Learner) count(y Label, weight float64) (grown bool) {
	if l.head.Task == Auto {
		suited, err := l.algorithm.LossOf(l.chosen, y.Task)
		if err != nil {
			panic("learner: " + err.Error()) // the configuration has been checked
		}
		l.head = target.NewHead(suited, y.Task, 0, l.head.Targets())
	}
	if y.Task != l.head.Task || l.config.Task != Auto && l.config.Task != l.head.Task {
		panic(fmt.Sprintf("learner: a label of %v for a model of %v", y.Task, l.head.Task))
	}
	l.last = y
	l.total += weight
	if l.head.Task == Regression {
		for j, mean := range l.means {
			if l.labelled == 1 {
				l.means[j] = target.Bounded(y.At(j))
			} else if weight > 0 {
				l.means[j] += float64((target.Bounded(y.At(j)) - mean) * (weight / l.total))
			}
		}
		return false
	}
	if y.Class < 0 || y.Class >= l.config.MaxClasses {
		panic(fmt.Sprintf("learner: class %d of at most %d", y.Class, l.config.MaxClasses))
	}
	for y.Class >= l.head.Classes {
		l.weights = append(l.weights, 0)
		l.widen()
		grown = l.fit != nil
	}
	l.weights[y.Class] += weight
	return grown
}

// prior sets the model to what can be said without a fit: the mean, or the
// share of each class.
func (l *Learner) prior() {
	if l.head.Task == Regression {
		units := make([]target.Scale, len(l.means))
		for j, mean := range l.means {
			units[j] = target.Scale{Mean: mean, Deviation: 1}
		}
		l.head.Standardize(units)
		l.first = make([]float64, len(units))
		return
	}
	l.first = l.priors(l.first[:0])
}

// priors appends the intercepts that give each class its share of the rows so
// far, with one more row for each.
func (l *Learner) priors(dst []float64) []float64 { return l.head.PriorScores(dst, l.weights, l.total) }

// widen gives the model one more class.
func (l *Learner) widen() {
	l.head = l.head.WithNewClass()
	if l.fit == nil {
		return
	}
	l.engine.Widen(l.head, l.priors(nil), l.total+float64(l.head.Classes))
	l.linear.Widen(l.head.Scores())
}

// push adds row i of p to the pending ones.
func (l *Learner) push(p *Pass, i int, y Label, weight float64) {
	l.pending.X = append(l.pending.X, p.x[i*l.dim:(i+1)*l.dim]...)
	l.pending.Scores = append(l.pending.Scores, p.f[i*p.Columns:(i+1)*p.Columns]...)
	l.pending.Labels = append(l.pending.Labels, y)
	l.pending.Weights = append(l.pending.Weights, weight)
}

// forecast computes the sums of the pending rows under the model as it is.
func (l *Learner) forecast() {
	l.pending.Scores = l.engine.Score(l.pending.Scores[:0], l.pending.X, len(l.pending.Labels))
}

// adopt starts the model anew with a fit and teaches it the rows so far, in
// their order. They are not graded again.
func (l *Learner) adopt(f warmup.Fit) {
	l.warmup.Result = nil
	l.fit = &f
	l.head.Standardize(f.Scales)
	prior := make([]float64, l.head.Scores())
	if l.head.Task == Classification {
		prior = l.priors(prior[:0])
	}
	l.engine = l.algorithm.New(l.problem(prior))
	l.linear = baseline.NewLinear(f.Scaler.ColumnWeights, l.head.Scores())
	l.pending.Clear()
	for i, y := range l.warmup.Labels {
		l.pending.X = state.Extend(l.pending.X, l.dim)
		f.Scaler.Apply(l.pending.X[i%l.config.Minibatch*l.dim:], l.warmup.X[i*l.dim:(i+1)*l.dim])
		l.pending.Labels = append(l.pending.Labels, y)
		l.pending.Weights = append(l.pending.Weights, l.warmup.Weights[i])
		if len(l.pending.Labels) == l.config.Minibatch {
			l.forecast()
			l.step()
		}
	}
	l.forecast()
}

func (l *Learner) problem(prior []float64) engine.Problem {
	return engine.Problem{Options: l.config.options(), Head: l.head, Dim: l.dim, Fit: l.fit, Prior: prior}
}

// step learns the pending rows, which are one mini-batch.
func (l *Learner) step() {
	l.teachLinear()
	if l.drift.due {
		l.React()
	}
	l.engine.Learn(&l.pending)
	l.pending.Clear()
}

// Progress returns the progressive validation so far.
func (l *Learner) Progress() Progress {
	p := Progress{Drifts: l.drift.alarms, Task: l.head.Task, Examples: l.labelled, Step: l.steps()}
	if l.fit != nil {
		p.Features, p.Average = l.engine.Features(), l.engine.Served() > 0
		for _, r := range warmup.Checkpoints {
			if int64(warmup.EffectiveAt(r)) <= l.labelled {
				p.Warmup = r
			}
		}
	}
	whole, long, short := make([]tally, len(l.records)), make([]tally, len(l.records)), make([]tally, len(l.records))
	for j := range l.records {
		r := &l.records[j]
		whole[j], long[j], short[j] = r.whole, r.window(recent), r.window(latest)
	}
	p.Whole, p.Recent, p.Latest = scores(whole, l.head.Task), scores(long, l.head.Task), scores(short, l.head.Task)
	return p
}

func (l *Learner) asked() warmup.Request {
	a := warmup.Request{Task: l.head.Task, Kernel: l.kernel, Scaled: l.config.Metric != nil, Single: !l.config.sampling().AllowsSecond()}
	if o := l.config.options(); l.algorithm.FixedBlocks != nil {
		a.Fixed = warmup.FixedFeatures{Map: o.FeatureMap(l.dim), Blocks: l.algorithm.FixedBlocks(o)}
		a.Single = true
	}
	return a
}
