// Package deviation measures how far predicted numbers are from the labels, for losses other than
// the squared error: by the pinball loss for quantiles, and by the absolute error for robust
// losses. Both are in the units of the label.
package deviation

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Figures are means over some rows, and over the targets if there are several. Fields that do not
// belong to the loss are nil.
type Figures struct {
	Tau     *float64 `json:"tau,omitempty"`
	Pinball *float64 `json:"pinball,omitempty"` // max(τ(y-f), (1-τ)(f-y)) for label y and prediction f (Koenker and Bassett 1978)
	Below   *float64 `json:"below,omitempty"`   // share of the labels that are at most their prediction; should be τ
	MAE     *float64 `json:"mae,omitempty"`     // mean absolute error

	Quantiles []Figures `json:"quantiles,omitempty"` // for each level, if there are several; Pinball is their mean
	Crossed   *float64  `json:"crossed,omitempty"`   // share of the rows with crossing quantiles, before they are sorted

	Each []Figures `json:"deviation_each,omitempty"` // for each target, if there are several
}

// Name returns the name of the figure that belongs to the loss. Value returns that figure.
func (f *Figures) Name() string {
	if f.Pinball != nil {
		return "pinball"
	}
	return "MAE"
}

func (f *Figures) Value() float64 {
	if f.Pinball != nil {
		return *f.Pinball
	}
	return *f.MAE
}

// Text returns the figures for a report.
func (f *Figures) Text() string {
	if f.Pinball != nil && f.Below != nil {
		return fmt.Sprintf("pinball %.4g, %.4f of the labels below", *f.Pinball, *f.Below)
	}
	if f.Pinball != nil {
		var below, taus []string
		for _, q := range f.Quantiles {
			below, taus = append(below, fmt.Sprintf("%.4f", *q.Below)), append(taus, fmt.Sprint(*q.Tau))
		}
		return fmt.Sprintf("pinball %.4g, %s of the labels below (%s), %.4f crossed", *f.Pinball, strings.Join(below, " "), strings.Join(taus, " "), *f.Crossed)
	}
	return fmt.Sprintf("MAE %.4g", *f.MAE)
}

// Meter accumulates predictions and their labels. A nil Meter measures nothing.
type Meter struct {
	taus    []float64 // levels of the values of a target; nil for the absolute error
	weight  float64
	crossed float64 // weighted share of the rows with crossing quantiles
	values  []means // for each value of a prediction
}

// means are weighted means over the rows.
type means struct{ deviation, below float64 }

// maxDeviation bounds the deviation of a row, so that the means are finite.
const maxDeviation = 1e300

// Of returns the loss that c names, or nil for the default loss.
func Of(c learner.Config) loss.Loss {
	l, err := loss.Parse(c.Loss)
	if err != nil {
		return nil
	}
	return l
}

// New returns a Meter for a loss, or nil for a loss without figures.
func New(l loss.Loss) *Meter {
	switch l := l.(type) {
	case loss.Quantile:
		return &Meter{taus: []float64{l.Tau}}
	case loss.Quantiles:
		return &Meter{taus: l.Taus()}
	case loss.Absolute, loss.Huber:
		return &Meter{}
	}
	return nil
}

// each returns the number of values of a target.
func (m *Meter) each() int { return max(1, len(m.taus)) }

// AddRow is Add for row i of p. It also counts whether the quantiles of the row cross.
func (m *Meter) AddRow(p *learner.Predictions, i int, y learner.Label, weight float64) {
	if m == nil {
		return
	}
	m.Add(p.Row(i), y, weight)
	if len(p.Crossed) == 0 || m.values == nil || !(weight > 0) {
		return
	}
	crossed := 0.0
	if p.Crossed[i] {
		crossed = 1
	}
	m.crossed += (crossed - m.crossed) * min(weight, mostWeight) / m.weight
}

// mostWeight bounds weights like the learner does.
const mostWeight = 1e9

// Add adds a row, given the prediction for each target, or for each quantile of each target. It
// ignores rows without a label or a prediction.
func (m *Meter) Add(p []float64, y learner.Label, weight float64) {
	if m == nil || y.Task != learner.Regression || len(p) != y.Targets()*m.each() {
		return
	}
	if !(weight > 0) {
		return
	}
	if m.values == nil {
		m.values = make([]means, len(p))
	}
	weight = min(weight, mostWeight)
	m.weight += weight
	share := weight / m.weight
	for j := range m.values {
		t, v := &m.values[j], y.At(j/m.each())
		d, below := min(max(v-p[j], -maxDeviation), maxDeviation), 0.0
		if d <= 0 {
			below = 1
		}
		l := max(d, -d)
		if m.taus != nil {
			tau := m.taus[j%len(m.taus)]
			l = max(tau*d, (tau-1)*d)
		}
		t.deviation += (l - t.deviation) * share
		t.below += (below - t.below) * share
	}
}

// Figures returns the figures for the rows so far, or nil if there are none.
func (m *Meter) Figures() *Figures {
	if m == nil || m.values == nil {
		return nil
	}
	f, each := m.figures(m.values), m.each()
	if targets := len(m.values) / each; targets > 1 {
		for j := range targets {
			f.Each = append(f.Each, m.figures(m.values[j*each:(j+1)*each]))
		}
	}
	if each > 1 {
		crossed := m.crossed
		f.Crossed = &crossed
	}
	return &f
}

// figures returns the figures for the values of some targets.
func (m *Meter) figures(of []means) Figures {
	if m.taus == nil {
		return Figures{MAE: &mean(of, 0, 1).deviation}
	}
	var f Figures
	for i := range m.taus {
		t := mean(of, i, len(m.taus))
		f.Quantiles = append(f.Quantiles, Figures{Tau: &m.taus[i], Pinball: &t.deviation, Below: &t.below})
	}
	if len(m.taus) == 1 {
		return f.Quantiles[0]
	}
	f.Pinball = &mean(of, 0, 1).deviation
	return f
}

// mean returns the mean of every step-th element of values, starting with index from.
func mean(values []means, from, step int) *means {
	var sum means
	n := float64(len(values) / step)
	for i := from; i < len(values); i += step {
		sum.deviation += values[i].deviation / n
		sum.below += values[i].below / n
	}
	return &sum
}
