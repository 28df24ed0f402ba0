package encode

import "github.com/accrete-ml/accrete/learner/internal/target"

const (
	// smoothing is the weight of the prior mean in the statistics of a category that has no
	// credibility. Chosen by trial, see docs/constants.md.
	smoothing = 10

	// leastCredibility and mostCredibility bound the weight of the prior mean that is estimated
	// from the first rows. Chosen by trial, see docs/constants.md.
	leastCredibility, mostCredibility = 1, 100
)

// Credit chooses the weight of the prior mean in the statistics of each category by the first
// rows x and their labels.
func (e *Encoding) Credit(x []float64, labels []target.Label) {
	if e == nil {
		return
	}
	for j := range e.columns {
		if c := &e.columns[j]; c.counts() {
			c.parameters = append(c.parameters, e.prior.credibility(c, x[j:], len(e.columns), labels)...)
		}
	}
}

// credibility returns, for each target, the weight a of the prior mean in the statistics of a
// category with the values x[0], x[stride], and so on. It is the variance of the target within the
// values, divided by the variance of their means: then (S + a·p)/(n + a) is the best linear
// estimate of the mean of a value (Bühlmann and Straub 1970). Both variances are estimated as in
// that paper, for rows of equal weight, and without bias. Outliers among the targets of a
// regression are moved to the nearest end of the range of the others.
func (p *prior) credibility(c *column, x []float64, stride int, labels []target.Label) []float64 {
	a := make([]float64, len(p.sums))
	y := make([]float64, len(labels))
	for k := range a {
		for i := range labels {
			y[i] = p.target(&labels[i], k)
		}
		p.clamp(y)
		within, between := variances(c, x, stride, y)
		if a[k] = mostCredibility; within < mostCredibility*between {
			a[k] = max(leastCredibility, within/between)
		}
	}
	return a
}

// clamp moves outliers among the labels y of a target to the ends of the range of the others.
func (p *prior) clamp(y []float64) {
	if p.classes {
		return
	}
	lo, hi := target.InlierRange(y)
	for i, v := range y {
		y[i] = max(lo, min(hi, v))
	}
}

// variances returns the estimated variance of y within the values of a category, and that between
// the means of the values. There is no estimate if each value has a single row, or if there is only
// one value; the ratio of the two results is then smoothing.
func variances(c *column, x []float64, stride int, y []float64) (within, between float64) {
	t := newTable(1)
	n, mean := float64(len(y)), 0.0
	for _, v := range y {
		mean += v / n
	}
	all := 0.0
	for i, v := range y {
		e := t.entry(t.at(c.key(x[i*stride]), 0))
		e[0]++
		e[1] += v - mean
		all += float64((v - mean) * (v - mean))
	}
	explained, squares, values := 0.0, 0.0, float64(len(t.keys))
	for i := range t.keys {
		e := t.entry(i)
		explained += float64(e[1]*e[1]) / e[0]
		squares += float64(e[0] * e[0])
	}
	if n-values < 1 || values < 2 {
		return smoothing, 1
	}
	within = (all - explained) / (n - values)
	return within, (explained - float64((values-1)*within)) / (n - squares/n)
}

// shrinkage returns the weight of the prior mean of target k in the statistics of c.
func (c *column) shrinkage(k int) float64 {
	own := c.ownParameters()
	if len(c.parameters) == own {
		return smoothing
	}
	return c.parameters[own+k]
}

// ownParameters returns the number of parameters of c before its credibilities.
func (c *column) ownParameters() int {
	switch c.kind {
	case asDecayed, asOrdered:
		return 1
	case asCoded:
		return 2
	}
	return 0
}

// credible reports whether the number of parameters of c is valid for statistics of that many
// targets: a column with statistics ends with one credibility for each target, or has none. Late
// statistics may be those of the first targets only.
func (c *column) credible(targets int) bool {
	if !c.counts() {
		return c.late() <= targets
	}
	n := len(c.parameters) - c.ownParameters()
	return n == 0 || n == targets
}

// credibilities reports whether parameters may be credibilities.
func credibilities(parameters []float64) bool {
	for _, a := range parameters {
		if !(a >= leastCredibility && a <= mostCredibility) {
			return false
		}
	}
	return true
}
