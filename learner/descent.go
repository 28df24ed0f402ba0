package learner

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
)

// descent is doubly stochastic functional gradient descent: each mini-batch is
// one step down the gradient of its loss, in the blocks that the rule chooses.
// It keeps the iterate and its average, in this order, and serves whichever of
// them was better of late.
type descent struct {
	problem
	rule      Rule
	direction direction
	stepper   *Stepper // nil for the one that needs no tuning

	features  *features.Bank
	coef      coefficients
	traces    []float64 // blocks × sums; see Situation
	intercept []float64 // 2·sums
	wide      []float32 // coef as predictions use it: features × 2·sums
	averaged  bool      // the average serves
	choice    choice

	step gradientStep // under way

	narrow []float32 // scratch
	slope  []float64 // of the touched blocks, features × sums
	mean   []float64 // of residue's rows
	norms  []float64
}

// newDescent returns the engine of a rule and a direction. stepper is nil for the
// step size that needs no tuning.
func newDescent(p problem, rule Rule, direction direction, stepper *Stepper) *descent {
	return &descent{
		problem: p, rule: rule, direction: direction, stepper: stepper,
		features:  p.bank(),
		coef:      newCoefficients(p.head.sums()),
		intercept: slices.Concat(p.prior, p.prior),
	}
}

func (d *descent) columns() int { return len(d.intercept) }

func (d *descent) served() int {
	if d.averaged {
		return len(d.intercept) / 2
	}
	return 0
}

func (d *descent) sums(dst []float64, x []float32, n int) []float64 {
	return addUp(dst, d.features, x, d.wide, d.intercept, n)
}

func (d *descent) frequencies() int { return d.features.Blocks() * d.config.Width }

func (d *descent) serving() served {
	from, k := d.served(), d.head.sums()
	d.narrow = d.narrow[:0]
	for i := 0; i < len(d.wide); i += 2 * k {
		d.narrow = append(d.narrow, d.wide[i+from:i+from+k]...)
	}
	return served{d.features.Blocks(), d.intercept[from : from+k], d.narrow}
}

func (d *descent) widen(h head, prior []float64, total float64) {
	from, to := d.head.sums(), h.sums()
	d.head = h
	if to == from { // from one class to two
		d.intercept = slices.Concat(prior, prior)
		return
	}
	d.intercept = append(h.widenIntercept(d.intercept[:from], total), h.widenIntercept(d.intercept[from:], total)...)
	d.coef.widen(&h, from)
	d.direction.widen(&h, from)
	d.traces = h.widen(d.traces, from)
	d.wide = make([]float32, 2*len(d.coef.u))
	d.coef.serve(d.wide)
}

func (d *descent) learn(p *pending) {
	if d.head.task == Classification && d.head.classes < 2 {
		return // one class so far: there is nothing to tell it from
	}
	d.choose(p)
	k := d.head.sums()
	g, squares := d.gradient(p)
	if g == nil {
		return
	}
	t := d.coef.steps + 1
	stepper := newStepper(d.step.smoothness, d.fit.top, d.config.Minibatch, d.config.Width, d.config.Lambda)
	stepper.Rough = math.IsInf(d.head.loss.Smoothness(), 1)
	if d.stepper != nil {
		stepper = *d.stepper
	}
	from, to, rate := d.rule.Choose(&Situation{
		Step: t, Seed: d.config.Seed,
		Blocks: d.features.Blocks(), Most: d.config.maxBlocks(),
		Rate: stepper.Rate(t - d.coef.since), Ceiling: d.ceiling(),
		Mean: d.mean, Squares: squares, Rows: len(p.labels),
		Traces: d.traces, Slopes: d.slopes,
	})
	size := 2 * d.config.Width
	if to > d.features.Blocks() {
		d.features.Grow(to)
		d.coef.grow(to*size - len(d.coef.u)/k)
		d.direction.grow(len(d.coef.u))
		d.wide = extend(d.wide, 2*len(d.coef.u)-len(d.wide))
	}
	d.slope = extend(d.slope[:0], (to-from)*size*k)
	d.features.Gradient(d.slope, from, p.x, g, k)
	// The curvature along this very gradient, which a stream unlike its warm-up
	// can take beyond what the step size was made for.
	share := 1 / float64(d.config.Width*(to-from))
	if curvature := d.step.smoothness * share * vec.Dot(d.slope, d.slope) / squares; rate*curvature > 1 {
		rate = 1 / curvature
	}
	shrink := 1 - float64(rate*d.config.Lambda)
	d.coef.scale(shrink)
	d.step.head, d.step.features, d.step.from, d.step.to, d.step.rate = &d.head, d.features, from, to, rate
	d.step.since = d.coef.steps - d.coef.since
	d.direction.turn(&d.step, d.slope)
	d.coef.add(from*size, 1, d.slope)
	d.trace(from, to, rate, shrink)
	rho := d.coef.average()

	// The intercept is the kernel 1, whose step would be unstable at the rate of
	// the features.
	slow := min(rate, 0.5/d.step.smoothness)
	for j, mean := range d.mean {
		d.intercept[j] -= float64(slow * mean)
		d.intercept[k+j] += float64(rho * (d.intercept[j] - d.intercept[k+j]))
	}
	d.coef.serve(d.wide)
}

