package encode

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// texts returns rows of a text with two groups of keys, the first with up to 9 n-grams of which the
// labels depend on, and the second with others; and a missing text.
func texts(rows int, task target.Task) (x []float64, types []Type, labels []target.Label, weights []float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	types = append(slices.Repeat([]Type{Text}, 3), slices.Repeat([]Type{Gram}, 2*TextKeys)...)
	types = append(types, Numeric)
	for i := range rows {
		row := make([]float64, len(types))
		score := 0
		for n := range rng.IntN(10) {
			key := n*20 + rng.IntN(20)
			row[3+n], row[3+TextKeys+n] = Key(uint64(key+1)<<40), Key(uint64(n*30+rng.IntN(30)+1)<<40)
			score += 1 - 2*(key*7%13%2)
		}
		if i%17 == 16 {
			for j := range row[:len(row)-1] {
				row[j] = math.NaN()
			}
		}
		x = append(x, row...)
		y := target.Label{Task: task, Value: float64(score) + rng.NormFloat64()}
		if task != target.Regression {
			y = target.Label{Task: task, Class: max(0, min(2, score+1))}
		}
		labels, weights = append(labels, y), append(weights, 0.5+rng.Float64())
	}
	return x, types, labels, weights
}

// The columns of a text are the statistics of each group of n-grams, by sums over the rows before.
func TestStatisticsOfGramsAreOfTheRowsBefore(t *testing.T) {
	for _, task := range []target.Task{target.Classification, target.Regression} {
		x, types, labels, weights := texts(300, task)
		e := NewPlan(types, x, labels, task)
		d, targets := len(types), len(e.prior.sums)
		if e.Width() != 2*targets+1 {
			t.Fatalf("%v: %d columns", task, e.Width())
		}
		got := e.Rows(x, labels, weights)
		for i := range labels {
			for group := range 2 {
				for k := range targets {
					want := plainGrams(&e.prior, x[:i*d], x[i*d:(i+1)*d], labels, weights, d, 3+group*TextKeys, k)
					if v := got[i*e.Width()+group*targets+k]; math.Abs(v-want) > 1e-9*max(1, math.Abs(want)) {
						t.Fatalf("%v: row %d, group %d, target %d is %v, want %v", task, i, group, k, v, want)
					}
				}
			}
		}
	}
}

// plainGrams returns the statistic of target k for a row, of the n-grams in the TextKeys columns from
// first on, by the rows x before it.
func plainGrams(p *prior, x, row []float64, labels []target.Label, weights []float64, d, first, k int) float64 {
	all, total := 0.0, 0.0
	for i := range len(x) / d {
		all, total = all+weights[i], total+weights[i]*p.target(&labels[i], k)
	}
	sum, known := 0.0, 0.0
	for _, key := range row[first : first+TextKeys] {
		n, s := 0.0, 0.0
		for i := range len(x) / d {
			if slices.Contains(x[i*d+first:i*d+first+TextKeys], key) {
				n, s = n+weights[i], s+weights[i]*p.target(&labels[i], k)
			}
		}
		if key > 0 && n > 0 {
			mean, said := total/all, (s-n*total/all)/(n+gramSmoothing)
			if p.classes {
				mean = max(rarestShare, min(1-rarestShare, mean))
				said = math.Log((s+gramSmoothing*mean)/(n-s+gramSmoothing*(1-mean))) - math.Log(mean/(1-mean))
			}
			sum, known = sum+said, known+1
		}
	}
	return sum / math.Sqrt(max(1, known))
}

// The statistics by hand: three rows with n-gram 7, of which one also has 9, and a row without any. The
// prior weight is part of what a model has learned.
func TestStatisticsOfGramsAreTheirDefinition(t *testing.T) {
	keys := [][]float64{{7, 0}, {7, 9}, {7, 0}, {0, 0}}
	for _, test := range []struct {
		task     target.Task
		of7, of9 float64
	}{
		// p is 1/2, with 7 the odds are (2 + 2·1/2)/(1 + 2·1/2), and with 9 (1 + 2·1/2)/(2·1/2)
		{target.Classification, math.Log(1.5), math.Log(2)},
		// p is 3, with 7 the difference is (8 - 3·3)/(3 + 2), and with 9 (6 - 3)/(1 + 2)
		{target.Regression, -1.0 / 5, 3.0 / 3},
	} {
		var x []float64
		var labels []target.Label
		for i, row := range keys {
			x = append(x, row...)
			labels = append(labels, target.Label{Task: test.task, Class: []int{0, 1, 1, 0}[i], Value: []float64{0, 6, 2, 4}[i]})
		}
		e := NewPlan([]Type{Gram, Gram}, x, labels, test.task)
		e.Rows(x, labels, []float64{1, 1, 1, 1})
		for _, row := range []struct{ first, second, want float64 }{
			{7, 0, test.of7},
			{9, 0, test.of9},
			{7, 9, (test.of7 + test.of9) / math.Sqrt2},
			{7, 8, test.of7}, // no row has 8
			{8, 0, 0},
			{0, 7, 0}, // a text without n-grams
			{math.NaN(), math.NaN(), 0},
		} {
			got := make([]float64, 1)
			if e.Apply(got, []float64{row.first, row.second}); math.Abs(got[0]-row.want) > 1e-12 {
				t.Errorf("%v: %v and %v are %v, want %v", test.task, row.first, row.second, got[0], row.want)
			}
		}
	}
}

