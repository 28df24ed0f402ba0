// Package deviation measures how far predicted numbers are from the labels as the losses
// count it that do not minimise the squared error: by the pinball loss for a quantile, and
// by the absolute error for the robust losses. Both are in the units of the label.
package deviation

import (
	"fmt"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Figures are means over some rows, and over the targets if there are several. Those that
// do not belong to the loss are nil.
type Figures struct {
	Tau     *float64 `json:"tau,omitempty"`
	Pinball *float64 `json:"pinball,omitempty"` // max(τ(y-f), (1-τ)(f-y)) for label y and prediction f (Koenker and Bassett 1978)
	Below   *float64 `json:"below,omitempty"`   // share of the labels that are not above their prediction, which should be τ
	MAE     *float64 `json:"mae,omitempty"`     // mean absolute error

	Each []Figures `json:"deviation_each,omitempty"` // of each of several targets
}

// Name returns what Value is, and Value the figure that belongs to the loss.
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
	if f.Pinball != nil {
		return fmt.Sprintf("pinball %.4g, %.4f of the labels below", *f.Pinball, *f.Below)
	}
	return fmt.Sprintf("MAE %.4g", *f.MAE)
}

// Meter accumulates predictions and their labels. A nil Meter measures nothing.
type Meter struct {
	tau     float64 // 0 for the absolute error
	weight  float64
	targets []means
}

// means are weighted means over the rows of a target.
type means struct{ deviation, below float64 }

// maxDeviation bounds the deviation of a row, so that the means are finite.
const maxDeviation = 1e300

// Of returns the loss that c names, or nil for auto.
func Of(c learner.Config) loss.Loss {
	l, err := loss.Parse(c.Loss)
	if err != nil {
		return nil
	}
	return l
}

// New returns a Meter for a loss, or nil for one that it has no figures for.
func New(l loss.Loss) *Meter {
	switch l := l.(type) {
	case loss.Quantile:
		return &Meter{tau: l.Tau}
	case loss.Absolute, loss.Huber:
		return &Meter{}
	}
	return nil
}

// Add adds a row with the prediction of each target. It ignores rows without a
// label or a prediction.
func (m *Meter) Add(p []float64, y learner.Label, weight float64) {
	if m == nil || y.Task != learner.Regression || len(p) != y.Targets() {
		return
	}
	if !(weight > 0) {
		return
	}
	if m.targets == nil {
		m.targets = make([]means, len(p))
	}
	weight = min(weight, 1e9) // as the learner bounds it
	m.weight += weight
	share := weight / m.weight
	for j := range m.targets {
		t, v := &m.targets[j], y.At(j)
		d, below := min(max(v-p[j], -maxDeviation), maxDeviation), 0.0
		if d <= 0 {
			below = 1
		}
		l := max(d, -d)
		if m.tau > 0 {
			l = max(m.tau*d, (m.tau-1)*d)
		}
		t.deviation += (l - t.deviation) * share
		t.below += (below - t.below) * share
	}
}

// Figures returns the figures of the rows so far, and nil if there are none.
func (m *Meter) Figures() *Figures {
	if m == nil || m.targets == nil {
		return nil
	}
	var sum means
	n := float64(len(m.targets))
	for _, t := range m.targets {
		sum.deviation += t.deviation / n
		sum.below += t.below / n
	}
	f := m.figures(sum)
	if len(m.targets) > 1 {
		for _, t := range m.targets {
			f.Each = append(f.Each, m.figures(t))
		}
	}
	return &f
}

func (m *Meter) figures(t means) Figures {
	if m.tau > 0 {
		return Figures{Tau: &m.tau, Pinball: &t.deviation, Below: &t.below}
	}
	return Figures{MAE: &t.deviation}
}
