package encode

import (
	"fmt"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// A model that has learned all rows but the last ones gives a window of them as it saw them
// when it learned them: with the rows before each, from the first row on. The encoding of
// a row does not change with its own label, nor does the model's.
func TestWindowIsWhatWasLearned(t *testing.T) {
	const from, pending = 120, 7
	for _, task := range []target.Task{target.Classification, target.Regression} {
		x, types, labels, weights := all(task)
		plan := NewPlan(types, x, labels, task)
		d, w := plan.Dim(), plan.Width()
		want := plan.Start().Rows(x, labels, weights)[from*w:]
		model := plan.Start()
		model.Rows(x[:(rows-pending)*d], labels[:rows-pending], weights[:rows-pending])
		before := saved(model)
		got, unknown := model.Window(x[from*d:], labels[from:], weights[from:], pending)
		if saved(model) != before {
			t.Errorf("%v: the model has changed", task)
		}
		firsts := 0
		for i := range rows - from {
			if unknown[i] {
				firsts++
				continue
			}
			for k := range w {
				a, b := got[i*w+k], want[i*w+k]
				if a != b && !(math.IsNaN(a) && math.IsNaN(b)) && !(math.Abs(a-b) <= 1e-7*max(1, math.Abs(b))) {
					t.Fatalf("%v: value %d of row %d is %v, and was %v", task, k, i, a, b)
				}
			}
		}
		if firsts != 5 { // keys
			t.Errorf("%v: the time before %d rows is unknown, want that before the first row of each of 5 keys", task, firsts)
		}
	}
}

// With weights of 1 the sums of classes are whole numbers, and the rows are to the bit what
// they were. Statistics that decay are so up to rounding, also over a growth that was scaled
// down; if the window has too many of their half-lives, from a few of these on.
func TestWindowIsExactForWholeWeights(t *testing.T) {
	types := []Type{Category, Decayed(2), Decayed(15)}
	var x, weights []float64
	var labels []target.Label
	for i := range 700 {
		x = append(x, Key(uint64(i*i%31)<<40), Key(uint64(i%7)<<40), Key(uint64(i%7)<<40))
		labels, weights = append(labels, target.Label{Task: target.Classification, Class: i * i % 3 % 2}), append(weights, 1)
	}
	plan := NewPlan(types, x, labels, target.Classification)
	model := plan.Start()
	want, w := model.Rows(x, labels, weights), plan.Width()
	const from = 420
	got, unknown := model.Window(x[from*3:], labels[from:], weights[from:], 0)
	if unknown != nil {
		t.Error("rows without keys are unknown")
	}
	for j, at := 0, 0; j < 3; j++ {
		n := plan.WidthOf(j)
		for i := range 700 - from {
			for k := at; k < at+n; k++ {
				switch diff := math.Abs(got[i*w+k] - want[(from+i)*w+k]); {
				case j == 0 && diff != 0, j == 1 && i > 100 && diff > 1e-9, j == 2 && diff > 1e-9:
					t.Fatalf("row %d, value %d of column %d is %v off", i, k-at, j, diff)
				}
			}
		}
		at += n
	}
}

// A value that has left the table among the rows of a window leaves sums without a weight,
// not negative ones.
func TestRemovedValuesLeaveNoNegativeSumsInAWindow(t *testing.T) {
	n := maxEntries + 100
	x, labels, weights := make([]float64, n), make([]target.Label, n), make([]float64, n)
	for i := range x {
		x[i], weights[i] = Key(uint64(i*7%(maxEntries+90))<<40), 1
		labels[i] = target.Label{Task: target.Regression, Value: float64(i % 5)}
	}
	plan := NewPlan([]Type{Category}, x, labels, target.Regression)
	model := plan.Start()
	model.Rows(x, labels, weights)
	if len(model.columns[0].table.keys) > maxEntries {
		t.Fatal("no value was removed")
	}
	got, _ := model.Window(x, labels, weights, 0)
	for i, v := range got {
		if i%2 == 0 && !(v >= 0 && v <= 4) || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("value %d of row %d is %v, of labels from 0 to 4", i%2, i/2, v)
		}
	}
	again := model.clone()
	for i := n - 1; i >= 0; i-- {
		again.unlearn(x[i:i+1], &labels[i], 1)
	}
	for i := range again.columns[0].table.keys {
		if e := again.columns[0].table.entry(i); e[0] != 0 || e[1] != 0 {
			t.Fatalf("%v are left of value %d without any row", e, i)
		}
	}
}

// saved returns what Save writes of e.
func saved(e *Encoding) string {
	var a state.Arrays
	e.Save(&a)
	return fmt.Sprint(a)
}
