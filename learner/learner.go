package learner

import (
	"fmt"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Learner is a model and how it learns. It is for one goroutine.
type Learner struct {
	config Config // effective
	rule   Rule
	kernel features.Kernel // as configured

	// The model: of the outputs, the first half are the iterate's and the second
	// half its average's.
	head
	dim       int  // of the rows; 0 before the first
	fit       *fit // in effect; nil before the first
	bank      *features.Bank
	coef      coefficients
	intercept []float64 // 2·sums
	wide      []float32 // coef as predictions use it: features × 2·sums
	averaged  bool      // the average serves

	labelled int64
	weights  []float64 // of each class, all rows together
	mean     float64   // of the labels of a regression so far
	total    float64   // weight of all rows
	last     Label

	warmup  warmup
	pending pending
	choice  choice
	linear  linear
	record  record

	pass    Pass
	scratch scratch
}

// pending are the labelled rows since the last mini-batch, scaled. Before the
// first fit there are none: the warm-up has them.
type pending struct {
	x       []float32
	f       []float64 // their sums under the model as it is, 2·sums each
	labels  []Label
	weights []float64
}

func (p *pending) clear() {
	p.x, p.f, p.labels, p.weights = p.x[:0], p.f[:0], p.labels[:0], p.weights[:0]
}

// scratch is memory that a step needs and nothing remembers.
type scratch struct {
	gradient []float64 // of the touched blocks, features × sums
	g        []float64 // minibatch × sums
	target   []float64 // of the linear baseline
	linear   []float64
}

// New returns a Learner that has seen nothing.
func New(c Config) (*Learner, error) {
	c, err := c.Effective()
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	rule, err := ParseRule(c.Algorithm)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	kernel, err := features.ParseKernel(c.Kernel)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	return &Learner{config: c, rule: rule, kernel: kernel, head: newHead(Auto, 0)}, nil
}

// Step is what Learn did.
type Step struct {
	Step     int64 // mini-batches learned so far
	Labelled int64 // labelled rows learned so far
	Learned  int   // of the Pass
	Changed  bool  // the model is not the one before: what it predicts next may differ
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
			s.Changed = l.row(p, i) || s.Changed
		}
	}
	p.learned = true
	s.Labelled, s.Step = l.labelled, l.steps()
	return s
}

func (l *Learner) steps() int64 { return l.labelled / int64(l.config.Minibatch) }

// row learns row i of p and says whether the model has changed.
func (l *Learner) row(p *Pass, i int) (changed bool) {
	x, y, weight := p.batch.X(i), boundedLabel(p.batch.Label(i)), boundedWeight(p.batch.Weight(i))
	changed = l.changes(l.labelled+1, y)
	l.grade(p, i, y, weight)
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
	return changed
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
			l.warmup.start(r, l.dim, l.task, l.kernel)
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
		l.head = newHead(y.Task, 0)
	}
	if y.Task != l.task || l.config.Task != Auto && l.config.Task != l.task {
		panic(fmt.Sprintf("learner: a label of %v for a model of %v", y.Task, l.task))
	}
	l.last = y
	l.total += weight
	if l.task == Regression {
		if l.labelled == 1 {
			l.mean = bounded(y.Value)
		} else if weight > 0 {
			l.mean += float64((bounded(y.Value) - l.mean) * (weight / l.total))
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
		l.head.mean = l.mean
		l.intercept = append(l.intercept[:0], 0, 0)
		return
	}
	l.intercept = l.priors(l.intercept[:0])
	l.intercept = append(l.intercept, l.intercept...)
}

// priors appends the intercepts that give each class its share of the rows so
// far, with one more row for each.
func (l *Learner) priors(dst []float64) []float64 {
	if l.sums() == 1 {
		odds := 0.0
		if l.classes == 2 {
			odds = vec.Log(l.weights[1]+1) - vec.Log(l.weights[0]+1)
		}
		return append(dst, odds)
	}
	for _, w := range l.weights {
		dst = append(dst, vec.Log((w+1)/(l.total+float64(l.classes))))
	}
	return dst
}

// widen gives the model one more class.
func (l *Learner) widen() {
	from := l.sums()
	h := newHead(Classification, l.classes+1)
	h.mean, h.deviation = l.head.mean, l.head.deviation
	l.head = h
	to := l.sums()
	if l.fit == nil {
		return
	}
	// The new class takes the share that the counts give it from all the others
	// alike: of two classes by the odds, of more beside what the others sum to.
	half := len(l.intercept) / 2
	if to == from { // from one class to two
		l.intercept = l.priors(l.intercept[:0])
		l.intercept = append(l.intercept, l.intercept...)
		return
	}
	both := make([]float64, 0, 2*to)
	for _, part := range [][]float64{l.intercept[:half], l.intercept[half:]} {
		part = widen(part, from, to)
		part[to-1] = newcomer(part[:to-1], l.total+float64(l.classes))
		both = append(both, part...)
	}
	l.intercept = both
	l.coef.widen(from, to)
	l.wide = make([]float32, 2*len(l.coef.u))
	l.coef.serve(l.wide)
	l.linear.widen(to)
}

// newcomer returns the intercept that gives one row of total to a new class
// beside others with these intercepts.
func newcomer(others []float64, total float64) float64 {
	s := loss.Softmax{}
	// The loss of any class is ln Σ exp(f) - f[y].
	sum := s.Value(others, 0) + others[0]
	return sum - vec.Log(max(total-1, 1))
}

