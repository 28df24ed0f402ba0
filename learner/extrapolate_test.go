package learner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// trending returns rows of three inputs, the first of which is between from and to. Their labels grow
// with it: numbers, or classes whose odds do.
func trending(task Task, n int, from, to float64) *Batch {
	rng := rand.New(rand.NewPCG(91, uint64(100*to)))
	b := &Batch{}
	b.Reset(3)
	for range n {
		x := []float64{from + (to-from)*rng.Float64(), rng.Float64(), rng.Float64()}
		v := 3*x[0] + math.Sin(6*x[1])
		y := Label{Task: task, Value: v + 0.1*rng.NormFloat64()}
		if task == Classification {
			y = Label{Task: task}
			if rng.Float64() < 1/(1+math.Exp(-3*(v-2))) {
				y.Class = 1
			}
		}
		b.Append(x, y, 1)
	}
	return b
}

// TestATrendContinuesBeyondTheRowsLearned: a scorer predicts rows beyond those that were learned
// better than before the seventeenth version, numbers almost as well as between them.
func TestATrendContinuesBeyondTheRowsLearned(t *testing.T) {
	for task, most := range map[Task]float64{Regression: 0.05, Classification: 0.22} {
		of := map[warmup.Version]float64{}
		for _, version := range []warmup.Version{warmup.Sixteenth, warmup.Seventeenth} {
			l := newLearner(t, Config{Task: task, Mixture: true, Warmup: int(version), MaxFeatures: 256, Effort: 32})
			learn(l, trending(task, 3000, 0, 1), 50)
			later := trending(task, 500, 1.1, 1.4)
			p := modelOf(t, l.State().Serving).Predict(later)
			for i := range later.Len() {
				switch y := later.Label(i); task {
				case Regression:
					of[version] += math.Pow(p.Row(i)[0]-y.Value, 2) / 500
				default:
					of[version] -= math.Log(p.Row(i)[y.Class]) / 500
				}
			}
		}
		was, is := of[warmup.Sixteenth], of[warmup.Seventeenth]
		if is > most || was < 1.2*is {
			t.Errorf("%v: the loss beyond the rows learned is %.3f, was %.3f", task, is, was)
		}
	}
}

// TestRowsBeyondTheRangeArePredictedAlike by the learner for a scorer, by a model of its state, and by
// a learner of its state, to the bit; and explanations have all of it.
func TestRowsBeyondTheRangeArePredictedAlike(t *testing.T) {
	for _, c := range []Config{
		{Task: Regression, Mixture: true}, {Task: Classification, Mixture: true},
		{Task: Regression, Mixture: true, Forest: 8, Variance: true},
	} {
		c.Warmup, c.MaxFeatures, c.Effort = NewestWarmup, 256, 32
		all := trending(c.Task, 2000, 0, 1)
		later := trending(c.Task, 300, 0.7, 2)
		l := newLearner(t, c)
		for from := 0; from < 2000; from += 50 {
			learn(l, all.Slice(from, from+50), 50)
			if from != 550 && from != 1950 {
				continue
			}
			restored, err := restore(c, l.State())
			if err != nil || hash(restored.State()) != hash(l.State()) {
				t.Fatalf("%+v: restored, the state's hash is another one: %v", c, err)
			}
			m := modelOf(t, l.State().Serving)
			want := m.Predict(later)
			for at := 0; at < later.Len(); {
				b := unlabelled(later.Slice(at, min(at+7, later.Len())))
				p, again := l.Predict(b), restored.Predict(b)
				if !slices.Equal(p.Scorer.Values, again.Scorer.Values) || !slices.Equal(p.Values, again.Values) {
					t.Fatalf("%+v, row %d: the restored learner predicts %v and %v, want %v and %v", c, at, again.Values, again.Scorer.Values, p.Values, p.Scorer.Values)
				}
				if got := p.Scorer.Values; !slices.Equal(got, want.Values[at*want.Size:(at+p.Len())*want.Size]) {
					t.Fatalf("%+v, row %d: the learner says that a scorer predicts %v, a model predicts %v", c, at, got, want.Values[at*want.Size:(at+p.Len())*want.Size])
				}
				at += p.Len()
				l.Learn(p)
				restored.Learn(again)
			}
			if c.Task == Classification {
				explained(t, m, later)
			}
		}
	}
}

// explained checks that the parts of the explanations of rows add up to their scores.
func explained(t *testing.T, m *Model, b *Batch) {
	t.Helper()
	all, err := m.Explain(b)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range all {
		if math.Abs(e.Rest[0]) > 1e-3 {
			t.Errorf("row %d, %v: its parts are %v, and %v is left of its score %v", i, b.X(i), e.Parts, e.Rest[0], e.Scores[0])
		}
	}
}

// TestImportancesAreThoseWithinTheRange: it does not matter how far rows are beyond it.
func TestImportancesAreThoseWithinTheRange(t *testing.T) {
	l := newLearner(t, Config{Task: Regression, Mixture: true, Warmup: NewestWarmup, MaxFeatures: 256, Effort: 32})
	learn(l, trending(Regression, 2000, 0, 1), 50)
	m := modelOf(t, l.State().Serving)
	var of [2][]float64
	for i, far := range []float64{2, 3} {
		b := &Batch{}
		b.Reset(3)
		for j := range 40 {
			b.Append([]float64{float64(j%2) * far, float64(j%5) / 5, float64(j%7) / 7}, Label{}, 1)
		}
		var err error
		if of[i], err = m.ImportanceOn(b); err != nil || of[i][0] == 0 {
			t.Fatal(of[i], err)
		}
	}
	if !slices.Equal(of[0], of[1]) {
		t.Errorf("the importances are %v, and %v with rows that are further away", of[0], of[1])
	}
}

// TestLearnerOfRowsWithoutAWeightIsRestored: they have a fit, but no range.
func TestLearnerOfRowsWithoutAWeightIsRestored(t *testing.T) {
	for _, task := range []Task{Regression, Classification} {
		c := Config{Task: task, Mixture: true, Warmup: NewestWarmup, MaxFeatures: 64}
		b := trending(task, 400, 0, 1)
		clear(b.weights[:200])
		l := newLearner(t, c)
		learn(l, b.Slice(0, 150), 50)
		again := restored(t, c, l.State())
		learn(l, b.Slice(150, 400), 50)
		learn(again, b.Slice(150, 400), 50)
		sameState(t, task.String(), again.State(), l.State())
	}
}
