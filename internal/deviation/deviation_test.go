package deviation

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
)

func number(v ...float64) learner.Label {
	return learner.Label{Task: learner.Regression, Value: v[0], More: v[1:]}
}

// one returns the predictions of a row.
func one(p ...float64) *learner.Predictions {
	return &learner.Predictions{Task: learner.Regression, Size: len(p), Values: p}
}

// Those of several quantiles are those of each, and the share of the rows that crossed.
func TestFiguresOfSeveralQuantiles(t *testing.T) {
	q, err := loss.NewQuantiles(0.2, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	r, all := rand.New(rand.NewPCG(1, 2)), New(q)
	var each [2]*Meter
	for i, l := range q.Each() {
		each[i] = New(l)
	}
	weight, crossed := 0.0, 0.0
	for i := range 300 {
		p, y, w := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}, number(r.NormFloat64(), r.NormFloat64()), float64(i%3)
		row := one(p...)
		row.Crossed = []bool{i%7 == 0}
		all.AddRow(row, 0, y, w)
		for j, m := range each {
			m.Add([]float64{p[j], p[2+j]}, y, w)
		}
		weight += w
		if i%7 == 0 {
			crossed += w
		}
	}
	f := all.Figures()
	if len(f.Quantiles) != 2 || len(f.Each) != 2 || f.Tau != nil || f.Below != nil || math.Abs(*f.Crossed-crossed/weight) > 1e-12 {
		t.Fatalf("%+v, want %v crossed", f, crossed/weight)
	}
	for j, m := range each {
		want := m.Figures()
		if got := f.Quantiles[j]; *got.Tau != *want.Tau || *got.Pinball != *want.Pinball || *got.Below != *want.Below || *f.Each[1].Quantiles[j].Below != *want.Each[1].Below {
			t.Errorf("quantile %v: %+v, want %+v", *want.Tau, got, want)
		}
	}
	before, row := *f.Crossed, one(0, 0, 0, 0)
	row.Crossed = []bool{true}
	all.AddRow(row, 0, number(0, 0), 1000)
	if *f.Crossed != before {
		t.Errorf("figures change with further rows: %v crossed, %v before", *f.Crossed, before)
	}
	if want := (*f.Quantiles[0].Pinball + *f.Quantiles[1].Pinball) / 2; math.Abs(f.Value()-want) > 1e-12 || f.Name() != "pinball" {
		t.Errorf("%s %v, want %v", f.Name(), f.Value(), want)
	}
}

// The figures are those of the loss on the predictions, weighted.
func TestFiguresAreThoseOfTheLoss(t *testing.T) {
	for _, l := range []loss.Loss{loss.Quantile{Tau: 0.2}, loss.Absolute{Epsilon: 0.3}, loss.Huber{Delta: 1}} {
		r := rand.New(rand.NewPCG(1, 2))
		m := New(l)
		m.Add(nil, number(0, 0), 1)
		m.Add([]float64{1, 2}, learner.Label{}, 1)
		var weight, below float64
		var sums [2]float64
		graded := l
		if _, ok := l.(loss.Quantile); !ok {
			graded = loss.Absolute{}
		}
		for i := range 500 {
			p, y, w := []float64{r.NormFloat64(), 10 * r.NormFloat64()}, []float64{r.NormFloat64(), 10 * r.NormFloat64()}, float64(i%3)
			m.Add(p, number(y...), w)
			weight += w
			for j := range p {
				sums[j] += w * graded.Value(p[j:j+1], y[j])
				if y[j] <= p[j] {
					below += w / 2
				}
			}
		}
		f := m.Figures()
		if f.Name() == "pinball" {
			if *f.Tau != 0.2 || f.MAE != nil || math.Abs(*f.Below-below/weight) > 1e-12 || len(f.Each) != 2 {
				t.Errorf("%v: %+v, want %v below", l, f, below/weight)
			}
		} else if f.Tau != nil || f.Below != nil || f.Pinball != nil {
			t.Errorf("%v: %+v", l, f)
		}
		for j, sum := range sums {
			if got, want := f.Each[j].Value(), sum/weight; math.Abs(got-want) > 1e-12*want {
				t.Errorf("%v, target %d: %s %v, want %v", l, j, f.Name(), got, want)
			}
		}
		if want := (sums[0] + sums[1]) / weight / 2; math.Abs(f.Value()-want) > 1e-12*want {
			t.Errorf("%v: %s %v, want %v", l, f.Name(), f.Value(), want)
		}
	}
}

func TestLossesWithoutFigures(t *testing.T) {
	for _, l := range []loss.Loss{nil, loss.Square{}, loss.Hinge{}, loss.Poisson{}} {
		m, r := New(l), NewRecent(l)
		m.Add([]float64{1}, number(2), 1)
		r.AddRow(one(1), 0, number(2), 1)
		if m.Figures() != nil || r.Figures() != nil {
			t.Errorf("%v has figures", l)
		}
	}
	if l := Of(learner.Config{Loss: "auto"}); l != nil {
		t.Errorf("auto is %v", l)
	}
}

func TestExtremeLabelsHaveFiniteFigures(t *testing.T) {
	m := New(loss.Quantile{Tau: 0.9})
	for _, y := range []float64{math.MaxFloat64, -math.MaxFloat64, 0} {
		m.Add([]float64{-1e150}, number(y), 1)
	}
	if v := m.Figures().Value(); math.IsInf(v, 0) || math.IsNaN(v) {
		t.Error(v)
	}
}

// Recent forgets rows after 10,000 to 20,000 more.
func TestRecentFiguresForget(t *testing.T) {
	r := NewRecent(loss.Absolute{})
	for i := range 3 * ranking.RecentRows {
		r.AddRow(one(0), 0, number(float64(i/ranking.RecentRows)), 1)
	}
	if v := r.Figures().Value(); math.Abs(v-1.5) > 1e-9 {
		t.Errorf("mean absolute error %v, want 1.5", v)
	}
}
