package encode

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// opening returns rows of a category that has four values in the first rows, and thirty later.
func opening(first, rows int) (x, weights []float64, labels []target.Label) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range rows {
		v := rng.IntN(4)
		if i >= first {
			v = rng.IntN(30)
		}
		x, weights = append(x, missingAt(v == 7, Key(uint64(v)<<40))), append(weights, rng.Float64())
		labels = append(labels, target.RegressionLabel([]float64{50 + 9*rng.NormFloat64(), float64(v%7) + rng.NormFloat64()}))
	}
	return x, weights, labels
}

func TestLateStatisticsAreTheirDefinition(t *testing.T) {
	const first, rows = 200, 600
	x, weights, labels := opening(first, rows)
	types := []Type{Category}
	plan := NewOpenPlan(types, x[:first], labels[:first], target.Regression)
	e := plan.Start()
	got := e.Rows(x[:first], labels[:first], weights[:first])
	if e.Moves() {
		t.Error("an encoding moves without late values")
	}
	got = append(got, reload(t, e, 1).Rows(x[first:], labels[first:], weights[first:])...)
	a := plan.prior.credibility(&plan.columns[0], x[:first], 1, labels[:first])
	var deviations [2]float64
	for j := range deviations {
		y := make([]float64, first)
		for i := range y {
			y[i] = labels[i].At(j)
		}
		y = target.Inliers(y)
		mean := 0.0
		for _, v := range y {
			mean += v / float64(len(y))
		}
		for _, v := range y {
			deviations[j] += (v - mean) * (v - mean) / float64(len(y))
		}
		deviations[j] = math.Sqrt(deviations[j])
	}
	known := x[:first:first]
	var values []float64 // in the order in which they came
	for _, v := range known {
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	for i := range x {
		want := make([]float64, len(values)+3)
		if at := slices.Index(values, x[i]); at >= 0 {
			want[at] = 1
		} else {
			want[len(values)] = 1
			var n, total float64
			var sum, totalSum [2]float64
			for k := range i {
				total += weights[k]
				same := keyOf(x[k]) == keyOf(x[i])
				if same {
					n += weights[k]
				}
				for j := range 2 {
					totalSum[j] += weights[k] * labels[k].At(j)
					if same {
						sum[j] += weights[k] * labels[k].At(j)
					}
				}
			}
			for j := range 2 {
				mean := totalSum[j] / total
				want[len(values)+1+j] = ((sum[j]+a[j]*mean)/(n+a[j]) - mean) / deviations[j]
			}
		}
		for k, w := range want {
			if v := got[i*len(want)+k]; math.Abs(v-w) > 1e-9 {
				t.Fatalf("row %d: %v, want %v", i, got[i*len(want):(i+1)*len(want)], want)
			}
		}
	}
}

// The window of a refit encodes late values as the model saw them.
func TestWindowEncodesLateValuesAsTheModelSawThem(t *testing.T) {
	const first, from, rows = 200, 320, 600
	x, weights, labels := opening(first, rows)
	types := []Type{Category}
	plan := NewOpenPlan(types, x[:first], labels[:first], target.Regression)
	model := plan.Start()
	want := model.Rows(x, labels, weights)[from*plan.Width():]
	got, unknown := model.Window(x[from:], labels[from:], weights[from:], 0)
	if !model.Moves() || unknown != nil {
		t.Errorf("the encoding moves: %v, unknown rows: %v", model.Moves(), unknown)
	}
	for i, v := range want {
		if math.Abs(got[i]-v) > 1e-9 {
			t.Fatalf("value %d is %v, want %v", i, got[i], v)
		}
	}
}

// The columns of all categories together are bounded, and the first targets get them.
func TestLateColumnsAreBounded(t *testing.T) {
	for _, test := range []struct{ categories, classes, want int }{
		{1, 2, 1}, {1, 5, 5}, {4, 5, 4}, {16, 2, 1}, {17, 2, 0}, {8, 3, 2}, {1, 40, maxTargets},
	} {
		var x []float64
		types := slices.Repeat([]Type{Category}, test.categories)
		labels := make([]target.Label, 80)
		for i := range labels {
			labels[i] = target.Label{Task: target.Classification, Class: i % test.classes}
			x = append(x, slices.Repeat([]float64{float64(i % 3)}, test.categories)...)
		}
		e := NewOpenPlan(types, x, labels, target.Classification)
		for j := range e.columns {
			if got := e.WidthOf(j) - 4; got != test.want {
				t.Errorf("%d categories, %d classes: a category has %d columns for late values, want %d", test.categories, test.classes, got, test.want)
			}
		}
	}
}

// A column without a value in the first rows becomes what its later values are, whenever their type
// is told.
func TestAwaitedColumnsGetValues(t *testing.T) {
	const first, rows = 50, 200
	labels, weights := make([]target.Label, rows), make([]float64, rows)
	for i := range labels {
		labels[i], weights[i] = target.RegressionLabel([]float64{float64(i % 5)}), 1
	}
	for _, test := range []struct {
		typ   Type
		holds int
		want  func(got []float64, v float64) bool
	}{
		{Numeric, holdsNumbers, func(got []float64, v float64) bool { return got[0] == 1 && got[1] == v }},
		{Boolean, holdsNumbers, func(got []float64, v float64) bool { return got[0] == 1 && got[1] == v }},
		{Category, holdsCategories, func(got []float64, v float64) bool { return got[0] == 1 && math.Abs(got[1]) < 2 }},
		{Time, holdsOther, func(got []float64, v float64) bool { return got[0] == 1 && got[1] == 0 }},
	} {
		var x []float64
		for i := range rows {
			x = append(x, missingAt(i < first+30 || i%4 == 0, float64(i%5)))
		}
		encoded := func(settled int) []float64 {
			unknown := []Type{Unknown}
			e := NewOpenPlan(unknown, x[:first], labels[:first], target.Regression)
			e = e.Start()
			early := []float64{9, 9}
			if e.Apply(early, []float64{3}); early[0] != 0 || early[1] != 0 {
				t.Errorf("a value of no type becomes %v", early)
			}
			out := e.Rows(x[:settled], labels[:settled], weights[:settled])
			if e.Settle(unknown); !e.Awaits() {
				t.Errorf("%v: an unknown type is known", test.typ)
			}
			e.Settle([]Type{test.typ})
			if e.Awaits() || e.columns[0].holds() != test.holds {
				t.Errorf("%v: the column holds %d, want %d", test.typ, e.columns[0].holds(), test.holds)
			}
			e.Settle([]Type{Text}) // is too late
			e = reload(t, e, 1)
			out = append(out, e.Rows(x[settled:], labels[settled:], weights[settled:])...)
			if n, want := len(e.columns[0].table.keys), map[bool]int{true: 5}[test.typ == Category]; n != want {
				t.Errorf("%v: there are statistics of %d values, want %d", test.typ, n, want)
			}
			return out
		}
		got := encoded(first)
		if !same(got, encoded(first+30)) {
			t.Errorf("%v: rows are encoded otherwise if the type is known later", test.typ)
		}
		differ := map[float64]bool{}
		for i, v := range x {
			row := got[2*i : 2*i+2]
			if !(v == v && test.want(row, v) || v != v && row[0] == 0 && row[1] == 0) {
				t.Fatalf("%v, row %d: %v becomes %v", test.typ, i, v, row)
			}
			differ[row[1]] = true
		}
		if n := len(differ); test.typ == Category && n < 5 {
			t.Errorf("the statistics of five values have %d values", n)
		}
	}
}

func TestTheTypeOfAnAwaitedColumnIsItsOwn(t *testing.T) {
	x, labels := []float64{math.NaN(), math.NaN()}, make([]target.Label, 1)
	types := []Type{Unknown, Unknown}
	plan := NewOpenPlan(types, x, labels, target.Classification)
	e := plan.Start()
	if e.Settle([]Type{Numeric, Unknown}); e.columns[1].holds() != holdsNothing || !e.Awaits() {
		t.Error("a column without a value is no longer awaited")
	}
	if plan.columns[0].holds() != holdsNothing {
		t.Error("the plan of a fit changes with the rows of one model")
	}
	if e.Settle(nil); e.Awaits() {
		t.Error("a column of numbers is awaited")
	}
}

func TestLateParametersAreChecked(t *testing.T) {
	x, types, labels, _ := all(target.Classification)
	for _, spoil := range []func(p []float64) []float64{
		func(p []float64) []float64 { return nil },
		func(p []float64) []float64 { return append(p, 5) },
		func(p []float64) []float64 { return p[:len(p)-1] },
		func(p []float64) []float64 { return append(p, slices.Repeat([]float64{1, 5}, maxTargets)...) },
		func(p []float64) []float64 { p[0] = 0.5; return p },
		func(p []float64) []float64 { p[0] = 100; return p },
		func(p []float64) []float64 { p[0] = math.NaN(); return p },
		func(p []float64) []float64 { p[len(p)-1] = math.NaN(); return p },
		func(p []float64) []float64 { p[len(p)-1] = 0; return p },
		func(p []float64) []float64 { p[len(p)-2] = 0; return p },
		func(p []float64) []float64 { p[len(p)-2] = math.Inf(1); return p },
	} {
		for j := range types {
			e := NewOpenPlan(types, x, labels, target.Classification)
			c := &e.columns[j]
			if c.kind != asOpen && c.kind != asAwaited {
				continue
			}
			c.parameters = spoil(slices.Clone(c.parameters))
			var a state.Arrays
			e.Start().Save(&a)
			s := &state.Reader{In: a}
			if Load(s, len(types)); s.End() == nil {
				t.Errorf("%s with the parameters %v is read", c.encoder().name, c.parameters)
			}
		}
	}
}

func TestFewMissingValuesThatTellAreIndicated(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, test := range []struct {
		missing int
		shift   float64
		task    target.Task
		want    string
	}{
		{8, 4, target.Regression, "indicated"}, {8, 0, target.Regression, "imputed"}, {3, 4, target.Regression, "imputed"},
		{8, 4, target.Classification, "indicated"}, {8, 0, target.Classification, "imputed"}, {60, 0, target.Regression, "indicated"},
	} {
		const rows = 1000
		x, labels := make([]float64, rows), make([]target.Label, rows)
		for i := range x {
			missing := i%(rows/test.missing) == 0 && i/(rows/test.missing) < test.missing
			x[i] = missingAt(missing, rng.NormFloat64())
			y := rng.NormFloat64()
			if missing {
				y += test.shift
			}
			labels[i] = target.Label{Task: test.task, Value: y}
			if test.task == target.Classification {
				labels[i] = target.Label{Task: test.task, Class: int(min(2, max(0, math.Round(y))))}
			}
		}
		e := NewOpenPlan([]Type{Normal}, x, labels, test.task)
		if got, want := e.columns[0].encoder().name, map[string]string{"imputed": "normal", "indicated": "normal, indicated"}[test.want]; got != want {
			t.Errorf("%d missing values of 1,000, labels %v larger by %v: normal scores are %s, want %s", test.missing, test.task, test.shift, got, want)
		}
		e = NewOpenPlan([]Type{Numeric}, x, labels, test.task)
		if got := e.columns[0].encoder().name; got != test.want {
			t.Errorf("%d missing values of 1,000, labels %v larger by %v: the column is %s, want %s", test.missing, test.task, test.shift, got, test.want)
		}
	}
}

// With more classes than targets, all classes have statistics of their own: those of random halves of
// the classes.
func TestManyClassesDiffer(t *testing.T) {
	const classes = 60
	x, labels, weights := []float64{}, []target.Label{}, []float64{}
	for i := range 20 * classes {
		x, weights = append(x, float64(i%classes)), append(weights, 1)
		labels = append(labels, target.Label{Task: target.Classification, Class: i % classes})
	}
	e := NewOpenPlan([]Type{Category}, x, labels, target.Classification).Start()
	half := len(labels) / 2
	e.Rows(x[:half], labels[:half], weights[:half])
	e = reload(t, e, 1)
	rows, w := e.Rows(x[half:], labels[half:], weights[half:]), e.Width()
	for a := range classes {
		for b := range a {
			distance := 0.0
			for k := range maxTargets {
				d := rows[a*w+k] - rows[b*w+k]
				distance += d * d
			}
			if distance < 0.1 {
				t.Errorf("the statistics of classes %d and %d have the squared distance %v", a, b, distance)
			}
		}
	}
	var members [maxTargets]int
	for c := range classes {
		for k := range members {
			members[k] += int(e.prior.target(&target.Label{Class: c}, k))
		}
	}
	for k, n := range members {
		if n < classes/4 || n > 3*classes/4 {
			t.Errorf("half %d has %d of %d classes", k, n, classes)
		}
	}
	few := NewOpenPlan([]Type{Category}, x[:maxTargets], labels[:maxTargets], target.Classification)
	for c := range maxTargets {
		for k := range maxTargets {
			if got := few.prior.target(&labels[c], k); (got == 1) != (c == k) {
				t.Fatalf("of few classes, target %d of class %d is %v", k, c, got)
			}
		}
	}
}

// How many values that come later are kept is bounded, and so is the number of columns that are
// awaited.
func TestLateValuesAreBounded(t *testing.T) {
	plan := func(types Type) *Encoding {
		x := slices.Repeat([]float64{1, 2}, 50)
		return NewOpenPlan([]Type{types}, x, make([]target.Label, len(x)), target.Classification).Start()
	}
	e, y := plan(Category), &target.Label{Task: target.Classification}
	for i := range 3 * lateEntries {
		e.Learn([]float64{float64(10 + i)}, y, 1)
		if i%128 == 127 {
			if e.Bound(); len(e.columns[0].table.keys) > lateEntries {
				t.Fatalf("%d late values after %d rows", len(e.columns[0].table.keys), i)
			}
		}
	}
	if late, all := e.Bytes(), plan(Decayed(9)).Bytes(); lateEntries*all != maxEntries*late {
		t.Errorf("late values take %d bytes, and %d times as many take %d", late, maxEntries/lateEntries, all)
	}
	for i := range lateEntries {
		e.Learn([]float64{float64(10*lateEntries + i)}, y, 1)
	}
	var a state.Arrays
	e.Save(&a)
	s := &state.Reader{In: a}
	if Load(s, 1); s.End() == nil {
		t.Errorf("%d late values are read", len(e.columns[0].table.keys))
	}

	types := append(slices.Repeat([]Type{Unknown}, mostLate+5), Decayed(7), Numeric)
	var x []float64
	for range 50 {
		x = append(append(x, slices.Repeat([]float64{math.NaN()}, len(types)-1)...), 1)
	}
	few := NewOpenPlan(slices.Concat([]Type{Decayed(7)}, types[1:]), x, make([]target.Label, 50), target.Classification)
	kinds := map[string]int{}
	for j := range few.columns {
		kinds[few.columns[j].encoder().name]++
	}
	if kinds["awaited"] != mostLate-1 || kinds["decayed"] != 1 || kinds["absent"] != 6 {
		t.Errorf("of %d columns without values, these many are %v", len(types)-1, kinds)
	}
}

func TestDeviationsAreWithoutOutliers(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	labels := make([]target.Label, 500)
	for i := range labels {
		labels[i] = target.RegressionLabel([]float64{5 + 2*rng.NormFloat64()})
	}
	labels[9].Value = 1e9
	p := newPrior(labels, target.Regression)
	if d := p.deviations(labels)[0]; d < 1.8 || d > 2.2 {
		t.Errorf("the deviation is %v, want 2", d)
	}
	for _, y := range [][]float64{{3, 3, 3}, {1e300, -1e300}, {1e-320, 0}, {}} {
		if d := p.deviation(y); !(d > 0) || math.IsInf(d, 0) {
			t.Errorf("the deviation of %v is %v", y, d)
		}
	}
}

func TestKindsOfTargetsAreChecked(t *testing.T) {
	x, types, labels, _ := all(target.Classification)
	e := NewOpenPlan(types, x, labels, target.Classification).Start()
	e.prior.groups = true // of three classes
	var a state.Arrays
	e.Save(&a)
	s := &state.Reader{In: a}
	if Load(s, len(types)); s.End() == nil {
		t.Error("random halves of few classes are read")
	}
}