// With OutOfFold, the statistics of a row are of the rows in the other folds.
func TestOutOfFoldStatisticsOfGramsAreOfTheOtherFolds(t *testing.T) {
	const folds = 4
	for _, task := range []target.Task{target.Classification, target.Regression} {
		x, types, labels, weights := texts(120, task)
		e := NewPlan(types, x, labels, task)
		d, targets := len(types), len(e.prior.sums)
		got := e.Rows(x, labels, weights)
		e.OutOfFold(got, x, labels, weights, folds)
		for i := range labels {
			var others []float64
			var of []target.Label
			var by []float64
			for l := range labels {
				if l%folds != i%folds {
					others, of, by = append(others, x[l*d:(l+1)*d]...), append(of, labels[l]), append(by, weights[l])
				}
			}
			for k := range 2 * targets {
				want := plainGrams(&e.prior, others, x[i*d:(i+1)*d], of, by, d, 3+k/targets*TextKeys, k%targets)
				if v := got[i*e.Width()+k]; math.Abs(v-want) > 1e-9*max(1, math.Abs(want)) {
					t.Fatalf("%v: row %d, value %d is %v, want %v", task, i, k, v, want)
				}
			}
		}
	}
}

// What a text becomes tells the label, after a few hundred rows, for texts that are all different.
func TestGramsTellTheLabel(t *testing.T) {
	x, types, labels, weights := texts(2000, target.Regression)
	e := NewPlan(types, x, labels, target.Regression)
	rows := e.Rows(x, labels, weights)
	correlation := func(group int) float64 {
		var sx, sy, sxx, syy, sxy float64
		n := 0.0
		for i := 1000; i < 2000; i++ {
			v, y := rows[i*e.Width()+group], labels[i].Value
			n, sx, sy, sxx, syy, sxy = n+1, sx+v, sy+y, sxx+v*v, syy+y*y, sxy+v*y
		}
		return (sxy - sx*sy/n) / math.Sqrt((sxx-sx*sx/n)*(syy-sy*sy/n))
	}
	if c := correlation(0); c < 0.7 {
		t.Errorf("the correlation with the label is %.3f", c)
	}
	if c := correlation(1); math.Abs(c) > 0.15 {
		t.Errorf("the correlation of n-grams that say nothing is %.3f", c)
	}
}

// A window of rows is encoded as the model saw it, and the state of the model does not change.
func TestWindowEncodesGramsAsTheModelSawThem(t *testing.T) {
	x, types, labels, weights := texts(400, target.Classification)
	d, from := len(types), 150
	e := NewPlan(types, x, labels, target.Classification)
	want := e.Rows(x, labels, weights)[from*e.Width():]
	for range 2 {
		got, unknown := e.Window(x[from*d:], labels[from:], weights[from:], 0)
		if unknown != nil {
			t.Fatal("some rows are not known")
		}
		for i, v := range got {
			if math.Abs(v-want[i]) > 1e-9 {
				t.Fatalf("row %d: %v, want %v", from+i/e.Width(), v, want[i])
			}
		}
	}
}

// A text without keys is seen as the shares of its n-grams, one with keys through these.
func TestTextIsSeenThroughItsKeys(t *testing.T) {
	for _, test := range []struct {
		types []Type
		want  []int
	}{
		{[]Type{Text, Text, Numeric, Gram}, []int{asText, asText, asIs, asGrams}},
		{[]Type{Text, Gram, Gram, Text, Text}, []int{asUnseen, asGrams, asUnseen, asText, asText}},
		{[]Type{Gram, Text, Gram}, []int{asGrams, asUnseen, asGrams}},
	} {
		for j, want := range test.want {
			c := column{kind: asIs}
			if test.types[j] != Numeric {
				c = planText(test.types, j)
			}
			if c.kind != want {
				t.Errorf("%v: column %d is encoded as %s, want %s", test.types, j, c.encoder().name, encoders[want].name)
			}
		}
	}
	types := slices.Repeat([]Type{Gram}, 2*TextKeys+5)
	for j := range types {
		c := planText(types, j)
		if (c.kind == asGrams) != (j%TextKeys == 0) || c.kind == asGrams && c.keys() != min(TextKeys, len(types)-j) {
			t.Errorf("column %d of keys is encoded as %s", j, c.encoder().name)
		}
	}
}

// A state whose keys are not where they are read is refused.
func TestGramsNeedTheirKeys(t *testing.T) {
	x, types, labels, _ := texts(50, target.Classification)
	for name, damage := range map[string]func(e *Encoding){
		"as it is":                  func(*Encoding) {},
		"another column":            func(e *Encoding) { e.columns[5] = column{kind: asIs} },
		"another column at the end": func(e *Encoding) { e.columns[3+TextKeys-1] = column{kind: asIs} },
		"beyond the row": func(e *Encoding) {
			e.columns[len(e.columns)-1] = column{kind: asGrams, parameters: []float64{2}, table: newTable(3)}
		},
		"too many":          func(e *Encoding) { e.columns[3].parameters[0] = TextKeys + 1 },
		"none":              func(e *Encoding) { e.columns[3].parameters[0] = 0 },
		"a half":            func(e *Encoding) { e.columns[3].parameters[0] = 1.5 },
		"without parameter": func(e *Encoding) { e.columns[3].parameters = nil },
	} {
		e := NewPlan(types, x, labels, target.Classification)
		damage(e)
		var a state.Arrays
		e.Save(&a)
		s := &state.Reader{In: a}
		Load(s, len(types))
		if err := s.End(); (err == nil) != (name == "as it is") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
