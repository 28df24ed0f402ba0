package learner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

// several is n rows of four inputs, with a label that f makes of each.
func several(n int, f func(x []float64, noise float64) []float64) *Batch {
	rng := rand.New(rand.NewPCG(1, 2))
	b := new(Batch)
	b.Reset(4)
	x := make([]float64, 4)
	for range n {
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		b.Append(x, target.RegressionLabel(f(x, 0.1*rng.NormFloat64())), 0.5+rng.Float64())
	}
	return b
}

// targetsOf is b with these targets of its labels, in this order.
func targetsOf(b *Batch, these ...int) *Batch {
	out := new(Batch)
	out.Reset(b.Dim())
	for i := range b.Len() {
		var y []float64
		for _, j := range these {
			label := b.Label(i)
			y = append(y, label.At(j))
		}
		out.Append(b.X(i), target.RegressionLabel(y), b.Weight(i))
	}
	return out
}

// predicted learns b and returns the predictions, rows × targets, and the learner.
func predicted(t *testing.T, c Config, b *Batch) ([]float64, *Learner) {
	t.Helper()
	label := b.Label(0)
	c.Targets = label.Targets()
	l := newLearner(t, c)
	var out []float64
	for at := 0; at < b.Len(); {
		p := l.Predict(b.Slice(at, b.Len()))
		if at == 0 { // nothing but zeros, and none before there is a label
			out = append(out, make([]float64, p.Len()*c.Targets)...)
		} else {
			out = append(out, p.Values...)
		}
		at += p.Len()
		l.Learn(p)
	}
	return out, l
}

func sameNumbers(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tolerance*max(1, math.Abs(w))) {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], w)
		}
	}
}

func figuresIn(s Scores) []float64 {
	return []float64{s.Model.Error, s.Model.MSE, s.Model.Loss, s.Majority.Error, s.NoChange.Error, s.Linear.Error}
}

func eachAlgorithm(t *testing.T, f func(t *testing.T, c Config)) {
	for _, a := range algorithms {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			f(t, Config{Algorithm: a.Name, BlockSize: 8, MaxFeatures: 32, Kernel: "gaussian:2"})
		})
	}
}

func wave(x []float64, noise float64) float64 {
	return 100 + 5*math.Sin(2*x[0]) + x[1] + noise
}

// TestCopiesOfATargetArePredictedAlike: a model of three that are the same says of each what the
// model of one does, and makes its errors.
func TestCopiesOfATargetArePredictedAlike(t *testing.T) {
	t.Parallel()
	eachAlgorithm(t, func(t *testing.T, c Config) {
		rows := several(750, func(x []float64, noise float64) []float64 { return []float64{wave(x, noise)} })
		want, one := predicted(t, c, rows)
		got, l := predicted(t, c, targetsOf(rows, 0, 0, 0))
		for i, w := range want {
			sameNumbers(t, fmt.Sprintf("row %d", i), got[3*i:3*i+3], []float64{w, w, w}, 1e-6)
		}
		p, q := l.Progress(), one.Progress()
		sameNumbers(t, "progress", figuresIn(p.Latest), figuresIn(q.Latest), 1e-6)
		for _, each := range p.Latest.Each {
			sameNumbers(t, "progress of one", figuresIn(each), figuresIn(q.Latest), 1e-6)
		}
		if len(p.Latest.Each) != 3 || q.Latest.Each != nil {
			t.Errorf("figures of %d targets, and of one target %d", len(p.Latest.Each), len(q.Latest.Each))
		}
	})
}

// TestOrderOfTargetsIsThatOfPredictions: other orders of them are other orders of the predictions.
func TestOrderOfTargetsIsThatOfPredictions(t *testing.T) {
	t.Parallel()
	eachAlgorithm(t, func(t *testing.T, c Config) {
		rows := several(750, func(x []float64, noise float64) []float64 {
			return []float64{wave(x, noise), -1e5 * x[2] * x[1], math.Abs(x[3]) + noise}
		})
		want, _ := predicted(t, c, rows)
		got, _ := predicted(t, c, targetsOf(rows, 2, 0, 1))
		for i := 0; i < len(want); i += 3 {
			w := want[i : i+3]
			sameNumbers(t, fmt.Sprintf("row %d", i/3), got[i:i+3], []float64{w[2], w[0], w[1]}, 1e-4)
		}
	})
}