// react makes the next step as long as the first, and begins the average there.
func (d *descent) react(r reaction) {
	d.coef.since = d.coef.steps
	if r == reactForget {
		d.coef.scale(0.5)
		for i := range d.traces {
			d.traces[i] /= 2
		}
	}
	d.direction.react()
	d.choice = choice{}
	d.averaged = false
	d.coef.serve(d.wide)
}

// ceiling is the step that would overshoot along the kernel's first eigenvector.
// Logistic and Softmax have the curvature that they are held for where they are
// in doubt, and no more than half of it elsewhere.
func (d *descent) ceiling() float64 {
	c := 1 / (1.05 * d.step.smoothness * d.fit.top)
	if d.head.probabilities() {
		c *= 2
	}
	return c
}

// trace notes a step in the blocks' traces, if the rule looks at them.
func (d *descent) trace(from, to int, rate, shrink float64) {
	if _, ok := d.rule.(Tracer); !ok {
		return
	}
	k := len(d.mean)
	for i := range d.traces {
		d.traces[i] *= shrink
	}
	d.traces = append(d.traces, make([]float64, d.features.Blocks()*k-len(d.traces))...)
	for b := from; b < to; b++ {
		for j, mean := range d.mean {
			d.traces[b*k+j] -= float64(rate * mean)
		}
	}
}

// slopes is Situation.Slopes.
func (d *descent) slopes() (products, squares []float64) {
	n, k := d.features.Blocks(), d.head.sums()
	size := 2 * d.config.Width * k
	d.slope = extend(d.slope[:0], n*size)
	d.features.Gradient(d.slope, 0, d.step.x, d.step.residue, k)
	d.norms = extend(d.norms[:0], 2*n)
	products, squares = d.norms[:n], d.norms[n:]
	for b := range n {
		g := d.slope[b*size : (b+1)*size]
		products[b] = d.coef.shrink * vec.Dot(d.coef.u[b*size:(b+1)*size], g)
		squares[b] = vec.Dot(g, g) / float64(d.config.Width)
	}
	return products, squares
}

