package learner

import (
	"errors"
	"math"
	"testing"
)

// Of a sum without interactions, the importances are the shares of the variance, with every
// part that a model has; a column that it does not use has none.
func TestImportancesAreSharesOfTheVariance(t *testing.T) {
	rows := new(Batch)
	rows.Reset(3)
	for i := range 900 {
		x := []float64{math.Sin(float64(i)), math.Cos(1.7 * float64(i)), math.Sin(2.3*float64(i) + 1)}
		rows.Append(x, Label{Task: Regression, Value: 3*x[0] + x[1]}, 1)
	}
	for name, c := range map[string]Config{
		"ridge":   {Algorithm: "ridge", MaxFeatures: 64},
		"forest":  {Algorithm: "newton", MaxFeatures: 64, Forest: 8},
		"mixture": {Algorithm: "newton", MaxFeatures: 64, Mixture: true},
	} {
		l := newLearner(t, c)
		learnTo(l, rows, nil)
		m, err := NewModel(l.State().Serving)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := m.Importance()
		if err != nil || len(got) != 3 {
			t.Fatalf("%s: %v, %v", name, got, err)
		}
		for j, want := range []float64{0.9, 0.1, 0} {
			if math.Abs(got[j]-want) > 0.15 {
				t.Errorf("%s: importance of column %d is %.3f, want about %.1f", name, j, got[j], want)
			}
		}
		on, err := m.ImportanceOn(rows.Slice(rows.Len()-256, rows.Len()))
		if err != nil || len(on) != 3 {
			t.Fatalf("%s: %v, %v", name, on, err)
		}
		for j, v := range on {
			if math.Abs(v-got[j]) > 0.1 {
				t.Errorf("%s: importance of column %d on the rows is %.3f, and %.3f on drawn ones", name, j, v, got[j])
			}
		}
		again, _ := m.Importance()
		for j := range got {
			if again[j] != got[j] {
				t.Errorf("%s: importances %v, and then %v", name, got, again)
			}
		}
	}
	m, err := NewModel(newLearner(t, Config{}).State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Importance(); !errors.Is(err, ErrUnexplained) {
		t.Errorf("of a model without a fit: %v", err)
	}
}
