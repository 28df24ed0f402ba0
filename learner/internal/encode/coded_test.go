package encode

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// coding returns rows of three columns of whole numbers: codes, on which the labels depend; numbers,
// on which they depend smoothly; and others on which they do not. Some codes are missing.
func coding(rows int, task target.Task) (x []float64, labels []target.Label) {
	rng := rand.New(rand.NewPCG(8, 9))
	for range rows {
		code, smooth := rng.IntN(60), rng.IntN(60)
		v := float64(code*17%10)/3 + math.Sin(float64(smooth)/15) + 0.3*rng.NormFloat64()
		x = append(x, missingAt(rng.IntN(80) == 0, float64(code*code-900)), float64(smooth), float64(rng.IntN(60)))
		y := target.RegressionLabel([]float64{v})
		if task == target.Classification {
			y = target.Label{Task: task, Class: int(max(0, min(2, v)))}
		}
		labels = append(labels, y)
	}
	return x, labels
}

func TestNumbersThatAreCodesBecomeCategories(t *testing.T) {
	for _, task := range []target.Task{target.Regression, target.Classification} {
		x, labels := coding(800, task)
		e := NewOpenPlan(make([]Type, 3), x, labels, task)
		for j, want := range []string{"coded", "number", "number"} {
			if got := e.columns[j].encoder().name; got != want {
				t.Errorf("%v: column %d is encoded as %s, want %s", task, j, got, want)
			}
		}
		labels[5].Value = 1e9 // an outlier
		if e := NewOpenPlan(make([]Type, 3), x, labels, task); e.columns[0].kind != asCoded {
			t.Errorf("%v: with an outlier, codes are numbers", task)
		}
		if few := NewOpenPlan(make([]Type, 3), x[:3*(codeRows-1)], labels[:codeRows-1], task); few.columns[0].kind == asCoded {
			t.Errorf("%v: there are codes among few rows", task)
		}
	}
}

func TestNumbersThatAreNoCodesStayNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	const rows = 1000
	for name, of := range map[string]func(i int) (v, y float64){
		"noise":              func(int) (v, y float64) { return float64(rng.IntN(40)), rng.NormFloat64() },
		"a line":             func(int) (v, y float64) { v = float64(rng.IntN(100)); return v, v + 5*rng.NormFloat64() },
		"a steep line":       func(int) (v, y float64) { v = float64(rng.IntN(300)); return v, v },
		"a step":             func(int) (v, y float64) { v = float64(rng.IntN(100)); return v, math.Floor(v / 50) },
		"values that differ": func(i int) (v, y float64) { return float64(i * 7919 % 1009), rng.NormFloat64() },
		"fractions": func(int) (v, y float64) {
			v = float64(rng.IntN(40))
			return v + 0.5, math.Mod(v*17, 10)
		},
		"few values": func(int) (v, y float64) { v = float64(rng.IntN(maxOneHot)); return v, math.Mod(v*17, 10) },
		"mostly zeros": func(i int) (v, y float64) {
			if i%10 == 0 {
				v = float64(1 + rng.IntN(40))
			}
			return v, 3*min(v, 1) + rng.NormFloat64()
		},
		"values of fewer than two rows each": func(i int) (v, y float64) {
			if v = float64(i % 620); i >= 620 {
				v = float64(i - 620)
			}
			return v, math.Mod(v*17, 10)
		},
		"codes in few rows": func(i int) (v, y float64) {
			if i%5 > 1 {
				return 0, rng.NormFloat64()
			}
			v = float64(rng.IntN(40))
			return v, math.Mod(v*17, 10)
		},
		"missing values": func(int) (v, y float64) { return math.NaN(), rng.NormFloat64() },
		"equal labels":   func(int) (v, y float64) { return float64(rng.IntN(40)), 5 },
		"large values":   func(int) (v, y float64) { return math.Inf(1 - 2*rng.IntN(2)), rng.NormFloat64() },
	} {
		x, labels := make([]float64, rows), make([]target.Label, rows)
		for i := range x {
			var y float64
			x[i], y = of(i)
			labels[i] = target.RegressionLabel([]float64{y})
		}
		p := newPrior(labels, target.Regression)
		if r := p.codes(x, 1, labels); r < codeGain || math.IsNaN(r) {
			t.Errorf("%s: numbers are codes, with an error of %.3f", name, r)
		}
	}
}

