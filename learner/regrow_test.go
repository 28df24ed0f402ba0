package learner

import (
	"math"
	"slices"
	"testing"
)

// Trees grow again at their rows, and then predict better where labels jump. A Learner that is
// restored before or after them continues to the same bits, which are pinned; until then it has
// those of one whose trees do not grow again.
func TestTreesGrowAgain(t *testing.T) {
	for _, test := range []struct {
		name, want string
		columns    int
		label      func(x []float64) Label
	}{
		{"numbers", "031f6e66404f1e25", 6, corners},
		{"classes", "46af3242950395a9", 3, func(x []float64) Label { return Label{Task: Classification, Class: int(jumps(x).Value) & 3} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b, again := trialRows(test.columns, test.label), onTrial
			again.ForestRegrow = true
			l, once, at := newLearner(t, again), newLearner(t, onTrial), 0
			restored := newLearner(t, again)
			for _, n := range []int{2500, 2600, 3500, 3600, 5100, 5200, 6400} {
				learn(l, b.Slice(at, n), 500)
				learn(once, b.Slice(at, n), 500)
				learn(restored, b.Slice(at, n), 333)
				if got, want := hash(restored.State()), hash(l.State()); got != want {
					t.Fatalf("row %d: restored, the state's hash is %s, want %s", n, got, want)
				}
				if same := slices.Equal(treesOf(l.State()), treesOf(once.State())); same != (n < 2560) {
					t.Errorf("row %d: the trees are the first ones: %v", n, same)
				}
				var err error
				if restored, err = restore(again, l.State()); err != nil {
					t.Fatalf("row %d: %v", n, err)
				}
				at = n
			}
			if got := hash(l.State()); got != test.want {
				t.Errorf("the state's hash is %s, want %s", got, test.want)
			}
			if with, without := l.Progress().Latest.Model.Error, once.Progress().Latest.Model.Error; !(with < 0.95*without) {
				t.Errorf("the error of the last rows is %v, and %v without growing again", with, without)
			}
		})
	}
}

// corners is a label that jumps where one of two columns changes its sign, and with a third.
func corners(x []float64) Label {
	return Label{Task: Regression, Value: math.Copysign(1, x[0]*x[1]) + math.Floor(3*x[2])}
}

// treesOf returns the encoded trees of a State.
func treesOf(s State) []byte {
	for _, a := range s.Serving {
		if a.Name == "forest.columns" {
			return a.Data.([]byte)
		}
	}
	return nil
}
