package learner

import (
	"math"
	"math/rand/v2"
	"testing"
)

// uneven is a regression whose noise differs tenfold, in batches of some rows.
func uneven(n int, learn func(b *Batch)) {
	rng := rand.New(rand.NewPCG(3, 4))
	var b Batch
	b.Reset(2)
	for range n {
		x := []float64{rng.NormFloat64(), rng.NormFloat64()}
		b.Append(x, Label{Task: Regression, Value: 100 + 5*math.Sin(2*x[0]) + math.Exp(x[1])*rng.NormFloat64()}, 1)
		if b.Len() == 50 {
			learn(&b)
			b.Reset(2)
		}
	}
}

// TestIntervalsHoldTheShareThatTheyShould: those of 90 % hold 89 to 91 % of the
// labels, and the variance that they are made from is the mean squared error.
func TestIntervalsHoldTheShareThatTheyShould(t *testing.T) {
	t.Parallel()
	l := newLearner(t, Config{Algorithm: "ridge", BlockSize: 16, MaxFeatures: 32})
	var c Conformal
	rows, inside, squared, variance := 0.0, 0.0, 0.0, 0.0
	uneven(12_000, func(b *Batch) {
		for b.Len() > 0 {
			p := l.Predict(b)
			v, ok := l.Variance(b.Slice(0, p.Len()))
			if ok != (l.fit != nil) {
				t.Fatalf("after %d rows Variance says %v", l.labelled, ok)
			}
			for i := range v {
				off := math.Abs(p.Row(i)[0] - b.Label(i).Value)
				if l.labelled >= 2000 {
					rows, squared, variance = rows+1, squared+off*off, variance+v[i]
					if off <= c.Radius*math.Sqrt(v[i]) {
						inside++
					}
				}
				c.Add(off / math.Sqrt(v[i]))
			}
			b = b.Slice(p.Len(), b.Len())
			l.Learn(p)
		}
	})
	if share := inside / rows; share < 0.89 || share > 0.91 {
		t.Errorf("%.3f of the labels are in intervals of 90 %%", share)
	}
	if ratio := variance / squared; ratio < 0.95 || ratio > 1.05 {
		t.Errorf("the variance is %.3f of the squared error", ratio)
	}
	t.Logf("%.3f inside, variance/squared error %.3f, radius %.2f", inside/rows, variance/squared, c.Radius)
}

func TestVarianceGrowsAwayFromTheRows(t *testing.T) {
	l := newLearner(t, Config{Algorithm: "ridge", BlockSize: 16, MaxFeatures: 32})
	var b Batch
	b.Reset(2)
	b.Append([]float64{0, 0}, Label{}, 1)
	b.Append([]float64{30, 30}, Label{}, 1)
	uneven(6000, func(b *Batch) { learn(l, b, 50) })
	v, ok := l.Variance(&b)
	if !ok || v[1] < 1.05*v[0] {
		t.Errorf("%v among the rows and far from them, %v", v, ok)
	}
	if _, ok := newLearner(t, Config{Algorithm: "newton"}).Variance(&b); ok {
		t.Error("newton has a variance")
	}
}
