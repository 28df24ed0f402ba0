package learner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// plane is a regression with little noise on a function that a linear model does not have.
type plane struct {
	rng *rand.Rand
	b   Batch
}

func newPlane(seed uint64) *plane {
	p := &plane{rng: rand.New(rand.NewPCG(seed, 2))}
	p.b.Reset(3)
	return p
}

// add appends n rows whose labels are multiplied by scale.
func (p *plane) add(n int, scale float64) {
	for range n {
		x := []float64{p.rng.NormFloat64(), p.rng.NormFloat64(), p.rng.NormFloat64()}
		y := x[0] + math.Sin(2*x[1]) - 0.5*x[2] + 0.1*p.rng.NormFloat64()
		p.b.Append(x, Label{Task: Regression, Value: scale * y}, 1)
	}
}

// testError returns the squared error of a scorer on rows of the same kind over their variance,
// after the rows of p.
func (p *plane) testError(t *testing.T, scale float64) float64 {
	t.Helper()
	l := newLearner(t, Config{Mixture: true, Task: Regression, Warmup: NewestWarmup, BlockSize: 16, MaxFeatures: 256})
	learn(l, &p.b, 100)
	m, err := NewModel(l.Finish().Serving)
	if err != nil {
		t.Fatal(err)
	}
	test := newPlane(99)
	test.add(500, scale)
	got := m.Predict(&test.b)
	errors, squares := 0.0, 0.0
	for i := range test.b.Len() {
		y := test.b.Label(i).Value
		errors += (got.Row(i)[0] - y) * (got.Row(i)[0] - y)
		squares += y * y
	}
	return errors / squares
}

// TestBadLabelsDoNotCount: wild labels at any row leave the test error of the clean rows.
func TestBadLabelsDoNotCount(t *testing.T) {
	t.Parallel()
	const rows = 2000
	clean := newPlane(1)
	clean.add(rows, 1)
	want := clean.testError(t, 1)
	if want > 0.1 {
		t.Fatalf("clean rows have the error %v", want)
	}
	for _, bad := range [][]int{{0}, {2}, {10}, {100}, {700}, {1600}, {10, 90, 200, 500, 990, 1200, 1700}} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			t.Parallel()
			p := newPlane(1)
			p.add(rows, 1)
			for i, at := range bad {
				p.b.labels[at].Value = 1e6 * float64(1-2*(i%2))
			}
			if got := p.testError(t, 1); got > 1.2*want {
				t.Errorf("with bad labels at %v the error is %v, without %v", bad, got, want)
			}
		})
	}
}

// TestGrownLabelsAreFollowed: a change of scale is no outlier.
func TestGrownLabelsAreFollowed(t *testing.T) {
	t.Parallel()
	for _, scale := range []float64{20, 1e5, 1e12} {
		p := newPlane(1)
		p.add(1500, 1)
		p.add(1500, scale)
		if got := p.testError(t, scale); got > 0.15 {
			t.Errorf("after labels have grown by %v the error is %v", scale, got)
		}
	}
}

// TestFewRowsHaveALinearModel: a scorer has one of them before the first fit of the warm-up.
func TestFewRowsHaveALinearModel(t *testing.T) {
	t.Parallel()
	for _, n := range []int{20, 40, 63} {
		rng := rand.New(rand.NewPCG(3, 2))
		var b Batch
		b.Reset(2)
		for range n {
			x := []float64{100 + rng.NormFloat64(), 1e-3 * rng.NormFloat64()}
			b.Append(x, Label{Task: Regression, Value: 5e4 + 100*x[0] - 2e5*x[1] + rng.NormFloat64()}, 1)
		}
		l := newLearner(t, Config{Mixture: true, Task: Regression, Warmup: NewestWarmup, BlockSize: 16, MaxFeatures: 256})
		learn(l, &b, 7)
		m, err := NewModel(l.Finish().Serving)
		if err != nil {
			t.Fatal(err)
		}
		got, errors, squares := m.Predict(&b), 0.0, 0.0
		for i := range n {
			y := b.Label(i).Value
			errors += (got.Row(i)[0] - y) * (got.Row(i)[0] - y)
			squares += (y - 6e4) * (y - 6e4)
		}
		if errors > 0.05*squares {
			t.Errorf("after %d rows the error is %v of the variance", n, errors/squares)
		}
	}
}

