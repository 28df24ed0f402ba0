package mixture

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// rows is the state that every labelled row changes. A Mixture has two of them, because a row is
// predicted with the labels of earlier rows of its batch before any of these is learned.
type rows struct {
	all []float64 // everything below

	weights []float64 // of the rows: their sum, and their number
	labels  []float64 // of each target: decayed weight, mean, variance × weight
	squares []float64 // targets × experts: decayed squared errors
	inner   []Weights // of the experts, for each target
	outer   []Weights // of the mixture and of its stacks
	served  []Weights // of the experts that a scorer has
	stacks  []stack   // targets × stackForgetting
	bins    []calibration
	factor  factor    // of a scorer for classes
	tallies []float64 // targets × (experts + others) × tallyFields
	bounds  []bounds  // of each target of a regression

	combined combined
}

// tallyFields are the columns of tallies.
const (
	tallyLoss         = iota // sums over all rows, weighted
	tallyError               //
	tallyRecentLoss          // decayed
	tallyRecentError         //
	tallyWeight              // of all rows
	tallyRecentWeight        //
	tallyFields
)

// recentForget is the factor of decayed sums for each row: that of newton's mixture.
const recentForget = 0.9994

// layout cuts the parts of rows out of one slice.
func (m *Mixture) layout(theta []float64) *rows {
	g, e := m.targets, m.experts
	inputs := 1 + e
	size := 2 + 3*g + g*e + g*(WeightsSize(e)+WeightsSize(1+len(stackForgetting))+WeightsSize(len(m.static))) +
		g*len(stackForgetting)*stackSize(inputs) + len(m.twins)*2*bins + m.factorSize() + g*(e+others)*tallyFields + m.boundsSize() + m.combinedSize()
	r := &rows{all: make([]float64, size)}
	rest := r.all
	cut := func(n int) []float64 {
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	r.weights, r.labels, r.squares = cut(2), cut(3*g), cut(g*e)
	for j := range g {
		r.inner = append(r.inner, NewWeights(m.prior, cut(WeightsSize(e))))
		r.outer = append(r.outer, NewWeights(outerPrior, cut(WeightsSize(len(outerPrior)))))
		r.served = append(r.served, NewWeights(m.staticPrior, cut(WeightsSize(len(m.static)))))
		for s, f := range stackForgetting {
			at := (j*len(stackForgetting) + s) * inputs
			r.stacks = append(r.stacks, newStack(f, theta[at:at+inputs:at+inputs], cut(stackSize(inputs))))
		}
	}
	for range m.twins {
		r.bins = append(r.bins, newCalibration(cut(2*bins)))
	}
	r.factor = newFactor(m.factor, cut(m.factorSize()))
	r.tallies = cut(g * (e + others) * tallyFields)
	for range m.boundsSize() / boundSize {
		r.bounds = append(r.bounds, newBounds(cut(boundSize)))
	}
	r.combined = m.newCombined(m.combinedBy, rest)
	return r
}

// boundsSize returns the size of the bounds of all targets.
func (m *Mixture) boundsSize() int {
	if m.task == target.Classification {
		return 0
	}
	return m.targets * boundSize
}

// start sets r to what it is before the first row.
func (r *rows) start() {
	clear(r.all)
	for j := range r.inner {
		r.inner[j].Start()
		r.outer[j].Start()
		r.served[j].Start()
	}
	for i := range r.stacks {
		r.stacks[i].start()
	}
	r.combined.start()
}

// check makes s fail unless r can be the result of rows.
func (r *rows) check(s *state.Reader) {
	for _, part := range [][]float64{r.weights, r.squares, r.tallies} {
		for _, v := range part {
			s.Require(v >= 0, "mixture.rows: a sum is %v", v)
		}
	}
	for j := range r.inner {
		s.Require(r.labels[3*j] >= 0 && r.labels[3*j+2] >= 0, "mixture.rows: the labels have the weight %v", r.labels[3*j])
		for _, w := range []*Weights{&r.inner[j], &r.outer[j], &r.served[j]} {
			w.check(s)
		}
	}
	for j := range r.combined.outer {
		r.combined.outer[j].check(s)
	}
	for i := range r.bounds {
		r.bounds[i].check(s)
	}
	for i := range r.bins {
		for b, n := range r.bins[i].rows {
			s.Require(n >= 0 && r.bins[i].hits[b] >= 0, "mixture.rows: a count is %v", n)
		}
	}
}

func (w *Weights) check(s *state.Reader) {
	for _, part := range [][]float64{w.experts, w.copies} {
		for _, v := range part {
			s.Require(v >= leastWeight && v < 2, "mixture.rows: a weight is %v", v)
		}
	}
}

// weigh returns the weight of a row relative to the mean of those so far, and at most 1,
// so that no row counts for more than its loss.
func (r *rows) weigh(weight float64) float64 {
	r.weights[0] = min(r.weights[0]+weight, math.MaxFloat64)
	r.weights[1]++
	return min(1, weight*(r.weights[1]/r.weights[0]))
}

// addLabel adds a number to the decayed moments of target j. An outlier counts as if it were at the
// nearest limit of what is predicted. Outliers among the first labels do not count.
func (r *rows) addLabel(j int, y, weight float64) {
	l := r.labels[3*j : 3*j+3]
	l[0] = float64(l[0]*recentForget) + weight
	b := &r.bounds[j]
	if inliers := b.add(y); inliers != nil {
		l[1], l[2] = 0, 0
		for i, v := range inliers {
			d := v - l[1]
			l[1] += d / float64(i+1)
			l[2] += float64(d * (v - l[1]))
		}
		l[2] = min(l[2]*(l[0]/float64(len(inliers))), math.MaxFloat64)
		return
	}
	lo, hi := b.limits()
	y = max(lo, min(hi, y))
	d := y - l[1]
	l[1] += float64(d * (weight / l[0]))
	l[2] = min(float64(l[2]*recentForget)+float64(weight*max(0, float64(d*(y-l[1])))), math.MaxFloat64)
}
