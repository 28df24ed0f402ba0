package learner

import (
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// Once the window of newton is full, the averages and the shares of its members change every 128
// rows alone. A Learner that is restored between two changes continues to the same bits, which
// are pinned; its State without these shares, as those of earlier arithmetic are, is one whose
// predictions are of the shares as they would be now.
func TestAveragesChangeEvery128Rows(t *testing.T) {
	few := func(sum float64) int { return max(0, min(2, int(2+sum))) }
	many := func(sum float64) int { return int(60+sum) % 6 }
	for _, test := range []struct {
		name, want       string
		config           Config
		window           int // rows
		classes, members int // members that remain
		label            func(sum float64) int
	}{
		{"trees", "28192fc53a11e6fa", Config{Mixture: true, Forest: 8, BlockSize: 8, MaxFeatures: 16}, 8192, 3, 7, few},
		{"discarded members", "c9ab1141360a7484", Config{Mixture: true, Discard: true, BlockSize: 16, MaxFeatures: 64}, 8192, 6, 2, many},
		{"trees, averages that begin with a full window", "775fca6252298945", Config{Warmup: int(warmup.Eleventh), Mixture: true, Forest: 8, BlockSize: 8, MaxFeatures: 16}, 8192, 3, 7, few},
		{"discarded members, averages that begin with a full window", "d31803a045014f02", Config{Warmup: int(warmup.Eleventh), Mixture: true, Discard: true, BlockSize: 16, MaxFeatures: 64}, 8192, 6, 1, many},
		{"trees, a long window", "d16631c00b6862a0", Config{Warmup: int(warmup.Twelfth), Mixture: true, Forest: 8, BlockSize: 8, MaxFeatures: 16}, 16384, 3, 7, few},
		{"discarded members, a long window", "b4d258b501670151", Config{Warmup: int(warmup.Twelfth), Mixture: true, Discard: true, BlockSize: 16, MaxFeatures: 64}, 16384, 6, 1, many},
		{"discarded members, a long window of noise", "cd6d2a317f8e4e34", Config{Warmup: int(warmup.Fourteenth), Mixture: true, Discard: true, BlockSize: 16, MaxFeatures: 64}, 16384, 6, 1, many},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := changeEvery128Rows(t, test.config, test.window, test.label)
			if got := hash(l.State()); got != test.want {
				t.Errorf("the state's hash is %s, want %s", got, test.want)
			}
			if members := membersOf(l.State(), test.classes); members != test.members {
				t.Errorf("%d members remain, want %d", members, test.members)
			}
		})
	}
}

// changeEvery128Rows holds a Learner with a window of some rows against restored ones, and returns it.
func changeEvery128Rows(t *testing.T, c Config, window int, label func(sum float64) int) *Learner {
	b := manyRows(window+508, 3, func(x []float64) Label {
		return Label{Task: Classification, Class: label(x[0] + x[1] + x[2])}
	})
	l, at := newLearner(t, c), 0
	for _, more := range []int{-42, -12, 0, 38, 78, 208, 228, 278} {
		n := window + more
		learnAndRestored(t, c, l, b.Slice(at, n), 33)
		at = n
	}
	shares := func(a Array) bool { return a.Name == "members.shares" }
	s, err := l.State(), error(nil)
	for ; at < window+508; at += 10 {
		learn(l, b.Slice(at, at+10), 10)
		s = l.State()
		earlier := s
		if earlier.Resuming = slices.DeleteFunc(slices.Clone(s.Resuming), shares); len(earlier.Resuming) == len(s.Resuming) {
			t.Fatal("the state has no shares")
		}
		if _, err = restore(c, earlier); err == nil {
			break // they have just changed
		}
	}
	if err != nil {
		t.Errorf("a state of an earlier arithmetic: %v", err)
	}
	for i := range s.Resuming {
		if shares(s.Resuming[i]) {
			s.Resuming = slices.Clone(s.Resuming)
			s.Resuming[i].Data = slices.Repeat([]float64{-1}, s.Resuming[i].Shape[0])
		}
	}
	if _, err := restore(c, s); err == nil {
		t.Error("negative shares are restored")
	}
	return l
}
