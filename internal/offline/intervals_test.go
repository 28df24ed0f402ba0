package offline

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
)

// Predictions have the intervals and variances of the learner, to the bit: a pair and a
// number for one target, a list of them for several.
func TestPredictionsHaveIntervals(t *testing.T) {
	for targets := 1; targets <= 2; targets++ {
		l, err := learner.New(learner.Config{Algorithm: "ridge", Targets: targets, Intervals: 0.9, Variance: true})
		if err != nil {
			t.Fatal(err)
		}
		var b learner.Batch
		var p *learner.PredictedBatch
		for i := range 101 {
			b.Reset(1)
			y := learner.Label{Task: learner.Regression, Value: math.Sin(float64(i)), More: []float64{-1e6 * float64(i%7)}[:targets-1]}
			b.Append([]float64{1}, y, 1)
			p = l.Predict(&b)
			l.Learn(p)
		}
		p = l.Predict(&b)
		e := record.NewEncoder(record.ModelID{Name: "m"}, nil, 1<<20)
		r := e.Record(record.Example{Record: &ingest.Record{}, Intervals: p.Uncertainty(0)}, p.Task, p.Row(0))
		var got struct{ Interval, Variance any }
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatalf("%v in %s", err, r.Value)
		}
		var pairs, variances []any
		for j, v := range p.Row(0) {
			low, high := p.Uncertainty(0).Bounds(v, j)
			if !(low < v && v < high) {
				t.Errorf("target %d: the interval of %v is %v to %v", j, v, low, high)
			}
			pairs, variances = append(pairs, []any{low, high}), append(variances, p.Uncertainty(0).Variance(j))
		}
		want, of := any(pairs), any(variances)
		if targets == 1 {
			want, of = pairs[0], variances[0]
		}
		if len(p.Leverages) != 1 || !reflect.DeepEqual(got.Variance, of) {
			t.Errorf("%s, want the variance %v", r.Value, of)
		}
		if !reflect.DeepEqual(got.Interval, want) {
			t.Errorf("%s, want the interval %v", r.Value, want)
		}
	}
}