// push adds row i of p to the pending ones.
func (l *Learner) push(p *Pass, i int, y Label, weight float64) {
	l.pending.x = append(l.pending.x, p.x[i*l.dim:(i+1)*l.dim]...)
	k := 2 * p.sums
	l.pending.f = append(l.pending.f, p.f[i*k:(i+1)*k]...)
	l.pending.labels = append(l.pending.labels, y)
	l.pending.weights = append(l.pending.weights, weight)
}

// forecast computes the sums of the pending rows under the model as it is.
func (l *Learner) forecast() {
	l.pending.f = addUp(l.pending.f[:0], l.bank, l.pending.x, l.wide, l.intercept, len(l.pending.labels))
}

// adopt starts the model anew with a fit and teaches it the rows so far, in
// their order. They are not graded again.
func (l *Learner) adopt(f fit) {
	l.warmup.result = nil
	l.fit = &f
	l.head.mean, l.head.deviation = f.mean, f.deviation
	l.bank = features.NewBank(features.Map{Kernel: f.kernel, Dim: l.dim, Width: l.config.Width, Seed: l.config.Seed})
	l.coef = newCoefficients(l.sums())
	l.wide = l.wide[:0]
	l.intercept = append(l.intercept[:0], make([]float64, 2*l.sums())...)
	if l.task == Classification {
		l.intercept = l.priors(l.intercept[:0])
		l.intercept = append(l.intercept, l.intercept...)
	}
	l.averaged = false
	l.choice = choice{}
	l.linear = newLinear(l.dim, l.sums())
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

// residualLimit bounds the gradient of a regression, in standard deviations of
// the label: a single label cannot move the model further than that.
const residualLimit = 10

// step learns the pending rows, which are one mini-batch: one step down the
// functional gradient in the blocks that the rule chooses.
func (l *Learner) step() {
	p := &l.pending
	l.choose()
	l.teachLinear()
	if l.task == Regression || l.classes > 1 {
		l.descend()
	}
	p.clear()
}

func (l *Learner) descend() {
	p, k := &l.pending, l.sums()
	g, squares := l.gradient()
	if g == nil {
		return
	}
	from, to := l.rule.Blocks(l.coef.steps+1, l.bank.Blocks(), l.config.maxBlocks())
	size := 2 * l.config.Width
	if to > l.bank.Blocks() {
		l.bank.Grow(to)
		l.coef.grow(size)
		l.wide = extend(l.wide, 2*size*k)
	}
	l.scratch.gradient = extend(l.scratch.gradient[:0], (to-from)*size*k)
	d := l.scratch.gradient
	l.bank.Gradient(d, from, p.x, g, k)

	// The blocks touched share the step; normalised features are these by √width.
	share := 1 / float64(l.config.Width*(to-from))
	stepper := newStepper(l.loss.Smoothness(), l.fit.top, l.config.Minibatch, l.config.Width, l.config.Lambda)
	rate := stepper.Rate(l.coef.steps + 1)
	// The curvature along this very gradient, which a stream unlike its warm-up
	// can take beyond what the step size was made for.
	if curvature := l.loss.Smoothness() * share * vec.Dot(d, d) / squares; rate*curvature > 1 {
		rate = 1 / curvature
	}
	l.coef.scale(1 - float64(rate*l.config.Lambda))
	l.coef.add(from*size, -rate*share, d)
	rho := l.coef.average()

	// The intercept is the kernel 1, whose step would be unstable at the rate of
	// the features.
	slow := min(rate, 0.5/l.loss.Smoothness())
	for j := range k {
		mean := 0.0
		for i := j; i < len(g); i += k {
			mean += g[i]
		}
		l.intercept[j] -= float64(slow * mean)
		l.intercept[k+j] += float64(rho * (l.intercept[j] - l.intercept[k+j]))
	}
	l.coef.serve(l.wide)
}

// gradient returns the gradient of the weighted mean loss in the sums of each
// pending row, and the weighted mean of its squares; nil if all weights are 0
// or there is nothing to correct.
func (l *Learner) gradient() (g []float64, squares float64) {
	p, k := &l.pending, l.sums()
	total := 0.0
	for _, w := range p.weights {
		total += w
	}
	if total == 0 {
		return nil, 0
	}
	l.scratch.g = extend(l.scratch.g[:0], len(p.labels)*k)
	g = l.scratch.g
	for i, y := range p.labels {
		row := g[i*k : (i+1)*k]
		l.loss.Grad(row, p.f[2*i*k:2*i*k+k], l.target(y))
		share := p.weights[i] / total
		for j, v := range row {
			v = max(-residualLimit, min(residualLimit, v))
			squares += float64(share * float64(v*v))
			row[j] = float64(share * v)
		}
	}
	if squares < 1e-300 {
		return nil, 0
	}
	return g, squares
}

// Progress returns the progressive validation so far.
func (l *Learner) Progress() Progress {
	p := Progress{Task: l.task, Examples: l.labelled, Step: l.steps(), Average: l.averaged}
	if l.fit != nil {
		p.Features = l.bank.Blocks() * l.config.Width
		for _, r := range rungs {
			if int64(effect(r)) <= l.labelled {
				p.Warmup = r
			}
		}
	}
	long, short := l.record.window(recent), l.record.window(latest)
	p.Whole, p.Recent, p.Latest = l.record.whole.scores(l.task), long.scores(l.task), short.scores(l.task)
	return p
}
