package curves

import (
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/learner"
)

// The curves of a file begin with the first fit and end with its last row, however short it is.
func TestCurvesEndWithTheFile(t *testing.T) {
	for _, rows := range []int{20, 100, 300, 2000} {
		fit, err := offline.NewFit(learner.Config{Task: learner.Regression, MaxFeatures: 64}, decode.Config{})
		if err != nil {
			t.Fatal(err)
		}
		r := NewRecorder("newton", 0)
		for i := range rows {
			x := float64(i % 17)
			fit.Add(decode.Row{X: []float64{x, float64(i % 5)}, Label: learner.Label{Task: learner.Regression, Value: x * x}, Weight: 1})
			r.Look(fit, i+1)
		}
		r.End(fit.Finish())
		r.End(fit.Finish())
		for _, c := range r.Curves {
			if n := len(c.points); n == 0 || c.points[n-1].examples != float64(rows) || rows > 64 && c.points[0].examples != earliest || rows > 64 && n < 2 || n > 1 && c.points[n-2].examples == float64(rows) {
				t.Errorf("%d rows: the points of %s are %v", rows, c.name, c.points)
			}
		}
	}
}
