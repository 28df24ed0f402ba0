package learner

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// The trees of a new model grow within the warm-up, after its last fit, and again soon, and the
// rows after the first of them are predicted better than without. A Learner that is restored
// before or after continues to the same bits, which are pinned.
func TestTreesGrowWithinTheWarmup(t *testing.T) {
	for _, test := range []struct {
		name, want string
		columns    int
		gain       float64 // of the error of the last rows, by trees
		label      func(x []float64) Label
	}{
		{"numbers", "38e7fbe73fbb87e0", 3, 0.05, corners},
		{"many columns", "c53c144f943248f0", 24, 0.01, corners}, // more than a node compares
		{"classes", "1b719d728f7842b3", 3, 0.05, func(x []float64) Label { return Label{Task: Classification, Class: int(jumps(x).Value) & 1} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b, early := trialRows(test.columns, test.label), onTrial
			early.Mixture, early.Discard, early.ForestRegrow, early.ForestLasting = true, true, true, true
			early.Effort, early.MaxFeatures, early.Warmup = 256, 1024, int(warmup.Eleventh)
			earlier := early
			earlier.Warmup = int(warmup.Tenth)
			l, before, restored, at := newLearner(t, early), newLearner(t, earlier), newLearner(t, early), 0
			var trees []byte
			for _, n := range []int{300, 508, 520, 700, 1240, 1260, 1300, 1780, 1800, 2600, 3500, 3600} {
				learn(l, b.Slice(at, n), 500)
				learn(before, b.Slice(at, n), 500)
				learn(restored, b.Slice(at, n), 333)
				if got, want := hash(restored.State()), hash(l.State()); got != want {
					t.Fatalf("row %d: restored, the state's hash is %s, want %s", n, got, want)
				}
				var err error
				if restored, err = restore(early, l.State()); err != nil {
					t.Fatalf("row %d: %v", n, err)
				}
				now := treesOf(l.State())
				if has := now != nil; has != (n >= 512 && n != 1260) {
					t.Errorf("row %d: there are trees: %v", n, has)
				}
				if has := treesOf(before.State()) != nil; has != (n >= 1280) {
					t.Errorf("row %d: there are trees with the tenth version: %v", n, has)
				}
				if n == 1240 {
					if with, without := l.Progress().Latest.Model.Error, before.Progress().Latest.Model.Error; !(with < (1-test.gain)*without) {
						t.Errorf("the error of the last rows is %v, and %v without trees", with, without)
					}
				}
				if again := n == 1800 || n == 3600; again && string(now) == string(trees) {
					t.Errorf("row %d: the trees have not grown again", n)
				} else if n == 2600 && string(now) != string(trees) {
					t.Errorf("row %d: the trees have grown again", n)
				}
				trees = now
				at = n
			}
			if got := hash(l.State()); got != test.want {
				t.Errorf("the state's hash is %s, want %s", got, test.want)
			}
		})
	}
}

// Where the rows end, a new model predicts others better after Finish than the tenth version, which
// does not settle. The rest of the State is the same.
func TestModelsSettleWhereTheRowsEnd(t *testing.T) {
	b := trialRows(3, func(x []float64) Label {
		return Label{Task: Regression, Value: math.Sin(2*x[0]) + x[1]*x[2]}
	})
	tests := b.Slice(6000, 8000)
	c := Config{Algorithm: "newton", MaxFeatures: 4096, Warmup: int(warmup.Eleventh)}
	errorOf := func(s State) float64 {
		m, err := NewModel(s.Serving)
		if err != nil {
			t.Fatal(err)
		}
		sum, p := 0.0, m.Predict(tests)
		for i := range tests.Len() {
			e := p.Row(i)[0] - tests.Label(i).Value
			sum += e * e
		}
		return sum
	}
	for _, n := range []int{300, 1000, 3000} {
		l := newLearner(t, c)
		learn(l, b.Slice(0, n), 500)
		open := l.State()
		s := l.Finish()
		if got, want := errorOf(s), errorOf(open); !(got < 0.99*want) {
			t.Errorf("%d rows: the squared errors sum to %v, and to %v before Finish", n, got, want)
		}
		sameState(t, "restored after Finish", restored(t, c, s).State(), open)
	}
}
