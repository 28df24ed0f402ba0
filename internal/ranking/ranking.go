// Package ranking measures how well a classifier finds a class, in particular a rare class, for
// which the error rate says little.
package ranking

import (
	"cmp"
	"slices"
)

const (
	maxExact   = 1 << 20 // rows that an exact Meter keeps: 24 MiB, and as much again while it sorts them
	maxCurves  = 64      // classes for which a Meter has histograms: 4 MiB
	rareShare  = 0.2     // see Figures.Imbalanced
	maxClasses = 1 << 16
)

// Figures describe the predictions for some rows. With two classes, they are the figures of the
// rarer one, or of the second if both are equally frequent. With more, they are means over all
// classes that occur, each against the rest.
type Figures struct {
	Class         *int    `json:"-"` // the rarer of two classes; nil with more
	Classes       int     `json:"-"` // number of classes that occur
	Share         float64 `json:"-"` // share of the rarer class
	F1            float64 `json:"f1"`
	BalancedError float64 `json:"balanced_error"` // share of wrong predictions, averaged over the classes

	LogLoss          float64 `json:"log_loss"`          // mean of -log(probability of the class)
	CalibrationError float64 `json:"calibration_error"` // expected calibration error, 15 bins

	Each []ClassFigures `json:"each_class,omitempty"` // for each class, in their order; nil with more than 64

	// Mean costs of a prediction, and of predicting the most probable class; nil without costs of
	// classes.
	MeanCost     *float64 `json:"mean_cost,omitempty"`
	ProbableCost *float64 `json:"mean_cost_most_probable,omitempty"`

	*Curve // nil with more than 64 classes
}

// ClassFigures describe the predictions for one class.
type ClassFigures struct {
	Class     string   `json:"class,omitempty"`     // its name, for a report
	Recall    *float64 `json:"recall,omitempty"`    // nil for a class that does not occur
	Precision *float64 `json:"precision,omitempty"` // nil for a class that is not predicted
}

// Imbalanced reports whether one of two classes has less than 20 % of the rows.
func (f *Figures) Imbalanced() bool { return f != nil && f.Class != nil && f.Share < rareShare }

// Meter accumulates predictions. If it was created as exact, it is exact for the first 1,048,576
// rows of two classes. Otherwise it keeps two histograms of 4,096 buckets for each of at most 64
// classes. These are exact at the edges of the buckets, which are 0.8 to 1.6 % of the odds apart.
// The AUC deviates by at most half the share of the pairs of rows in the same bucket, and F1 and
// recall are those of the best edge.
type Meter struct {
	exact   bool
	rows    []row // while exact
	classes []tally
	total   float64
	costs   costs
	calibration
}

// costs are sums of the weights of rows, of the costs of their predicted classes, and of the costs
// that their most probable classes would have had.
type costs struct{ weight, paid, probable float64 }

type row struct {
	odds, weight float64 // odds of class 1
	class        int
}

// tally holds the weights of the rows of a class.
type tally struct {
	rows, found, right float64   // rows of the class, rows predicted as the class, and rows that are both
	in, out            []float64 // weights by bucket of rows in the class and of others; nil while exact
}

// New returns a Meter without rows.
func New(exact bool) *Meter { return &Meter{exact: exact} }

// Add adds a row: the probabilities of the classes known so far, the predicted class, and the true
// class, which may be new.
func (m *Meter) Add(p []float64, predicted, class int, weight float64) {
	if !(weight > 0) || class < 0 || class >= maxClasses || predicted < 0 || predicted >= max(len(p), 1) {
		return
	}
	weight = min(weight, 1e9) // the learner has the same bound
	m.grow(max(len(p), class+1))
	m.total += weight
	m.calibration.add(p, class, weight)
	c := &m.classes[class]
	c.rows += weight
	m.classes[predicted].found += weight
	if predicted == class {
		c.right += weight
	}
	if m.exact {
		m.rows = append(m.rows, row{odds(p, 1), weight, class})
		if len(m.rows) == maxExact {
			m.spill()
		}
		return
	}
	for j := range m.curves() {
		m.classes[j].add(odds(p, j), weight, class == j)
	}
}

// curves returns the number of classes that have histograms.
func (m *Meter) curves() int {
	if len(m.classes) > maxCurves {
		return 0
	}
	return len(m.classes)
}

// grow makes room for n classes. New classes count as having had the probability 0 until now.
func (m *Meter) grow(n int) {
	if n > 2 && m.exact {
		m.spill()
	}
	for j := len(m.classes); j < n; j++ {
		m.classes = append(m.classes, tally{})
		if c := &m.classes[j]; !m.exact && j < maxCurves {
			c.histogram()
			c.out[0] = m.total
		}
	}
	if len(m.classes) > maxCurves {
		for j := range min(maxCurves, len(m.classes)) {
			m.classes[j].in, m.classes[j].out = nil, nil
		}
	}
}

