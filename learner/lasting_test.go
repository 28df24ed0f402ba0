package learner

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// Trees of which leaves last lower the error, and stay without members where these do not pay. A Learner that is restored continues to the same bits, which are pinned.
func TestLeavesLast(t *testing.T) {
	for _, test := range []struct {
		name, want string
		label      func(x []float64) Label
		share      float64 // of the error without, at most
		alone      int     // rows from which on the trees have no members
	}{
		{"jumps", "c58b04e624e366ce", corners, 1.01, math.MaxInt},
		{"smooth", "0b440e0b8cdf2ca1", func(x []float64) Label {
			return Label{Task: Regression, Value: math.Sin(2*x[0]) + x[1]*x[2]}
		}, 0.99, 3584},
		{"jumps to classes", "e33258f572f80dc1", func(x []float64) Label {
			return Label{Task: Classification, Class: (int(math.Floor(2*x[0])) + int(math.Floor(3*x[1])) + 60) % 5}
		}, 0.99, math.MaxInt},
		{"noisy classes", "22825d83de3a2826", func(x []float64) Label {
			class := 0
			if x[0]+x[1]+x[2]+math.Sin(1e5*x[3]) > 0 { // the sine is noise
				class = 1
			}
			return Label{Task: Classification, Class: class}
		}, 1.01, 7168},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b, lasts, at := trialRows(6, test.label), onTrial, 0
			lasts.ForestRegrow = true
			if test.label(make([]float64, 6)).Task == Classification {
				lasts.Warmup = int(warmup.Ninth)
			}
			plain := newLearner(t, lasts)
			lasts.ForestLasting = true
			l := newLearner(t, lasts)
			for _, n := range []int{1200, 1300, 2500, 2600, 3700, 5100, 5200, 7100, 7300, 8100} {
				learn(plain, b.Slice(at, n), 500)
				learnAndRestored(t, lasts, l, b.Slice(at, n), 333)
				if got := aloneIn(l.State()); got != (n > test.alone) {
					t.Errorf("row %d: the trees are alone: %v", n, got)
				}
				if n > 1250 && !hasForest(l.State()) {
					t.Errorf("row %d: the trees are discarded", n)
				}
				at = n
			}
			if got := hash(l.State()); got != test.want {
				t.Errorf("the state's hash is %s, want %s", got, test.want)
			}
			if with, without := l.Progress().Latest.Model.Error, plain.Progress().Latest.Model.Error; !(with < test.share*without) {
				t.Errorf("the error of the last rows is %v, and %v if leaves do not last", with, without)
			}
		})
	}
}

// A model of many classes that has discarded members continues to the same bits after it is restored,
// while its trees have members and when they have none.
func TestTreesAloneInAModelThatDiscardsMembers(t *testing.T) {
	b := trialRows(8, func(x []float64) Label {
		return Label{Task: Classification, Class: min(4, max(0, int(math.Floor(x[0]+x[1]+2.5+math.Sin(1e6*x[2])))))}
	})
	c := onTrial
	c.ForestRegrow, c.ForestLasting, c.Mixture, c.Discard, c.Warmup = true, true, true, true, int(warmup.Ninth)
	l, at := newLearner(t, c), 0
	for _, n := range []int{1500, 2600, 3700, 5200, 7300, 8100} {
		learnAndRestored(t, c, l, b.Slice(at, n), 333)
		if got := aloneIn(l.State()); got != (n >= 5200) {
			t.Errorf("row %d: the trees are alone: %v", n, got)
		}
		at = n
	}
}

// aloneIn reports whether the trees of a State have no members.
func aloneIn(s State) bool {
	for _, a := range s.Resuming {
		if a.Name == "lasting.alone" {
			return a.Data.([]int64)[0] == 1
		}
	}
	return false
}
