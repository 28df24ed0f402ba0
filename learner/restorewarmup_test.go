package learner

import (
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// A Learner that is restored within the warm-up continues to the same bits, in each version
// and whatever the size of its mini-batches is at that row.
func TestWarmupsOfAllVersionsAreRestored(t *testing.T) {
	for _, a := range algorithms {
		for _, version := range []warmup.Version{warmup.First, warmup.Second, warmup.Third, warmup.Fourth, warmup.Fifth, warmup.Newest} {
			s := streamOf(a.Name, "growing")
			s.config.Warmup = int(version)
			rows := s.rows(1400)
			l, restored, at := newLearner(t, s.config), newLearner(t, s.config), 0
			for _, n := range []int{90, 150, 250, 330, 700, 900, 1400} {
				learn(l, rows.Slice(at, n), 500)
				learn(restored, rows.Slice(at, n), 500)
				if got, want := hash(restored.State()), hash(l.State()); got != want {
					t.Fatalf("%s, version %d, row %d: restored, the state's hash is %s, want %s", a.Name, version, n, got, want)
				}
				var err error
				if restored, err = restore(s.config, l.State()); err != nil {
					t.Fatalf("%s, version %d, row %d: %v", a.Name, version, n, err)
				}
				at = n
			}
		}
	}
}

// TestModelsHaveFeaturesForTheirRowsUntilTheLastFit: four for each row from the fifth version
// on, and 512 at least. Restored, they have the same bits, whatever block is next.
func TestModelsHaveFeaturesForTheirRowsUntilTheLastFit(t *testing.T) {
	more := false
	for _, version := range []warmup.Version{warmup.Fourth, warmup.Newest} {
		s := streamOf("newton", "growing")
		s.config.Warmup, s.config.Mixture = int(version), true
		s.config.BlockSize, s.config.MaxFeatures, s.config.Minibatch = 32, 4096, 32
		rows := s.rows(576)
		l, restored, at, atMost := newLearner(t, s.config), newLearner(t, s.config), 0, false
		for _, n := range []int{96, 160, 320, 448, 576} {
			learn(l, rows.Slice(at, n), 500)
			learn(restored, rows.Slice(at, n), 500)
			at = n
			most := max(512, 4*n)
			has := l.engine.Features()
			if version == warmup.Newest && has > most {
				t.Errorf("row %d: %d random features, want at most %d", n, has, most)
			}
			atMost = atMost || has == most
			more = more || version == warmup.Fourth && has > most
			if got, want := hash(restored.State()), hash(l.State()); got != want {
				t.Errorf("version %d, row %d: restored, the state's hash is %s, want %s", version, n, got, want)
			}
			var err error
			if restored, err = restore(s.config, l.State()); err != nil {
				t.Fatalf("version %d, row %d: %v", version, n, err)
			}
		}
		if version == warmup.Newest && !atMost {
			t.Error("there are always fewer random features than there may be")
		}
	}
	if !more {
		t.Error("the fourth version has no more random features")
	}
}
