package learner

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

// TestLearnWhileCallsOnceAndLearnsTheSame: the function is called once, sees the predictions as they were, and the model
// becomes the same, with members that learn beside it or without, whatever rows have labels.
func TestLearnWhileCallsOnceAndLearnsTheSame(t *testing.T) {
	b := new(Batch)
	b.Reset(2)
	for i := range 2500 {
		x := []float64{math.Sin(float64(i)), math.Cos(1.7 * float64(i))}
		y := Label{Task: Regression, Value: x[0] * x[1]}
		if i%7 == 6 || i > 2450 {
			y = Label{}
		}
		b.Append(x, y, 1)
	}
	for name, c := range map[string]Config{
		"newton":  {MaxFeatures: 64, Seed: 5},
		"mixture": {MaxFeatures: 64, Seed: 5, Mixture: true, Intervals: 0.9},
		"dsg":     {Algorithm: "dsg", MaxFeatures: 64, Seed: 5},
	} {
		alone, l := newLearner(t, c), newLearner(t, c)
		for from := 0; from < b.Len(); {
			p, other := l.Predict(b.Slice(from, b.Len())), alone.Predict(b.Slice(from, b.Len()))
			from += p.Len()
			was, intervals, calls := slices.Clone(p.Values), other.Intervals, 0
			s := l.LearnWhile(p, func() {
				calls++
				if !slices.Equal(p.Values, was) || !reflect.DeepEqual(p.Intervals, intervals) {
					t.Errorf("%s: before row %d the predictions changed", name, from)
				}
			})
			if calls != 1 {
				t.Fatalf("%s: before row %d the function was called %d times", name, from, calls)
			}
			if want := alone.Learn(other); s != want {
				t.Fatalf("%s: before row %d the step was %+v, want %+v", name, from, s, want)
			}
		}
		if !reflect.DeepEqual(l.State(), alone.State()) {
			t.Errorf("%s: the models differ", name)
		}
	}
}