// A code becomes the number, and what the statistics of a category of the same values are.
func TestCodesAreNumbersAndCategories(t *testing.T) {
	x, labels := coding(800, target.Regression)
	weights := slices.Repeat([]float64{1.5}, len(labels))
	plan := NewOpenPlan(make([]Type, 3), x, labels, target.Regression)
	plan.Credit(x, labels)
	plan.Order()
	w := plan.Width()
	half := plan.Start()
	got := half.Rows(x[:900], labels[:300], weights[:300])
	got = append(got, reload(t, half, 3).Rows(x[900:], labels[300:], weights[300:])...)
	column := make([]float64, len(labels))
	for i := range column {
		column[i] = float64(plan.columns[0].key(x[3*i]))
		if x[3*i] != x[3*i] {
			column[i] = math.NaN()
		}
	}
	as := NewPlan([]Type{Category}, column, labels, target.Regression)
	as.Credit(column, labels)
	as.Order()
	want, n := as.Start().Rows(column, labels, weights), as.Width()
	if w != n+3 || n != 2+randomOrders {
		t.Fatalf("a code becomes %d columns, a category %d", w-2, n)
	}
	for i := range labels {
		if v := x[3*i]; v == v && got[i*w] != v || v != v && got[i*w] != plan.columns[0].parameters[0] {
			t.Fatalf("row %d: %v becomes the number %v", i, v, got[i*w])
		}
		if row := got[i*w+1 : i*w+1+n]; !slices.Equal(row, want[i*n:(i+1)*n]) {
			t.Fatalf("row %d: %v becomes %v, want %v", i, x[3*i], row, want[i*n:(i+1)*n])
		}
	}
	trees := slices.Collect(plan.ForTrees)
	if !slices.Equal(trees, []int{3, 4, 5}) {
		t.Errorf("the columns %v are for trees alone", trees)
	}
	keys := map[int64]bool{}
	for v := -5000.0; v < 5000; v++ {
		keys[plan.columns[0].key(v)] = true
	}
	if len(keys) != 10_000 || plan.columns[0].key(math.Copysign(0, -1)) != plan.columns[0].key(0) {
		t.Errorf("10,000 numbers have %d keys", len(keys))
	}
}

func TestCodeParametersAreChecked(t *testing.T) {
	x, labels := coding(800, target.Regression)
	for _, p := range [][]float64{nil, {1}, {math.NaN(), 1}, {math.Inf(1), 1}, {1, 0.5}, {1, -1}, {1, randomOrders + 1}, {1, 1, 5, 5}, {1, 1, 1000}} {
		e := NewOpenPlan(make([]Type, 3), x, labels, target.Regression)
		e.columns[0].parameters = p
		var a state.Arrays
		e.Save(&a)
		s := &state.Reader{In: a}
		if Load(s, 3); s.End() == nil {
			t.Errorf("the parameters %v are read", p)
		}
	}
}

// The columns that are codes most clearly are taken for codes.
func TestFewColumnsAreCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 15))
	const rows, columns = 1500, mostCodes + 2
	var x []float64
	labels := make([]target.Label, rows)
	for i := range labels {
		code := rng.IntN(40)
		for j := range columns {
			if rng.IntN(40) < columns-j { // the last columns have the fewest errors
				x = append(x, float64(rng.IntN(40)))
			} else {
				x = append(x, float64(code))
			}
		}
		labels[i] = target.RegressionLabel([]float64{float64(code * 7 % 11)})
	}
	p := newPrior(labels, target.Regression)
	e := NewOpenPlan(make([]Type, columns), x, labels, target.Regression)
	for j := range columns {
		if r := p.codes(x[j:], columns, labels); r >= codeGain {
			t.Errorf("column %d is no code, with an error of %.3f", j, r)
		}
		if got, want := e.columns[j].kind == asCoded, j >= columns-mostCodes; got != want {
			t.Errorf("column %d of %d is a code: %v", j, columns, got)
		}
	}
}

// The window of a refit encodes codes as the model saw them.
func TestWindowEncodesCodesAsTheModelSawThem(t *testing.T) {
	const from = 500
	x, labels := coding(800, target.Regression)
	weights := slices.Repeat([]float64{1}, len(labels))
	model := NewOpenPlan(make([]Type, 3), x, labels, target.Regression).Start()
	want := model.Rows(x, labels, weights)[from*model.Width():]
	got, _ := model.Window(x[3*from:], labels[from:], weights[from:], 0)
	for i, v := range want {
		if math.Abs(got[i]-v) > 1e-9 {
			t.Fatalf("value %d is %v, want %v", i, got[i], v)
		}
	}
}

// Whether numbers are counted or compared, rows are in the order of a stable sort.
func TestCodesAreSortedStably(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, 300} {
		for _, span := range []int{1, 20, 299, 300, 301, 1 << 40} {
			all := make([]valued, n)
			for i := range all {
				all[i] = valued{float64(rng.IntN(span) - span/3), i}
			}
			want := slices.Clone(all)
			slices.SortStableFunc(want, func(a, b valued) int { return cmp.Compare(a.value, b.value) })
			if got := sorted(slices.Clone(all)); !slices.Equal(got, want) {
				t.Errorf("%d numbers of %d: %v, want %v", n, span, got, want)
			}
		}
	}
}
