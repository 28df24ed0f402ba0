package learner

import (
	"math"
	"testing"
)

// errorsOf returns the mean squared errors of the predictions of a mixture, and of repeating the
// last label, over the rows from the second on, of a series whose only input is its position.
func errorsOf(t *testing.T, series []float64) (mixture, last []float64) {
	t.Helper()
	l := newLearner(t, Config{Mixture: true, Task: Regression, BlockSize: 8, MaxFeatures: 16})
	for i, y := range series {
		var b Batch
		b.Reset(1)
		b.Append([]float64{float64(i)}, Label{Task: Regression, Value: y}, 1)
		p := l.Predict(&b)
		if i > 0 {
			d, e := p.Row(0)[0]-y, series[i-1]-y
			mixture, last = append(mixture, d*d), append(last, e*e)
		}
		l.Learn(p)
	}
	return mixture, last
}

// TestSecondRowIsPredictedAtTheScaleOfTheFirst: numbers may be of any size.
func TestSecondRowIsPredictedAtTheScaleOfTheFirst(t *testing.T) {
	for _, size := range []float64{580, -580, 1e6, 1e-6, 1e100} {
		mixture, last := errorsOf(t, []float64{size, size * 1.01})
		if !(mixture[0] <= last[0]*1.001) {
			t.Errorf("the second label %v is predicted with the error %v, want that of the first, %v", size*1.01, math.Sqrt(mixture[0]), math.Sqrt(last[0]))
		}
	}
}
