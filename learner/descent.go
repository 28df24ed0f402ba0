package learner

import (
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
	rule Rule

	features  *features.Bank
	coef      coefficients
	intercept []float64 // 2·sums
	wide      []float32 // coef as predictions use it: features × 2·sums
	averaged  bool      // the average serves
	choice    choice

	narrow  []float32 // scratch
	slope   []float64 // of the touched blocks, features × sums
	residue []float64 // minibatch × sums
}

func newDescent(p problem, rule Rule) *descent {
	return &descent{
		problem: p, rule: rule,
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

func (d *descent) serving() (blocks int, intercept []float64, coef []float32) {
	from, k := d.served(), d.head.sums()
	d.narrow = d.narrow[:0]
	for i := 0; i < len(d.wide); i += 2 * k {
		d.narrow = append(d.narrow, d.wide[i+from:i+from+k]...)
	}
	return d.features.Blocks(), d.intercept[from : from+k], d.narrow
}

func (d *descent) widen(h head, prior []float64, total float64) {
	from, to := d.head.sums(), h.sums()
	d.head = h
	if to == from { // from one class to two
		d.intercept = slices.Concat(prior, prior)
		return
	}
	d.intercept = append(widenIntercept(d.intercept[:from], to, total), widenIntercept(d.intercept[from:], to, total)...)
	d.coef.widen(from, to)
	d.wide = make([]float32, 2*len(d.coef.u))
	d.coef.serve(d.wide)
}

// residualLimit bounds the gradient of a regression, in standard deviations of
// the label: a single label cannot move the model further than that.
const residualLimit = 10

func (d *descent) learn(p *pending) {
	d.choose(p)
	k := d.head.sums()
	g, squares := d.gradient(p)
	if g == nil {
		return
	}
	from, to := d.rule.Blocks(d.coef.steps+1, d.features.Blocks(), d.config.maxBlocks())
	size := 2 * d.config.Width
	if to > d.features.Blocks() {
		d.features.Grow(to)
		d.coef.grow(size)
		d.wide = extend(d.wide, 2*size*k)
	}
	d.slope = extend(d.slope[:0], (to-from)*size*k)
	d.features.Gradient(d.slope, from, p.x, g, k)

	// The blocks touched share the step; normalised features are these by √width.
	share := 1 / float64(d.config.Width*(to-from))
	stepper := newStepper(d.head.loss.Smoothness(), d.fit.top, d.config.Minibatch, d.config.Width, d.config.Lambda)
	rate := stepper.Rate(d.coef.steps + 1)
	// The curvature along this very gradient, which a stream unlike its warm-up
	// can take beyond what the step size was made for.
	if curvature := d.head.loss.Smoothness() * share * vec.Dot(d.slope, d.slope) / squares; rate*curvature > 1 {
		rate = 1 / curvature
	}
	d.coef.scale(1 - float64(rate*d.config.Lambda))
	d.coef.add(from*size, -rate*share, d.slope)
	rho := d.coef.average()

	// The intercept is the kernel 1, whose step would be unstable at the rate of
	// the features.
	slow := min(rate, 0.5/d.head.loss.Smoothness())
	for j := range k {
		mean := 0.0
		for i := j; i < len(g); i += k {
			mean += g[i]
		}
		d.intercept[j] -= float64(slow * mean)
		d.intercept[k+j] += float64(rho * (d.intercept[j] - d.intercept[k+j]))
	}
	d.coef.serve(d.wide)
}

// gradient returns the gradient of the weighted mean loss in the sums of each
// pending row, and the weighted mean of its squares; nil if all weights are 0
// or there is nothing to correct.
func (d *descent) gradient(p *pending) (g []float64, squares float64) {
	k := d.head.sums()
	total := 0.0
	for _, w := range p.weights {
		total += w
	}
	if total == 0 {
		return nil, 0
	}
	d.residue = extend(d.residue[:0], len(p.labels)*k)
	g = d.residue
	for i, y := range p.labels {
		row := g[i*k : (i+1)*k]
		d.head.loss.Grad(row, p.f[2*i*k:2*i*k+k], d.head.target(y))
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
	descentFields
)

func (d *descent) save(a *arrays) {
	averaged := int64(0)
	if d.averaged {
		averaged = 1
	}
	k := d.head.sums()
	put(a, "descent.counters", descentFields, []int64{d.coef.steps, averaged, int64(d.choice.at)})
	put(a, "descent.scalars", scalarFields, []float64{d.coef.shrink, d.coef.q, d.coef.p})
	put(a, "intercepts", k, d.intercept)
	put(a, "u", k, d.coef.u)
	put(a, "v", k, d.coef.v)
	put(a, "choice", 1, d.choice.excess[:])
}

func (d *descent) load(s *source, v serving, steps int64) {
	counters := take[int64](s, "descent.counters", 1, descentFields)
	scalars := take[float64](s, "descent.scalars", 1, scalarFields)
	if s.err != nil {
		return
	}
	k, rows := d.head.sums(), 2*d.config.Width*v.blocks
	d.averaged, d.choice.at = counters[descentAveraged] == 1, int(counters[descentChoice])
	d.intercept = take[float64](s, "intercepts", 2, k)
	d.coef = coefficients{
		outputs: k, steps: counters[descentSteps],
		shrink: scalars[scalarShrink], q: scalars[scalarQ], p: scalars[scalarP],
		u: take[float64](s, "u", rows, k), v: take[float64](s, "v", rows, k),
	}
	copy(d.choice.excess[:], take[float64](s, "choice", choiceRows, 1))
	c := &d.coef
	s.want(counters[descentAveraged]>>1 == 0, "averaged is %d", counters[descentAveraged])
	s.want(d.choice.at >= 0 && d.choice.at < choiceRows, "choice at row %d", d.choice.at)
	s.want(c.steps >= 0 && c.steps <= steps && (c.steps == 0) == (v.blocks == 0), "%d steps of %d, %d blocks", c.steps, steps, v.blocks)
	s.want(c.shrink > 0 && c.shrink <= 1 && c.q > 0 && c.q <= 1 && c.p >= 0, "scalars %v, %v, %v", c.shrink, c.q, c.p)
	if s.err != nil {
		return
	}
	d.features = v.bank()
	d.wide = make([]float32, 2*len(c.u))
	c.serve(d.wide)
	_, intercept, coef := d.serving()
	s.want(slices.Equal(intercept, v.intercept) && slices.Equal(coef, v.coef), "not the coefficients of the serving part")
}
