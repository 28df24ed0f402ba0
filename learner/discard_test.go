package learner

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// discarding is a model whose members are discarded where they do not pay.
var discarding = Config{Algorithm: "newton", Discard: true, Effort: 64, BlockSize: 16, MaxFeatures: 64}

// membersOf returns the number of members in the State of a model of some classes.
func membersOf(s State, classes int) int {
	for _, a := range s.Resuming {
		if a.Name == "members.w" {
			return a.Shape[1] / classes
		}
	}
	return 0
}

// Members that do not pay with many classes are discarded, also those that a discarded forest
// leaves, and none with few classes. A Learner that is restored before or after continues to the
// same bits, which are pinned.
func TestMembersThatDoNotPayAreDiscarded(t *testing.T) {
	repeated := func(sum float64) int { return int(60 + sum) }
	ordered := func(sum float64) int { return min(5, max(0, int(3+sum/2))) } // as in no leaf
	trial := discarding
	trial.Forest, trial.ForestTrial, trial.Effort = 16, true, 16
	for _, test := range []struct {
		name, want       string
		config           Config
		columns, classes int
		label            func(sum float64) int // of the columns
		before, members  int                   // that remain
		rows             []int
	}{
		{"six classes", "73d3fed6c32b7862", discarding, 3, 6, repeated, 4, 3, []int{2000, 2040, 2060, 2300}},
		{"four classes", "6b627960b93e323b", discarding, 3, 4, repeated, 4, 4, []int{2040, 2060}},
		{"after a forest", "f2e52de0cf12503b", trial, 12, 6, ordered, 6, 2, []int{4090, 4100, 4300}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := trialRows(test.columns, func(x []float64) Label {
				sum := 0.0
				for _, v := range x {
					sum += v
				}
				return Label{Task: Classification, Class: test.label(sum) % test.classes}
			})
			l, at := newLearner(t, test.config), 0
			restored, err := restore(test.config, l.State())
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range test.rows {
				learn(l, b.Slice(at, n), 500)
				learn(restored, b.Slice(at, n), 333)
				if got, want := hash(restored.State()), hash(l.State()); got != want {
					t.Fatalf("row %d: restored, the state's hash is %s, want %s", n, got, want)
				}
				if restored, err = restore(test.config, l.State()); err != nil {
					t.Fatalf("row %d: %v", n, err)
				}
				want := test.before
				if at = n; n > 4096 || n > 2048 && test.config.Forest == 0 {
					want = test.members
				}
				if got := membersOf(l.State(), test.classes); got != want {
					t.Errorf("row %d: %d members, want %d", n, got, want)
				}
			}
			if got := hash(l.State()); got != test.want {
				t.Errorf("the state's hash is %s, want %s", got, test.want)
			}
		})
	}
}

// With trees that grow again members are discarded as well, and a Learner that is restored then
// continues to the same bits, which are pinned.
func TestMembersWithTreesAreDiscarded(t *testing.T) {
	again := discarding
	again.Forest, again.ForestTrial, again.ForestRegrow, again.Effort = 16, true, true, 16
	for _, test := range []struct {
		name, want string
		scores     int
		label      func(x []float64) Label
		members    map[int]int // after some rows
	}{
		{"six classes", "7fcbfb6e1106bc02", 6, func(x []float64) Label {
			return Label{Task: Classification, Class: int(jumps(x).Value+60) % 6}
		}, map[int]int{2040: 6, 2060: 4, 4100: 4, 7990: 4, 8050: 2, 8100: 2}},
		{"numbers", "7b3c794733c3c06b", 1, corners, map[int]int{2040: 6, 7990: 6, 8050: 2, 8100: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := trialRows(3, test.label)
			l, at := newLearner(t, again), 0
			restored := newLearner(t, again)
			for _, n := range slices.Sorted(maps.Keys(test.members)) {
				learn(l, b.Slice(at, n), 500)
				learn(restored, b.Slice(at, n), 333)
				if got, want := hash(restored.State()), hash(l.State()); got != want {
					t.Fatalf("row %d: restored, the state's hash is %s, want %s", n, got, want)
				}
				if got := membersOf(l.State(), test.scores); got != test.members[n] || !hasForest(l.State()) {
					t.Errorf("row %d: %d members, want %d; trees: %v", n, got, test.members[n], hasForest(l.State()))
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
			bits := l.State()
			for i, a := range bits.Resuming {
				if a.Name == "members.discarded" {
					bits.Resuming[i].Data = []int64{1<<3 | 1<<4}
				}
			}
			if _, err := restore(again, bits); err == nil || !strings.Contains(err.Error(), "leaves are discarded") {
				t.Errorf("a state with trees and without a member that has leaves: %v", err)
			}
		})
	}
}
