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

// The shared loss of a row whose label came late is that of the prediction that was made when the
// row came, as its Loss is.
func TestSharedLossIsThatOfTheKeptPrediction(t *testing.T) {
	for _, name := range []string{"square", "huber:1", "quantile:0.1,0.5,0.9"} {
		s := stream{config: Config{Loss: name, Task: Regression, BlockSize: 8, MaxFeatures: 32}, dim: 2, label: numeric}
		l, rows := newLearner(t, s.config), s.rows(400)
		learn(l, rows.Slice(0, 100), 50)
		one := rows.Slice(100, 101)
		if one.Label(0).Task == Auto {
			t.Fatal("row 100 has no label")
		}
		pass := l.Predict(one)
		want, ok := pass.SharedLoss(0)
		kept := l.Keep(pass, 0)
		l.Learn(l.Predict(predictOnly(rows, 100)))
		learn(l, rows.Slice(101, 400), 50)
		pass = l.Predict(rows.Slice(100, 101))
		now, _ := pass.SharedLoss(0)
		pass.batch.SetKept(0, kept)
		if got, late := pass.SharedLoss(0); got != want || !ok || !late || now == want {
			t.Errorf("%s: %v, %v; when the row came %v, %v; of the model as it is now %v", name, got, late, want, ok, now)
		}
		pass.batch.SetKept(0, []float64{0})
		if got, ok := pass.SharedLoss(0); ok {
			t.Errorf("%s: %v without a prediction", name, got)
		}
	}
}

func TestWidenedRowsMissTheNewColumns(t *testing.T) {
	for _, dim := range []int{0, 1, 2} {
		var b Batch
		b.Reset(dim)
		b.Append([]float64{7, 8}[:dim], Label{}, 1)
		b.Append([]float64{9, 10}[:dim], Label{}, 1)
		b.Widen(3)
		b.Append([]float64{1, 2, 3}, Label{}, 1)
		if b.Dim() != 3 || b.Len() != 3 || b.X(2)[2] != 3 {
			t.Fatalf("from %d columns: %v", dim, b.x)
		}
		for i, x := range [][]float64{b.X(0), b.X(1)} {
			for j, v := range x {
				if want := float64(7 + 2*i + j); j < dim && v != want || j >= dim && v == v {
					t.Errorf("from %d columns: row %d is %v", dim, i, x)
				}
			}
		}
	}
}
