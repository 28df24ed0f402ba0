package learner

import (
	"fmt"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Learner is a model and how it learns. It is for one goroutine.
type Learner struct {
	config    Config // effective
	algorithm *algorithm
	kernel    features.Kernel // as configured
	reaction  reaction
	chosen    loss.Loss // likewise; nil for the one that suits the task

	head
	dim    int       // of the rows; 0 before the first
	fit    *fit      // in effect; nil before the first
	engine engine    // nil before the first fit
	first  []float64 // intercepts of the model before the first fit

	labelled int64
	weights  []float64 // of each class, all rows together
	means    []float64 // of the targets of a regression so far
	total    float64   // weight of all rows
	last     Label

	warmup  warmup
	fitter  Fitter
	pending pending
	linear  linear
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
func New(c Config) (*Learner, error) { return newWith(c, newFit) }

func newWith(c Config, by Fitter) (*Learner, error) {
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
	reaction, err := parseReaction(c.OnDrift)
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
		head: newHead(chosen, Auto, 0, n), means: make([]float64, n), records: make([]record, n),
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
	x, y, weight := p.inputs.X(i), boundedLabel(p.batch.Label(i)), boundedWeight(p.batch.Weight(i))
	if y.Outputs() != l.targets() {
		panic(fmt.Sprintf("learner: a label of %d targets for a model of %d", y.Outputs(), l.targets()))
	}
	changed = l.changes(l.labelled+1, y)
	l.grade(p, i, y, weight)
	if l.lags.k > 0 {
		l.lags.push(p.batch.keys[i], p.batch.X(i), y)
	}
	if !l.warming() {
		found = l.drift.add(p.head.surprise(p.Row(i), y))
		l.drift.due = l.drift.due || found != 0
	}
	l.labelled++
	grown := l.count(y, weight)
	if l.warming() {
		l.warmup.add(x, y, weight)
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
	case l.task != Regression && y.Class >= l.classes:
		return true
	case l.fit == nil && l.classes == 1: // one class so far: there is no doubt to change
		return n == int64(effect(lastRung))
	}
	return l.fit == nil || n%int64(l.config.Minibatch) == 0 || takesEffect(n)
}

// warming says whether the warm-up still needs the rows.
func (l *Learner) warming() bool { return l.labelled <= int64(effect(lastRung)) }

// advance does what is due after a labelled row.
func (l *Learner) advance() {
	switch {
	case l.warmup.result != nil && takesEffect(l.labelled):
		l.adopt(<-l.warmup.result)
	case len(l.pending.labels) == l.config.Minibatch:
		l.step()
	}
	for _, r := range rungs {
		if int64(r) == l.labelled && l.warmup.fits(r, l.task) {
			l.warmup.start(r, l.dim, l.asked(), l.fitter)
		}
	}
	if l.labelled == int64(effect(lastRung)) {
		l.warmup = warmup{}
	}
}

// count counts a label, and says whether its class is new to a model that has
// a fit.
func (l *Learner) count(y Label, weight float64) (grown bool) {
	if l.task == Auto {
		suited, err := l.algorithm.lossOf(l.chosen, y.Task)
		if err != nil {
			panic("learner: " + err.Error()) // the configuration has been checked
		}
		l.head = newHead(suited, y.Task, 0, l.targets())
	}
	if y.Task != l.task || l.config.Task != Auto && l.config.Task != l.task {
		panic(fmt.Sprintf("learner: a label of %v for a model of %v", y.Task, l.task))
	}
	l.last = y
	l.total += weight
	if l.task == Regression {
		for j, mean := range l.means {
			if l.labelled == 1 {
				l.means[j] = bounded(y.At(j))
			} else if weight > 0 {
				l.means[j] += float64((bounded(y.At(j)) - mean) * (weight / l.total))
			}
		}
		return false
	}
	if y.Class < 0 || y.Class >= l.config.MaxClasses {
		panic(fmt.Sprintf("learner: class %d of at most %d", y.Class, l.config.MaxClasses))
	}
	for y.Class >= l.classes {
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
	if l.task == Regression {
		units := make([]unit, len(l.means))
		for j, mean := range l.means {
			units[j] = unit{mean, 1}
		}
		l.head.measure(units)
		l.first = make([]float64, len(units))
		return
	}
	l.first = l.priors(l.first[:0])
}

// priors appends the intercepts that give each class its share of the rows so
// far, with one more row for each.
func (l *Learner) priors(dst []float64) []float64 { return l.head.shares(dst, l.weights, l.total) }

// widen gives the model one more class.
func (l *Learner) widen() {
	l.head = l.head.widened()
	if l.fit == nil {
		return
	}
	l.engine.widen(l.head, l.priors(nil), l.total+float64(l.classes))
	l.linear.widen(l.sums())
}

// push adds row i of p to the pending ones.
func (l *Learner) push(p *Pass, i int, y Label, weight float64) {
	l.pending.x = append(l.pending.x, p.x[i*l.dim:(i+1)*l.dim]...)
	l.pending.f = append(l.pending.f, p.f[i*p.columns:(i+1)*p.columns]...)
	l.pending.labels = append(l.pending.labels, y)
	l.pending.weights = append(l.pending.weights, weight)
}

// forecast computes the sums of the pending rows under the model as it is.
func (l *Learner) forecast() {
	l.pending.f = l.engine.sums(l.pending.f[:0], l.pending.x, len(l.pending.labels))
}

// adopt starts the model anew with a fit and teaches it the rows so far, in
// their order. They are not graded again.
func (l *Learner) adopt(f fit) {
	l.warmup.result = nil
	l.fit = &f
	l.head.measure(f.units)
	prior := make([]float64, l.sums())
	if l.task == Classification {
		prior = l.priors(prior[:0])
	}
	l.engine = l.algorithm.new(l.problem(prior))
	l.linear = newLinear(f.scaler.metric, l.sums())
	l.pending.clear()
	for i, y := range l.warmup.labels {
		l.pending.x = extend(l.pending.x, l.dim)
		f.scaler.apply(l.pending.x[i%l.config.Minibatch*l.dim:], l.warmup.x[i*l.dim:(i+1)*l.dim])
		l.pending.labels = append(l.pending.labels, y)
		l.pending.weights = append(l.pending.weights, l.warmup.weights[i])
		if len(l.pending.labels) == l.config.Minibatch {
			l.forecast()
			l.step()
		}
	}
	l.forecast()
}

func (l *Learner) problem(prior []float64) problem {
	return problem{config: l.config.options(), head: l.head, dim: l.dim, fit: l.fit, prior: prior}
}

// step learns the pending rows, which are one mini-batch.
func (l *Learner) step() {
	l.teachLinear()
	if l.drift.due {
		l.react()
	}
	l.engine.learn(&l.pending)
	l.pending.clear()
}

// Progress returns the progressive validation so far.
func (l *Learner) Progress() Progress {
	p := Progress{Drifts: l.drift.alarms, Task: l.task, Examples: l.labelled, Step: l.steps()}
	if l.fit != nil {
		p.Features, p.Average = l.engine.frequencies(), l.engine.served() > 0
		for _, r := range rungs {
			if int64(effect(r)) <= l.labelled {
				p.Warmup = r
			}
		}
	}
	whole, long, short := make([]tally, len(l.records)), make([]tally, len(l.records)), make([]tally, len(l.records))
	for j := range l.records {
		r := &l.records[j]
		whole[j], long[j], short[j] = r.whole, r.window(recent), r.window(latest)
	}
	p.Whole, p.Recent, p.Latest = scores(whole, l.task), scores(long, l.task), scores(short, l.task)
	return p
}

func (l *Learner) asked() asked {
	a := asked{task: l.task, kernel: l.kernel, scaled: l.config.Metric != nil, single: l.config.sampling() != features.IID}
	if o := l.config.options(); l.algorithm.fixedBlocks != nil {
		a.few = few{o.featureMap(l.dim), l.algorithm.fixedBlocks(o)}
		a.single = true
	}
	return a
}
