package learner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/loss"
)

// The share of the labels below a predicted quantile is τ, with noise whose deviation
// depends on the input, and the pinball loss is at most a fifth above that of the true quantile. The second
// half of the stream is graded.
func TestShareOfLabelsBelowAQuantile(t *testing.T) {
	normal := map[float64]float64{0.1: -1.2815515655446004, 0.5: 0, 0.9: 1.2815515655446004}
	for _, test := range []struct {
		algorithm string
		tau       float64
	}{{"newton", 0.9}, {"dsg", 0.1}, {"dsg", 0.5}, {"dsg", 0.9}} {
		t.Run(fmt.Sprint(test.algorithm, " ", test.tau), func(t *testing.T) {
			q := loss.Quantile{Tau: test.tau}
			l := newLearner(t, Config{Algorithm: test.algorithm, MaxFeatures: 64, BlockSize: 32, Minibatch: 64, Loss: q.String()})
			r := rand.New(rand.NewPCG(7, 7))
			const rows = 8000
			below, pinball, least := 0.0, 0.0, 0.0
			var b Batch
			for i := range rows {
				x := 2*r.Float64() - 1
				y := math.Sin(3*x) + (1+x)*r.NormFloat64()
				b.Reset(1)
				b.Append([]float64{x}, Label{Task: Regression, Value: y}, 1)
				p := l.Predict(&b)
				if i >= rows/2 {
					if y <= p.Row(0)[0] {
						below += 2.0 / rows
					}
					pinball += q.Value(p.Row(0), y)
					least += q.Value([]float64{math.Sin(3*x) + (1+x)*normal[test.tau]}, y)
				}
				l.Learn(p)
			}
			if math.Abs(below-test.tau) > 0.02 {
				t.Errorf("the share of labels below is %.4f, want %v", below, test.tau)
			}
			if pinball > 1.2*least {
				t.Errorf("pinball loss %.4f, of the true quantile %.4f", pinball*2/rows, least*2/rows)
			}
		})
	}
}
