package learner

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learner/loss"
)

// The shared loss of a number is a function of the label and of the prediction alone: of a
// Learner with other standard deviations of the labels, it would be the same.
func TestSharedLossIsThatOfLabelAndPrediction(t *testing.T) {
	absolute := math.Abs
	for name, want := range map[string]func(d float64) float64{
		"square": func(d float64) float64 { return d * d / 2 }, "huber:1": absolute, "huber:0.01": absolute, "absolute:0": absolute, "absolute:0.5": absolute,
		"quantile:0.9": func(d float64) float64 { return loss.Quantile{Tau: .9}.Value([]float64{0}, d) },
	} {
		l := newLearner(t, Config{Loss: name, Task: Regression, Targets: 2, BlockSize: 8, MaxFeatures: 32})
		var b Batch
		b.Reset(1)
		for i := range 200 {
			x := math.Sin(float64(i))
			b.Append([]float64{x}, Label{Task: Regression, Value: 1000 * x * x, More: []float64{3 - x*x/100}}, 1)
		}
		graded := 0
		for at := 0; at < b.Len(); {
			p := l.Predict(b.Slice(at, b.Len()))
			for i := range p.Len() {
				got, ok := p.SharedLoss(i)
				if !ok {
					continue
				}
				graded++
				y, row := b.Label(at+i), p.Row(i)
				if want := (want(y.At(0)-row[0]) + want(y.At(1)-row[1])) / 2; math.Abs(got-want) > 1e-9*(1+want) {
					t.Fatalf("%s: row %d of %v, predicted as %v: %v, want %v", name, at+i, y, row, got, want)
				}
			}
			at += p.Len()
			l.Learn(p)
		}
		if graded < 100 {
			t.Errorf("%s: %d rows with a loss", name, graded)
		}
	}
}