// TestTargetsAreLearnedAsIfAlone: with the kernel given, and where leave-one-out
// gives each target the same penalty, newton and ridge say of each what a model of
// it alone does, because all that they mix is mixed target by target.
func TestTargetsAreLearnedAsIfAlone(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"newton", "ridge"} {
		rows := several(1400, func(x []float64, noise float64) []float64 {
			return []float64{wave(x, noise), 1e3 * wave(x[1:], -2*noise), wave(x[2:], 3*noise)}
		})
		c := Config{Algorithm: algorithm, BlockSize: 8, MaxFeatures: 64, Kernel: "gaussian:2"}
		all, l := predicted(t, c, rows)
		mse := l.Progress().Whole
		for j := range 3 {
			alone, one := predicted(t, c, targetsOf(rows, j))
			if l.fit.Lambda != one.fit.Lambda {
				t.Fatalf("penalties %v and %v", l.fit.Lambda, one.fit.Lambda)
			}
			got := make([]float64, 0, rows.Len())
			for i := j; i < len(all); i += 3 {
				got = append(got, all[i])
			}
			sameNumbers(t, fmt.Sprintf("%s, target %d", algorithm, j), got, alone, 1e-9)
			sameNumbers(t, algorithm+", progress", figuresIn(mse.Each[j]), figuresIn(one.Progress().Whole), 1e-9)
		}
		mean := (mse.Each[0].Model.Error + mse.Each[1].Model.Error + mse.Each[2].Model.Error) / 3
		if math.Abs(mse.Model.Error-mean) > 1e-12 || mean > 0.5 {
			t.Errorf("%s: nMSE %v, want %v", algorithm, mse.Model.Error, mean)
		}
	}
}

// TestVarianceOfEachTargetIsThatOfAModelOfItAlone is that of a model of it alone.
func TestVarianceOfEachTargetIsThatOfAModelOfItAlone(t *testing.T) {
	t.Parallel()
	rows := several(1400, func(x []float64, noise float64) []float64 {
		return []float64{wave(x, noise), 1e3 * wave(x[1:], -2*noise)}
	})
	c := Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 16, Kernel: "gaussian:2", Variance: true}
	_, both := predicted(t, c, rows)
	got := both.Predict(rows.Slice(0, 20))
	for j := range 2 {
		_, one := predicted(t, c, targetsOf(rows, j))
		want := one.Predict(rows.Slice(0, 20))
		for i := range 20 {
			sameNumbers(t, fmt.Sprintf("row %d, target %d", i, j), []float64{got.Uncertainty(i).Variance(j)}, []float64{want.Uncertainty(i).Variance(0)}, 1e-9)
		}
	}
}

// TestLabelsBelongToTheLearner: it keeps no memory of a batch, which is filled
// again.
func TestLabelsBelongToTheLearner(t *testing.T) {
	t.Parallel()
	rows := several(400, func(x []float64, noise float64) []float64 { return []float64{x[0], x[1], noise} })
	c := Config{Targets: 3, MaxFeatures: 64}
	whole, again := newLearner(t, c), newLearner(t, c)
	learn(whole, rows, 400)
	var b Batch
	for at := 0; at < rows.Len(); at += 10 {
		b.Reset(4)
		for i := at; i < at+10; i++ {
			y := rows.Label(i)
			y.More = slices.Clone(y.More)
			b.Append(rows.X(i), y, rows.Weight(i))
			clear(y.More)
		}
		learn(again, &b, 10)
	}
	sameState(t, "rows in memory that is used again", again.State(), whole.State())
}

func TestOneOutputIsTheDefault(t *testing.T) {
	t.Parallel()
	one, err := Config{Targets: 1}.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	none, err := Config{}.Canonical()
	if err != nil || string(one) != string(none) {
		t.Errorf("one output is %s, and none said %s, %v", one, none, err)
	}
	for _, c := range []Config{{Targets: 2, Task: Classification}, {Targets: 2, Loss: "logistic"}, {Targets: -1}, {Targets: 257}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// TestLagsOfSeveralTargetsPredictARandomWalk: the labels before tell all of a random walk but its
// last step.
func TestLagsOfSeveralTargetsPredictARandomWalk(t *testing.T) {
	t.Parallel()
	at := make([]float64, 3)
	rng := rand.New(rand.NewPCG(3, 4))
	rows := several(2000, func([]float64, float64) []float64 {
		for j := range at {
			at[j] = 0.95*at[j] + rng.NormFloat64()
		}
		return slices.Clone(at)
	})
	c := Config{Targets: 3, Lags: 1, MaxFeatures: 256}
	l := newLearner(t, c)
	learn(l, rows.Slice(0, 1500), 100)
	r, err := restore(c, l.State())
	if err != nil {
		t.Fatal(err)
	}
	sameState(t, "restored", r.State(), l.State())
	want := learn(l, rows.Slice(1500, 2000), 100)
	firstDifference(t, "restored", learn(r, rows.Slice(1500, 2000), 7), want)
	for j, s := range l.Progress().Latest.Each {
		if s.Model.Error > 1.5*s.NoChange.Error || s.Model.Error > 0.3 {
			t.Errorf("target %d: nMSE %v, of no change %v", j, s.Model.Error, s.NoChange.Error)
		}
	}
}
