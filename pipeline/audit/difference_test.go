package audit

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
)

// With a loss of several quantiles, the squared error is that of the number that is predicted.
func TestTheErrorOfQuantilesIsThatOfThePredictedNumber(t *testing.T) {
	l, err := learner.New(learner.Config{Algorithm: "newton", Task: learner.Regression, Loss: "quantile:0.1,0.5,0.9", BlockSize: 8, MaxFeatures: 64})
	if err != nil {
		t.Fatal(err)
	}
	var b learner.Batch
	b.Reset(1)
	for i := range 300 {
		b.Append([]float64{math.Cos(float64(i))}, learner.Label{Task: learner.Regression, Value: 3 * math.Sin(float64(i*i))}, 1)
	}
	for at := 0; at < b.Len(); {
		pass := l.Predict(b.Slice(at, b.Len()))
		if at > 0 {
			y, record := b.Label(at), &ingest.Record{}
			m := newMade(history.Predicted{Record: record, Published: record, Schema: &decode.Schema{}, Pass: pass, Label: y})
			if d := pass.Row(0)[1] - y.Value; math.Abs(m.wrong-d*d) > 1e-12*(1+d*d) {
				t.Fatalf("row %d: %v, the prediction is %v and the label %v", at, m.wrong, pass.Row(0), y.Value)
			}
		}
		at += pass.Len()
		l.Learn(pass)
	}
}
