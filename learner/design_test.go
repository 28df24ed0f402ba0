package learner

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestServingPartsComeBack has models of all kinds give what they were made of.
func TestServingPartsComeBack(t *testing.T) {
	for _, c := range []Config{
		{Algorithm: "all", MaxFeatures: 64, Kernel: "gaussian:2"},
		{Algorithm: "dsg", MaxFeatures: 64, Kernel: "gaussian:2", Seed: 7, Task: Regression},
		{Algorithm: "newton", MaxFeatures: 128, Kernel: "gaussian:2"},
		{Algorithm: "ridge", MaxFeatures: 64, Kernel: "gaussian:2", BlockSize: 16},
		{Algorithm: "all", MaxFeatures: 128, BlockSize: 64, Kernel: "gaussian:8", Sampling: "sorf"},
	} {
		l, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 0))
		b := new(Batch)
		b.Reset(64)
		for i := range 200 {
			x := make([]float64, 64)
			for j := range x {
				x[j] = r.NormFloat64()
			}
			y := Label{Task: Classification, Class: i % 3}
			if c.Task == Regression {
				y = Label{Task: Regression, Value: x[0] + 5}
			}
			b.Append(x, y, 1)
		}
		for from := 0; from < b.Len(); {
			p := l.Predict(b.Slice(from, b.Len()))
			from += p.Len()
			l.Learn(p)
		}
		want := l.State().Serving
		m, err := NewModel(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Serving(); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: the serving part is another one", c)
		}
		coef, intercept := m.Coefficients()
		same, err := m.With(m.Loss(), coef, intercept)
		if err != nil || !reflect.DeepEqual(same.Serving(), want) {
			t.Errorf("%+v: a model with its own coefficients is another one: %v", c, err)
		}
		d, err := m.Design(b, 0)
		if err != nil || d.Rows != 200 || len(d.X) != 200*64 || len(d.Targets) != 200*d.Scores || !(d.Penalty() > 0) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestPenaltyGoesByTheWeights adds rows of noise, which ask for a stronger penalty
// unless they have no weight.
func TestPenaltyGoesByTheWeights(t *testing.T) {
	l, err := New(Config{Algorithm: "all", MaxFeatures: 64, Kernel: "gaussian:1", Task: Regression})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 0))
	rows := func(noise float64) *Batch { // of which every second is of noise
		b := new(Batch)
		b.Reset(2)
		for i := range 600 {
			x := []float64{r.NormFloat64(), r.NormFloat64()}
			y, weight := math.Sin(3*x[0])*x[1], 1.0
			if i%2 == 1 {
				y, weight = 5*r.NormFloat64(), noise
			}
			b.Append(x, Label{Task: Regression, Value: y}, weight)
		}
		return b
	}
	for b, from := rows(0), 0; from < b.Len(); {
		p := l.Predict(b.Slice(from, b.Len()))
		from += p.Len()
		l.Learn(p)
	}
	m, err := NewModel(l.State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	choice := func(noise float64) float64 {
		d, err := m.Design(rows(noise), 0)
		if err != nil {
			t.Fatal(err)
		}
		return d.Penalty()
	}
	if none, little, all := choice(0), choice(1e-6), choice(1); max(none, little) > 1e-4 || all < 1e-1 {
		t.Errorf("the penalty is %v without the rows of noise, %v with little weight and %v with the weight 1", none, little, all)
	}
}

// A Design has the statistics of categories as the rows were seen: a category without
// meaning tells nothing of a row's own label. Were the label counted, or taken out of
// the statistics of all rows, a linear function of the statistic would find it.
func TestDesignDoesNotGiveLabelsAway(t *testing.T) {
	l, err := New(Config{Algorithm: "newton", MaxFeatures: 64, Kernel: "gaussian:2", Task: Regression})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(2, 0))
	b := new(Batch)
	b.Reset(2)
	for range 2010 {
		b.Append([]float64{Category(uint64(r.IntN(200)) << 20), r.NormFloat64()}, Label{Task: Regression, Value: r.NormFloat64()}, 1)
	}
	b.SetTypes([]ColumnType{CategoryColumn, NumericColumn})
	for from := 0; from < b.Len(); {
		p := l.Predict(b.Slice(from, b.Len()))
		from += p.Len()
		l.Learn(p)
	}
	s := l.State()
	if l.Pending() != 2010%32 || s.Pending() != l.Pending() {
		t.Errorf("%d rows are pending, %d by the state, want %d", l.Pending(), s.Pending(), 2010%32)
	}
	m, err := NewModel(s.Serving)
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Design(b.Slice(1000, b.Len()), l.Pending())
	if err != nil {
		t.Fatal(err)
	}
	width := len(d.X) / d.Rows
	var xy, xx, yy float64
	for i := range d.Rows {
		x, y := float64(d.X[i*width]), d.Targets[i]
		xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
	}
	if c := xy / math.Sqrt(xx*yy); math.Abs(c) > 0.1 || xx == 0 {
		t.Errorf("the statistic of the category has a correlation of %.2f with the labels", c)
	}
}