func (t *tally) histogram() { t.in, t.out = make([]float64, Buckets), make([]float64, Buckets) }

func (t *tally) add(odds, weight float64, in bool) {
	if in {
		t.in[Bucket(odds)] += weight
	} else {
		t.out[Bucket(odds)] += weight
	}
}

// spill puts the exact rows into histograms.
func (m *Meter) spill() {
	m.exact = false
	for j := range m.classes {
		m.classes[j].histogram()
		for _, r := range m.rows {
			o := r.odds
			if j == 0 {
				o = 1 / o
			}
			m.classes[j].add(o, r.weight, r.class == j)
		}
	}
	m.rows = nil
}

// odds returns the odds of class j.
func odds(p []float64, j int) float64 {
	switch {
	case j >= len(p):
		return 0
	case len(p) == 2:
		return p[j] / p[1-j]
	}
	return p[j] / max(0, 1-p[j])
}

// AddCost adds the cost of the prediction for a row, and the cost that its most probable class
// would have had.
func (m *Meter) AddCost(paid, probable, weight float64) {
	m.costs.weight += weight
	m.costs.paid += float64(weight * paid)
	m.costs.probable += float64(weight * probable)
}

// Figures returns the figures for the rows so far, including the recall at the given precision. It
// returns nil unless at least two classes occur.
func (m *Meter) Figures(precision float64) *Figures {
	f := Figures{Share: 1}
	rarest, errors, f1 := 0, 0.0, 0.0
	for j, c := range m.classes {
		if c.rows == 0 {
			continue
		}
		f.Classes++
		errors += 1 - c.right/c.rows
		f1 += F1(c.right, c.found-c.right, c.rows-c.right)
		if share := c.rows / m.total; share <= f.Share {
			f.Share, rarest = share, j
		}
	}
	if f.Classes < 2 {
		return nil
	}
	f.LogLoss, f.CalibrationError = m.loss/m.total, m.error(m.total)
	if len(m.classes) <= maxCurves {
		f.Each = m.each()
	}
	n := float64(f.Classes)
	f.F1, f.BalancedError = f1/n, errors/n
	if c := m.costs; c.weight > 0 {
		paid, probable := c.paid/c.weight, c.probable/c.weight
		f.MeanCost, f.ProbableCost = &paid, &probable
	}
	if len(m.classes) == 2 {
		c := m.classes[rarest]
		f.Class, f.F1 = &rarest, F1(c.right, c.found-c.right, c.rows-c.right)
		one := m.curve(rarest, precision)
		f.Curve = &one
	} else if m.curves() > 0 {
		f.Curve = m.mean(precision, n)
	}
	return &f
}

// each returns the figures for each class.
func (m *Meter) each() []ClassFigures {
	all := make([]ClassFigures, len(m.classes))
	for j, c := range m.classes {
		if c.rows > 0 {
			recall := c.right / c.rows
			all[j].Recall = &recall
		}
		if c.found > 0 {
			precision := c.right / c.found
			all[j].Precision = &precision
		}
	}
	return all
}

// mean returns the mean of the curves of the n classes that occur.
func (m *Meter) mean(precision, n float64) *Curve {
	mean := Curve{Precision: precision}
	for j, c := range m.classes {
		if c.rows > 0 {
			one := m.curve(j, precision)
			mean.AUC += one.AUC / n
			mean.PRAUC += one.PRAUC / n
			mean.BestF1 += one.BestF1 / n
			mean.Recall += one.Recall / n
		}
	}
	return &mean
}

// curve returns the curve of a class.
func (m *Meter) curve(class int, precision float64) Curve {
	c := m.classes[class]
	if !m.exact {
		at := func(i int) point {
			b := Buckets - 1 - i
			return point{Edge(b), c.in[b], c.out[b]}
		}
		return curve(Buckets, at, c.rows, m.total-c.rows, precision)
	}
	points := make([]point, 0, len(m.rows))
	for _, r := range m.rows {
		p := point{r.odds, r.weight, 0}
		if class == 0 {
			p.odds = 1 / p.odds
		}
		if r.class != class {
			p.in, p.out = 0, r.weight
		}
		points = append(points, p)
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(b.odds, a.odds) })
	merged := points[:0]
	for _, p := range points {
		if k := len(merged) - 1; k >= 0 && merged[k].odds == p.odds {
			merged[k].in, merged[k].out = merged[k].in+p.in, merged[k].out+p.out
		} else {
			merged = append(merged, p)
		}
	}
	at := func(i int) point { return merged[i] }
	return curve(len(merged), at, c.rows, m.total-c.rows, precision)
}
