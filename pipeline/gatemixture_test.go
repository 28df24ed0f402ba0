package pipeline

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// A gate compares what scorers would predict: where the labels resemble the last ones, a
// learner with a mixture knows much more than any snapshot of it, which must not let a worse
// snapshot pass.
func TestGateComparesWhatScorersWouldPredict(t *testing.T) {
	const learned, all = 200, 300
	l, err := learner.New(learner.Config{Algorithm: "ridge", Task: learner.Regression, Mixture: true, Kernel: "gaussian:1", BlockSize: 8, MaxFeatures: 8})
	if err != nil {
		t.Fatal(err)
	}
	b, walk := new(history.Decided), 0.0
	b.Batch.Reset(1)
	for i := range all {
		walk += math.Sin(float64(i*i)) / 10
		b.Batch.Append([]float64{math.Cos(float64(i))}, learner.Label{Task: learner.Regression, Value: walk}, 1)
	}
	g, own := &gate{config: model.GateConfig{Metric: model.GateLoss, Over: all}}, 0.0
	for at := 0; at < all; {
		p := l.Predict(b.Batch.Slice(at, all))
		if at >= learned {
			if g.model, err = learner.NewModel(l.Serving()); err != nil {
				t.Fatal(err)
			}
			g.compare(b, at, p)
			for i := range p.Len() {
				own += g.metric(&p.Predictions, i, b.Batch.Label(at+i))
			}
		}
		at += p.Len()
		l.Learn(p)
	}
	v := g.verdict()
	if v == nil || v.Loss != v.Served || v.Rows < 50 {
		t.Fatalf("the state of the learner, compared with itself: %+v", v)
	}
	if own /= float64(v.Rows); own > v.Loss/2 {
		t.Errorf("the learner has the loss %v itself, and scorers %v", own, v.Loss)
	}
}

// With quantiles, the error is that of the number that is predicted, and the loss that of all of them.
func TestGateComparesQuantiles(t *testing.T) {
	const rows = 400
	c := learner.Config{Algorithm: "newton", Task: learner.Regression, Loss: "quantile:0.1,0.5,0.9", Kernel: "gaussian:1", BlockSize: 8, MaxFeatures: 64}
	for _, metric := range []string{model.GateError, model.GateLoss} {
		l, err := learner.New(c)
		if err != nil {
			t.Fatal(err)
		}
		b := new(history.Decided)
		b.Batch.Reset(1)
		for i := range rows {
			b.Batch.Append([]float64{math.Cos(float64(i))}, learner.Label{Task: learner.Regression, Value: math.Cos(float64(i)) + math.Sin(float64(i*i))}, 1)
		}
		g, want, n := &gate{config: model.GateConfig{Metric: metric, Over: rows}}, 0.0, 0
		for at := 0; at < rows; {
			p := l.Predict(b.Batch.Slice(at, rows))
			if at >= rows/2 {
				if g.model, err = learner.NewModel(l.Serving()); err != nil {
					t.Fatal(err)
				}
				g.compare(b, at, p)
				for i := range p.Len() {
					y, row := b.Batch.Label(at+i).Value, p.Row(i)
					if n++; metric == model.GateError {
						want += math.Abs(y - row[1])
						continue
					}
					for k, tau := range []float64{0.1, 0.5, 0.9} {
						want += max(tau*(y-row[k]), (tau-1)*(y-row[k])) / 3
					}
				}
			}
			at += p.Len()
			l.Learn(p)
		}
		v := g.verdict()
		if v == nil {
			t.Fatal("no verdict")
		}
		if want /= float64(n); math.Abs(v.Loss-want) > 1e-9*want || v.Loss != v.Served {
			t.Errorf("%s: %v, the served model %v, want %v", metric, v.Loss, v.Served, want)
		}
	}
}
