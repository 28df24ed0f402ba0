package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner"
)

// measure computes an error of a learner.
type measure interface {
	// see is called for each row with its label, before it is learned. y is 1 for a novelty.
	see(p *learner.PredictedBatch, i int, label learner.Label, y float64)
	// result returns the error.
	result(l *learner.Learner) float64
}

// progressive is the progressive error.
type progressive struct{}

func newProgressive() measure { return progressive{} }

func (progressive) see(*learner.PredictedBatch, int, learner.Label, float64) {}

func (progressive) result(l *learner.Learner) float64 { return l.Progress().Whole.Model.Error }

// linear is the progressive error of the linear baseline.
type linear struct{ progressive }

func newLinear() measure { return linear{} }

func (linear) result(l *learner.Learner) float64 { return l.Progress().Whole.Linear.Error }

// served is the error of the predictions of a scorer that receives the model after each batch.
type served struct{ sum, n float64 }

func newServed() measure { return new(served) }

func (m *served) see(p *learner.PredictedBatch, i int, label learner.Label, _ float64) {
	row := p.Scorer.Row(i)
	switch {
	case len(row) == 0:
		return
	case label.Task == learner.Regression:
		m.sum += (row[0] - label.Value) * (row[0] - label.Value)
	case learner.Best(row) != label.Class:
		m.sum++
	}
	m.n++
}

func (m *served) result(*learner.Learner) float64 { return m.sum / m.n }

// calibrated is the logarithmic loss of the predictions of classes by a scorer.
type calibrated struct{ sum, n float64 }

func newCalibrated() measure { return new(calibrated) }

func (m *calibrated) see(p *learner.PredictedBatch, i int, label learner.Label, _ float64) {
	const least = 1e-6 // bounds the loss of a row, for example of one with a new class
	row, probability := p.Scorer.Row(i), 0.0
	if len(row) == 0 {
		return
	}
	if label.Class < len(row) {
		probability = row[label.Class]
	}
	m.sum -= math.Log(max(least, probability))
	m.n++
}

func (m *calibrated) result(*learner.Learner) float64 { return m.sum / m.n }

// missed is 1 minus the F1 of the class with y = 1, for the classes that the rule of the learner
// chooses.
type missed struct {
	rare               int // index of the class; -1 before its first row
	right, found, have float64
}

func newMissed() measure { return &missed{rare: -1} }

func (m *missed) see(p *learner.PredictedBatch, i int, label learner.Label, y float64) {
	if y == 1 {
		m.rare = label.Class
		m.have++
	}
	if row := p.Row(i); m.rare >= 0 && len(row) > 0 && p.Decision.Class(row) == m.rare {
		m.found++
		if y == 1 {
			m.right++
		}
	}
}

func (m *missed) result(*learner.Learner) float64 { return 1 - 2*m.right/(m.found+m.have) }

// coverage is the share of the labels that intervals should contain.
const coverage = 0.9

// intervals is the mean interval score (Gneiting and Raftery 2007, section 6.2). It combines the
// width of an interval and the distance by which the label is outside. If there are no intervals,
// it uses those of normal distributions with the predicted variances.
type intervals struct{ sum, n float64 }

func newIntervals() measure { return new(intervals) }

func (m *intervals) see(p *learner.PredictedBatch, i int, _ learner.Label, y float64) {
	const quantile = 1.6448536269514722 // quantile of the normal distribution for coverage
	u := p.Uncertainty(i)
	if len(p.Row(i)) == 0 || !u.Valid() && !u.HasVariance() {
		return
	}
	v := p.Row(i)[0]
	var low, high float64
	if u.Valid() {
		low, high = u.Bounds(v, 0)
	} else {
		d := quantile * math.Sqrt(u.Variance(0))
		low, high = v-d, v+d
	}
	m.add(low, high, y)
}

// add adds the score of an interval for a label.
func (m *intervals) add(low, high, y float64) {
	m.sum += high - low + 2/(1-coverage)*(max(0, low-y)+max(0, y-high))
	m.n++
}

func (m *intervals) result(*learner.Learner) float64 { return m.sum / m.n }

// conformal is the mean interval score of learner.Conformal, applied to the predicted variances.
type conformal struct {
	intervals
	radius learner.Conformal
}

func newConformal() measure { return new(conformal) }

func (m *conformal) see(p *learner.PredictedBatch, i int, _ learner.Label, y float64) {
	u := p.Uncertainty(i)
	if len(p.Row(i)) == 0 || !u.HasVariance() {
		return
	}
	v, deviation := p.Row(i)[0], math.Sqrt(u.Variance(0))
	m.add(v-m.radius.Radius*deviation, v+m.radius.Radius*deviation, y)
	m.radius.Add(math.Abs(y-v) / deviation)
}

// novelty is 1 minus the area under the ROC curve of the scores.
type novelty struct{ rows []scored }

type scored struct{ score, y float64 }

func newNovelty() measure { return new(novelty) }

func (m *novelty) see(p *learner.PredictedBatch, i int, _ learner.Label, y float64) {
	if r := p.Row(i); len(r) > 0 {
		m.rows = append(m.rows, scored{r[0], y})
	}
}

func (m *novelty) result(*learner.Learner) float64 {
	slices.SortFunc(m.rows, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	novel, before, wrong := 0.0, 0.0, 0.0 // wrong counts the pairs in which the novelty has the lower score
	for _, r := range m.rows {
		if r.y == 1 {
			novel++
		} else {
			before++
			wrong += novel
		}
	}
	return wrong / (novel * before)
}

// flagged is the absolute difference between the share of flagged rows and nu, averaged over
// stretches.
type flagged struct{ sum, n, stretches, total float64 }

func newFlagged() measure { return new(flagged) }

func (m *flagged) see(p *learner.PredictedBatch, i int, _ learner.Label, _ float64) {
	const stretch = 250
	if len(p.Row(i)) == 0 {
		return
	}
	if m.n++; learner.Novel(p.Row(i)) {
		m.sum++
	}
	if m.n == stretch {
		m.total += math.Abs(m.sum/m.n - nu)
		m.stretches++
		m.sum, m.n = 0, 0
	}
}

func (m *flagged) result(*learner.Learner) float64 { return m.total / m.stretches }