// TestWildInputsDoNotLeaveTheRangeOfTheLabels: predictions, of the learner and of a scorer, are
// within the range of the labels and as much on both sides.
func TestWildInputsDoNotLeaveTheRangeOfTheLabels(t *testing.T) {
	t.Parallel()
	p := newPlane(1)
	p.add(1600, 1)
	for _, at := range []int{5, 20, 50, 300, 1500} {
		p.b.X(at)[at%3] = 1e29
	}
	l := newLearner(t, Config{Mixture: true, Task: Regression, Warmup: NewestWarmup, BlockSize: 16, MaxFeatures: 256})
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range p.b.Len() {
		q := l.Predict(p.b.Slice(i, i+1))
		if i > 3 {
			for _, v := range []float64{q.Row(0)[0], q.Scorer.Row(0)[0]} {
				if margin := 1.001 * (hi - lo); v < lo-margin || v > hi+margin {
					t.Errorf("row %d: the prediction is %v after labels from %v to %v", i, v, lo, hi)
				}
			}
		}
		y := p.b.Label(i).Value
		lo, hi = min(lo, y), max(hi, y)
		l.Learn(q)
	}
}

// TestRowsAfterBadLabelsArePredicted, of a function of the inputs and of a walk that only the
// last label predicts: the progressive error of clean rows is hardly larger than without.
func TestRowsAfterBadLabelsArePredicted(t *testing.T) {
	t.Parallel()
	bad := []int{10, 90, 200, 210, 500, 990, 1200, 1500, 1700, 1990}
	for _, walk := range []bool{false, true} {
		progressive := func(bad []int) (sum float64) {
			p := newPlane(1)
			p.add(2000, 1)
			if walk {
				for i := 1; i < p.b.Len(); i++ {
					p.b.labels[i].Value += p.b.labels[i-1].Value
				}
			}
			wild := map[int]bool{}
			for i, at := range bad {
				wild[at] = true
				p.b.labels[at].Value += 1e6 * float64(1-2*(i%2))
			}
			l := newLearner(t, Config{Mixture: true, Task: Regression, Warmup: NewestWarmup, BlockSize: 16, MaxFeatures: 256})
			for at := 0; at < p.b.Len(); {
				q := l.Predict(p.b.Slice(at, p.b.Len()))
				for i := range q.Len() {
					if at+i > 0 && !wild[at+i] { // nothing is predicted for the first row
						d := q.Row(i)[0] - p.b.Label(at+i).Value
						sum += d * d
					}
				}
				at += q.Len()
				l.Learn(q)
			}
			return sum
		}
		if got, want := progressive(bad), progressive(nil); got > 1.15*want {
			t.Errorf("walk %v: with %d bad labels the squared errors of the other rows are %v times as large", walk, len(bad), got/want)
		}
	}
}

// TestOutliersAreCounted: what is not learned is reported, also after a restart.
func TestOutliersAreCounted(t *testing.T) {
	t.Parallel()
	p := newPlane(1)
	p.add(1500, 1)
	for _, at := range []int{40, 700, 1400} {
		p.b.labels[at].Value = 1e6
	}
	c := Config{Mixture: true, Task: Regression, Warmup: NewestWarmup, BlockSize: 16, MaxFeatures: 256}
	l := newLearner(t, c)
	learn(l, p.b.Slice(0, 1000), 100)
	if got := l.Progress().Mixture.Outliers; got != 2 {
		t.Errorf("%d labels were outliers after 1,000 rows, want 2", got)
	}
	l, err := Restore(c, l.State())
	if err != nil {
		t.Fatal(err)
	}
	learn(l, p.b.Slice(1000, 1500), 100)
	if got := l.Progress().Mixture.Outliers; got != 3 {
		t.Errorf("%d labels were outliers, want 3", got)
	}
}
