package learner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/loss"
)

// heteroscedastic returns rows with two targets, the second of which is the first on
// another scale, with noise whose deviation depends on the input.
func heteroscedastic(n int) *Batch {
	r := rand.New(rand.NewPCG(7, 7))
	var b Batch
	b.Reset(1)
	for range n {
		x := 2*r.Float64() - 1
		y := math.Sin(3*x) + (1+x)*r.NormFloat64()
		b.Append([]float64{x}, Label{Task: Regression, Value: y, More: []float64{5 - 100*y}}, 1)
	}
	return &b
}

// Several quantiles of several targets never cross, have their share of the labels below
// them, and are those of the model of the state and of the restored learner.
func TestQuantilesNeverCross(t *testing.T) {
	taus := []float64{0.1, 0.25, 0.5, 0.9}
	q, err := loss.NewQuantiles(taus...)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 5000
	b := heteroscedastic(rows)
	for _, algorithm := range []string{"newton", "cdsg", "eigenpro", "dsg", "udsg", "all"} {
		t.Run(algorithm, func(t *testing.T) {
			if a, err := parseAlgorithm(algorithm); err != nil || a.Descent != nil && !*exhaustive {
				t.Skip("the rules of descent with -exhaustive", err)
			}
			c := Config{Algorithm: algorithm, MaxFeatures: 64, BlockSize: 32, Minibatch: 64, Loss: q.String(), Targets: 2, Intervals: 0.8}
			l := newLearner(t, c)
			below, crossed := make([]float64, 2*len(taus)), 0
			for at, next := 0, 0; at < rows; {
				p := l.Predict(b.Slice(at, rows))
				if p.Size > 0 && (p.Size != 8 || !slices.Equal(p.Quantiles.Taus, taus) || p.Quantiles.Central != 2 || len(p.Crossed) != p.Len()) {
					t.Fatalf("row %d: %d values, quantiles %+v, %d of %d rows known to cross or not", at, p.Size, p.Quantiles, len(p.Crossed), p.Len())
				}
				for i := range p.Len() {
					if p.Size == 0 {
						break
					}
					row := p.Row(i)
					for j := range row {
						if j%4 > 0 && !(row[j] >= row[j-1]) {
							t.Fatalf("row %d: %v crosses", at+i, row)
						}
						y := b.Label(at + i)
						if at+i >= rows/2 && y.At(j/4) <= row[j] {
							below[j] += 2. / rows
						}
					}
					if sorted := slices.IsSorted(p.scores(i)[:4]) && slices.IsSorted(p.scores(i)[4:]); p.Crossed[i] == sorted {
						t.Fatalf("row %d: scores %v, crossed: %v", at+i, p.scores(i), p.Crossed[i])
					} else if !sorted {
						crossed++
					}
				}
				if p.Size > 0 && at >= next {
					next = at + 1500
					served, err := NewModel(l.Serving())
					if err != nil {
						t.Fatal(err)
					}
					if got := served.Predict(b.Slice(at, at+p.Len())); !slices.Equal(got.Values, p.Values) || !slices.Equal(got.Crossed, p.Crossed) || got.Quantiles.Central != 2 {
						t.Fatalf("row %d: the model predicts %+v, the learner %+v", at, got, p.Predictions)
					}
					if l, err = restore(c, l.State()); err != nil {
						t.Fatal(err)
					}
					p = l.Predict(b.Slice(at, rows))
				}
				at += p.Len()
				l.Learn(p)
			}
			for j, got := range below {
				want := taus[j%4]
				if math.Abs(got-want) > 0.03 {
					t.Errorf("the share of labels below quantile %v of target %d is %.4f", want, j/4, got)
				}
			}
			if crossed == 0 {
				t.Error("no row has crossed: the test tests nothing")
			}
			t.Logf("%.3f below, %d rows crossed, intervals %+v", below, crossed, l.Progress().Intervals)
		})
	}
}

func TestQuantilesOfALossWithoutThem(t *testing.T) {
	for _, c := range []Config{
		{Loss: "quantile:0.1,0.9", Algorithm: "ridge"}, {Loss: "quantile:0.1,0.9", Mixture: true},
		{Loss: "quantile:0.9,0.1"}, {Loss: "quantile:0.1,0.1"}, {Loss: "quantile:0.1,x"}, {Loss: "quantile:0.1,1"}, {Loss: "quantile:0.1,NaN"}, {Loss: "quantile:0.1,"},
		{Loss: "quantile:0.1,0.9", Task: Classification}, {Loss: "huber:1,2"},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		} else {
			t.Log(err)
		}
	}
}