// gradient returns the gradient of the weighted mean loss in the sums of each
// pending row, and the weighted mean of its squares; nil if all weights are 0
// or there is nothing to correct. It sets what else a step needs to know of its
// mini-batch.
func (d *descent) gradient(p *pending) (g []float64, squares float64) {
	k := d.head.sums()
	total := 0.0
	for _, w := range p.weights {
		total += w
	}
	if total == 0 {
		return nil, 0
	}
	d.step.x = p.x
	d.step.shares = d.step.shares[:0]
	d.mean = extend(d.mean[:0], k)
	clear(d.mean)
	d.step.residue = extend(d.step.residue[:0], len(p.labels)*k)
	g = d.step.residue
	d.step.smoothness = d.head.loss.Smoothness()
	curved, ok := d.head.loss.(interface{ Curvature([]float64) float64 })
	if ok || math.IsInf(d.step.smoothness, 1) {
		d.step.smoothness = 1
	}
	for i, y := range p.labels {
		row, f := g[i*k:(i+1)*k], p.f[2*i*k:2*i*k+k]
		d.head.grad(row, f, y)
		if ok {
			for j := range d.head.targets() {
				d.step.smoothness = max(d.step.smoothness, curved.Curvature(d.head.part(f, j)))
			}
		}
		share := p.weights[i] / total
		d.step.shares = append(d.step.shares, share)
		for j, v := range row {
			v = max(-ResidualLimit, min(ResidualLimit, v))
			squares += float64(share * float64(v*v))
			row[j] = float64(share * v)
			d.mean[j] += row[j]
		}
	}
	d.step.squares = squares
	if squares < 1e-300 {
		return nil, 0
	}
	return g, squares
}

// scalarFields are the columns of the array "descent.scalars".
const (
	scalarShrink = iota
	scalarQ
	scalarP
	scalarFields
)

// counterFields are the columns of the array "descent.counters".
const (
	descentSteps = iota
	descentAveraged
	descentChoice
	descentSince
	descentFields
)

func (d *descent) save(a *arrays) {
	averaged := int64(0)
	if d.averaged {
		averaged = 1
	}
	k := d.head.sums()
	put(a, "descent.counters", descentFields, []int64{d.coef.steps, averaged, int64(d.choice.at), d.coef.since})
	put(a, "descent.scalars", scalarFields, []float64{d.coef.shrink, d.coef.q, d.coef.p})
	put(a, "intercepts", k, d.intercept)
	put(a, "u", k, d.coef.u)
	put(a, "v", k, d.coef.v)
	put(a, "traces", k, d.traces)
	put(a, "choice", 1, d.choice.excess[:])
	d.direction.save(a)
}

func (d *descent) load(s *source, v served, steps int64) {
	counters := take[int64](s, "descent.counters", 1, descentFields)
	scalars := take[float64](s, "descent.scalars", 1, scalarFields)
	if s.err != nil {
		return
	}
	k, rows := d.head.sums(), 2*d.config.Width*v.blocks
	d.averaged, d.choice.at = counters[descentAveraged] == 1, int(counters[descentChoice])
	d.intercept = take[float64](s, "intercepts", 2, k)
	d.coef = coefficients{
		outputs: k, steps: counters[descentSteps], since: counters[descentSince],
		shrink: scalars[scalarShrink], q: scalars[scalarQ], p: scalars[scalarP],
		u: take[float64](s, "u", rows, k), v: take[float64](s, "v", rows, k),
	}
	traces := 0
	if _, ok := d.rule.(Tracer); ok {
		traces = v.blocks
	}
	d.traces = take[float64](s, "traces", traces, k)
	copy(d.choice.excess[:], take[float64](s, "choice", choiceRows, 1))
	d.direction.load(s, rows, k)
	c := &d.coef
	s.want(counters[descentAveraged]>>1 == 0, "averaged is %d", counters[descentAveraged])
	s.want(d.choice.at >= 0 && d.choice.at < choiceRows, "choice at row %d", d.choice.at)
	s.want(c.since >= 0 && c.since <= c.steps, "an average since step %d of %d", c.since, c.steps)
	s.want(c.steps >= 0 && c.steps <= steps && (c.steps == 0) == (v.blocks == 0), "%d steps of %d, %d blocks", c.steps, steps, v.blocks)
	s.want(c.shrink > 0 && c.shrink <= 1 && c.q > 0 && c.q <= 1 && c.p >= 0, "scalars %v, %v, %v", c.shrink, c.q, c.p)
	if s.err != nil {
		return
	}
	d.features.Grow(v.blocks)
	d.wide = make([]float32, 2*len(c.u))
	c.serve(d.wide)
	v.check(s, d)
}

// rewind makes the step count what it was, with no choice between the iterate and
// its average yet.
func (d *descent) rewind(steps int64) { d.coef.steps, d.choice, d.averaged = steps, choice{}, false }
