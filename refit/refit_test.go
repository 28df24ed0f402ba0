package refit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// rings returns labelled rows of two numbers, of the given number of classes by their
// distance from 0, or of the wavy number that they are regressed on if classes
// is 0.
func rings(rows, classes int) *learner.Batch {
	r := rand.New(rand.NewPCG(3, uint64(classes)))
	b := new(learner.Batch)
	b.Reset(2)
	for range rows {
		x := []float64{r.NormFloat64(), r.NormFloat64()}
		y := learner.Label{Task: learner.Regression, Value: 7 + 3*math.Sin(2*x[0]) + x[1] + 0.3*r.NormFloat64()}
		if classes > 0 {
			far := math.Hypot(x[0], x[1]) + 0.1*r.NormFloat64()
			y = learner.Label{Task: learner.Classification, Class: min(classes-1, max(0, int(far*1.7)))}
		}
		b.Append(x, y, 1)
	}
	return b
}

// learned is the model of one pass over b.
func learned(t *testing.T, c learner.Config, b *learner.Batch) *learner.Model {
	t.Helper()
	l, err := learner.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < b.Len(); {
		pass := l.Predict(b.Slice(from, b.Len()))
		from += pass.Len()
		l.Learn(pass)
	}
	m, err := learner.NewModel(l.State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wrong is how far the predictions of m are off: the share of wrong classes, or
// the mean squared error.
func wrong(m *learner.Model, b *learner.Batch) float64 {
	p, sum := m.Predict(b), 0.0
	for i := range b.Len() {
		switch y := b.Label(i); {
		case y.Task == learner.Regression:
			sum += (p.Row(i)[0] - y.Value) * (p.Row(i)[0] - y.Value)
		case learner.Best(p.Row(i)) != y.Class:
			sum++
		}
	}
	return sum / float64(b.Len())
}

var refitCases = []struct {
	name    string
	classes int
	c       learner.Config
}{
	{"square", 0, learner.Config{}},
	{"logistic", 2, learner.Config{}},
	{"smoothed hinge", 2, learner.Config{Loss: "smoothed-hinge"}},
	{"smoothed hinge of three", 3, learner.Config{Loss: "smoothed-hinge"}},
	{"softmax", 3, learner.Config{}},
	{"newton", 2, learner.Config{Algorithm: "newton"}},
	{"ridge", 3, learner.Config{Algorithm: "ridge"}},
}

// TestRefittedModelIsCertified compares what a refit says of the model that it
// returns, and of the one before, with an optimum to seven digits.
func TestRefittedModelIsCertified(t *testing.T) {
	for _, test := range refitCases {
		rows, check := rings(700, test.classes), rings(1700, test.classes)
		check = check.Slice(700, 1700)
		if test.c.Algorithm == "" {
			test.c.Algorithm = "all"
		}
		test.c.MaxFeatures = 64
		m := learned(t, test.c, rows)
		o := Options{Lambda: 1e-4}
		if test.classes == 0 {
			o.Lambda = 0 // leave-one-out chooses
		}
		r, err := Solve(context.Background(), m, rows, o)
		if err != nil || !r.Fit.Reached || r.Fit.Relative > 1e-3 || r.Rows != 700 || r.Features != 128 {
			t.Fatalf("%s: %+v, %v", test.name, r, err)
		}
		best, err := Solve(context.Background(), m, rows, Options{Lambda: r.Lambda, Relative: 1e-7, Passes: 5000})
		if err != nil || !best.Fit.Reached {
			t.Fatalf("%s: %+v, %v", test.name, best.Fit, err)
		}
		if above := r.Fit.Primal - best.Fit.Dual; above > r.Fit.Gap()+1e-6 || r.Fit.Gap() < -1e-12 {
			t.Errorf("%s: %v above the optimum, certified %v", test.name, above, r.Fit.Gap())
		}
		if test.name == "softmax" && (r.Loss != "softmax" || r.Fit.Passes == 0) {
			t.Errorf("softmax is solved for as %v in %v passes", r.Loss, r.Fit.Passes)
		}
		if r.Comparable {
			if above := r.Fit.StartPrimal - best.Fit.Primal; above > r.Fit.Suboptimality+1e-6 || above <= 0 {
				t.Errorf("%s: the model before was %v above the optimum, certified %v", test.name, above, r.Fit.Suboptimality)
			}
		}
		if !r.Comparable || r.Model.Loss() != m.Loss() {
			t.Errorf("%s: loss %v became %v, comparable %v", test.name, m.Loss(), r.Model.Loss(), r.Comparable)
		}
		if before, after := wrong(m, check), wrong(r.Model, check); after > before+0.01 {
			t.Errorf("%s: an error of %v became %v", test.name, before, after)
		}
		again, err := Solve(context.Background(), m, rows, o)
		if err != nil || !slices.Equal(again.Fit.Coefficients, r.Fit.Coefficients) {
			t.Errorf("%s: another refit has other bits", test.name)
		}
	}
}

// TestRefitTakesTheWeightsOfTheRows: rows of the weight 2 are as good as rows that
// are there twice, to the model that comes out and to what is said of the one before.
func TestRefitTakesTheWeightsOfTheRows(t *testing.T) {
	rows := rings(600, 2)
	weighted, repeated := new(learner.Batch), new(learner.Batch)
	weighted.Reset(2)
	repeated.Reset(2)
	for i := range rows.Len() {
		times := 1 + i%3
		weighted.Append(rows.X(i), rows.Label(i), 2*float64(times))
		for range times {
			repeated.Append(rows.X(i), rows.Label(i), 1)
		}
	}
	m := learned(t, learner.Config{Algorithm: "all", MaxFeatures: 64}, rows)
	o := Options{Lambda: 1e-4, Relative: 1e-7, Passes: 5000}
	got, err := Solve(context.Background(), m, weighted, o)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Solve(context.Background(), m, repeated, o)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Fit.StartPrimal-want.Fit.StartPrimal) > 1e-12 || math.Abs(got.Fit.Primal-want.Fit.Primal) > 1e-7 || !got.Fit.Reached {
		t.Errorf("objective %v, before %v; repeated %v, before %v", got.Fit.Primal, got.Fit.StartPrimal, want.Fit.Primal, want.Fit.StartPrimal)
	}
	p, q := got.Model.Predict(rows), want.Model.Predict(rows)
	for i, v := range p.Values {
		if math.Abs(v-q.Values[i]) > 1e-2 {
			t.Fatalf("prediction %v, repeated %v", v, q.Values[i])
		}
	}
	none := new(learner.Batch)
	none.Reset(2)
	for i := range 9 {
		none.Append(rows.X(i), rows.Label(i), 0)
	}
	if _, err := Solve(context.Background(), m, none, o); !errors.Is(err, ErrUnfit) {
		t.Errorf("rows of no weight: %v", err)
	}
}

// TestRefittedModelIsWhatWasSolved holds the predictions of the model that comes
// out against features and coefficients.
func TestRefittedModelIsWhatWasSolved(t *testing.T) {
	rows := rings(800, 0)
	m := learned(t, learner.Config{Algorithm: "all", MaxFeatures: 64}, rows)
	r, err := Solve(context.Background(), m, rows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	served, err := learner.NewModel(r.Model.Serving())
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Design(rows, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, p := features(d.Bank, d.Blocks, d.X, interceptFeature), served.Predict(rows)
	mean, deviation := 0.0, 0.0
	for i := range rows.Len() { // the first 64 to 800 rows settle the units: read them off two targets
		if d.Targets[i] != d.Targets[0] {
			deviation = (rows.Label(i).Value - rows.Label(0).Value) / (d.Targets[i] - d.Targets[0])
			mean = rows.Label(0).Value - deviation*d.Targets[0]
			break
		}
	}
	for i := range rows.Len() {
		if want := mean + deviation*a.Dot(i, r.Fit.Coefficients); math.Abs(p.Row(i)[0]-want) > 1e-4 {
			t.Fatalf("row %d is %v, want %v", i, p.Row(i)[0], want)
		}
	}
}

func TestSomeModelsHaveNoRefit(t *testing.T) {
	ctx := context.Background()
	rows := rings(600, 2)
	for _, loss := range []string{"hinge", "squared-hinge"} {
		m := learned(t, learner.Config{Algorithm: "dsg", Loss: loss, MaxFeatures: 64}, rows)
		if _, err := Solve(ctx, m, rows, Options{}); !errors.Is(err, ErrUnfit) {
			t.Errorf("%s: error %v", loss, err)
		}
	}
	c := learner.Config{Algorithm: "dsg", MaxFeatures: 64}
	if _, err := Solve(ctx, learned(t, c, rows.Slice(0, 30)), rows, Options{}); !errors.Is(err, ErrUnfit) {
		t.Errorf("30 rows: error %v", err)
	}
	m := learned(t, c, rows)
	if _, err := Solve(ctx, m, rows.Slice(0, 1), Options{}); !errors.Is(err, ErrUnfit) {
		t.Errorf("one row: error %v", err)
	}
	if _, err := Solve(ctx, m, rings(100, 3), Options{}); err == nil {
		t.Error("no error for a class that the model does not know")
	}
}

// TestOptionsAreChecked: an option that is out of range is refused by its name.
func TestOptionsAreChecked(t *testing.T) {
	rows := rings(300, 2)
	m := learned(t, learner.Config{Algorithm: "all", MaxFeatures: 32}, rows)
	for want, o := range map[string]Options{
		"Options.Lambda is -1":                  {Lambda: -1},
		"Options.Lambda is NaN":                 {Lambda: math.NaN()},
		"Options.Lambda is +Inf":                {Lambda: math.Inf(1)},
		"Options.Relative is NaN":               {Relative: math.NaN()},
		"Options.Relative is -0.1":              {Relative: -0.1},
		"Options.Passes is -1":                  {Passes: -1},
		"Options.Pending is -5":                 {Pending: -5},
		"Options.Pending is 301: want 0 to 300": {Pending: 301},
	} {
		if _, err := Solve(t.Context(), m, rows, o); !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: the error is %v, want one of %q", o, err, want)
		}
	}
	if _, err := Solve(t.Context(), m, rows, Options{Pending: 300}); err != nil {
		t.Error(err)
	}
}
