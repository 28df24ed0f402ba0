package learner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/internal/weighing"
)

// imbalanced is rows of two inputs with a time each, of which few are of class 1.
func imbalanced(n int) *Batch {
	rng := rand.New(rand.NewPCG(5, 6))
	b := new(Batch)
	b.Reset(2)
	for i := range n {
		x := []float64{rng.NormFloat64(), rng.NormFloat64()}
		odds := math.Exp(2*math.Sin(2*x[0]) + x[1] - 4.5)
		y := class(i > 3 && rng.Float64() < odds/(1+odds))
		b.Append(x, y, 0.5+rng.Float64())
		b.SetTime(float64(i) - 200*float64(rng.IntN(9)/8))
	}
	b.SetClasses([]string{"ok", "fraud"})
	return b
}

// A learner that thins, or weights by age, has the model of one that gets the rows that are
// left, with the weights that they have then.
func TestWeighedRowsAreRowsWithWeights(t *testing.T) {
	rows := imbalanced(2400)
	for _, c := range []Config{
		{Balance: "balanced"}, {Balance: `{"fraud": 1, "ok": 4}`}, {HalfLife: 100}, {Balance: "balanced", HalfLife: 100},
	} {
		plain := Config{Algorithm: "ridge", MaxFeatures: 24, BlockSize: 8, Task: Classification}
		weighed := plain
		weighed.Balance, weighed.HalfLife = c.Balance, c.HalfLife
		var shares *weighing.Shares
		if c.Balance != "" {
			var err error
			if shares, err = weighing.ParseShares(c.Balance); err != nil {
				t.Fatal(err)
			}
		}
		rules, left := weighing.New(shares, c.HalfLife, 1), new(Batch)
		left.Reset(2)
		for i := range rows.Len() {
			weight, thinned := rows.Weight(i), false
			if clock := rules.Clock(); clock != nil {
				clock.See(rows.time(i))
				weight *= clock.Weight(rows.time(i))
			}
			if balance := rules.Balance(); balance != nil {
				f := balance.Row(rows.Label(i).Class, rows.classes, i < warmup.EffectiveAt(warmup.LastCheckpoint))
				weight, thinned = weight*f.Rows, f.Thinned
			}
			if !thinned {
				left.Append(rows.X(i), rows.Label(i), weight)
			}
		}
		l, want := newLearner(t, weighed), newLearner(t, plain)
		learn(l, rows, 64)
		learn(want, left, 64)
		sameState(t, "balance "+c.Balance, State{Serving: l.State().Serving}, State{Serving: want.State().Serving})
		p := l.Progress()
		if p.Examples != int64(rows.Len()) || p.Whole.Rows != p.Examples-1 || p.Step != want.Progress().Step {
			t.Errorf("%+v: %d examples, %d graded, %d steps; want %d, all but one, and %d", c, p.Examples, p.Whole.Rows, p.Step, rows.Len(), want.Progress().Step)
		}
		if (p.Thinned != nil) != (c.Balance != "") || p.Thinned != nil && p.Thinned.Thinned != int64(rows.Len()-left.Len()) {
			t.Errorf("%+v: %+v are thinned, want %d", c, p.Thinned, rows.Len()-left.Len())
		}
		if c.Balance != "" && left.Len() > 2000 {
			t.Errorf("%+v: %d rows are learned", c, left.Len())
		}
		if c.HalfLife > 0 && (p.Ages == nil || p.Ages.Mean() > 0.95 || p.Ages.Mean() < 0.5) {
			t.Errorf("%+v: the ages are %+v", c, p.Ages)
		}
	}
}

// Probabilities are those of the whole stream, although most of the rows that are learned are
// of the rare class or equally many: their mean is the share of the class.
func TestThinnedModelsAreCalibrated(t *testing.T) {
	rows := imbalanced(9000)
	fraud := 0.0
	for i := 4000; i < rows.Len(); i++ {
		fraud += float64(rows.Label(i).Class) / float64(rows.Len()-4000)
	}
	for _, c := range []Config{
		{BlockSize: 8, MaxFeatures: 16, Effort: 2, Balance: "balanced"},
		{BlockSize: 8, MaxFeatures: 16, Effort: 2, Balance: "balanced", Mixture: true},
	} {
		l, sum, n := newLearner(t, c), 0.0, 0.0
		for from := 0; from < rows.Len(); {
			p := l.Predict(rows.Slice(from, rows.Len()))
			for i := range p.Len() {
				if from+i >= 4000 {
					sum, n = sum+p.Row(i)[1], n+1
				}
			}
			from += p.Len()
			l.Learn(p)
		}
		if ratio := sum / n / fraud; math.Abs(ratio-1) > 0.3 {
			t.Errorf("mixture %v: the mean probability is %.4f, the share of the class %.4f", c.Mixture, sum/n, fraud)
		}
	}
}

func TestWeighingIsRefused(t *testing.T) {
	for _, c := range []Config{
		{Balance: "balanced", Task: Regression}, {Balance: "balanced", Loss: "square"}, {Balance: "balanced", Task: Novelty},
		{Balance: "half"}, {Balance: `{"a": 1}`}, {Balance: "balanced", Algorithm: "eigenpro"}, {HalfLife: 10, Algorithm: "eigenpro"},
		{HalfLife: -1}, {HalfLife: 1e-9}, {HalfLife: 1e30}, {HalfLife: math.NaN()}, {HalfLife: math.Inf(1)},
	} {
		if _, err := c.Effective(); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	for _, c := range []Config{{Balance: "none"}, {Balance: "balanced"}, {Balance: `{ "b": 1, "a": 2 }`}, {HalfLife: 60, Task: Regression}} {
		if e, err := c.Effective(); err != nil || !slices.Contains([]string{"", "balanced", `{"b":1,"a":2}`}, e.Balance) {
			t.Errorf("%+v: %q, %v", c, e.Balance, err)
		}
	}
}
