package learner

import (
	"math"
	"testing"
)

// TestSecondRowIsPredictedAtTheScaleOfTheFirst: the labels may have any magnitude. The second
// prediction is no worse than the first label.
func TestSecondRowIsPredictedAtTheScaleOfTheFirst(t *testing.T) {
	for _, size := range []float64{580, -580, 1e6, 1e-6, 1e100} {
		l := newLearner(t, Config{Mixture: true, Task: Regression, BlockSize: 8, MaxFeatures: 16})
		predict := func(x, y float64) *PredictedBatch {
			var b Batch
			b.Reset(1)
			b.Append([]float64{x}, Label{Task: Regression, Value: y}, 1)
			return l.Predict(&b)
		}
		l.Learn(predict(0, size))
		second := size * 1.01
		if got := predict(1, second).Row(0)[0]; !(math.Abs(got-second) <= 1.001*math.Abs(size-second)) {
			t.Errorf("after %v, %v is predicted as %v", size, second, got)
		}
	}
}
