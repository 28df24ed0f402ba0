package learner

import (
	"fmt"
	"math"
	"testing"
)

// Whatever the values, labels and weights of examples are, up to 1e30 or infinite, the state can be
// restored and the predictions are finite.
func TestNoNumberMakesAStateThatCannotBeRestored(t *testing.T) {
	odd := []float64{math.Inf(1), math.Inf(-1), math.NaN(), 1e30, -1e30}
	for _, c := range []Config{
		{}, {Mixture: true}, {Algorithm: "ridge", Lags: 2}, {Algorithm: "dsg"}, {Targets: 2, Mixture: true, Intervals: 0.9},
	} {
		c.BlockSize, c.MaxFeatures, c.Task = 8, 32, Regression
		l := newLearner(t, c)
		var b Batch
		b.Reset(3)
		for i := range 1400 {
			x := []float64{math.Sin(float64(i)), math.Cos(float64(3 * i)), float64(i % 5)}
			y := Label{Task: Regression, Value: x[0] - x[1]}
			if c.Targets == 2 {
				y.More = []float64{x[2]}
			}
			weight := 1.0
			switch k := i / 5 % len(odd); i % 5 {
			case 1:
				x[i%3] = odd[k]
			case 2:
				y.Value = odd[k]
			case 3:
				weight = odd[k]
			}
			b.Append(x, y, weight)
		}
		for at := 0; at < b.Len(); {
			p := l.Predict(b.Slice(at, b.Len()))
			for _, v := range p.Values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%+v: a prediction is %v", c, v)
				}
			}
			at += p.Len()
			l.Learn(p)
			if at%100 < p.Len() || at == b.Len() {
				r, err := restore(c, l.State())
				if err != nil {
					t.Fatalf("%+v: after %d rows: %v", c, at, err)
				}
				sameState(t, fmt.Sprintf("%+v: after %d rows", c, at), r.State(), l.State())
			}
		}
		if got := l.Progress().Examples; got >= int64(b.Len()) {
			t.Errorf("%+v: %d examples of %d rows, some without a label", c, got, b.Len())
		}
	}
}
