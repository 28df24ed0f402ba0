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

// TestModelsHaveFeaturesForTheirRowsUntilTheLastFit: four for each row in the fifth version,
// three in the newest, and 512 at least. Restored, they have the same bits, whatever block is next.
func TestModelsHaveFeaturesForTheirRowsUntilTheLastFit(t *testing.T) {
	more := false
	for _, version := range []warmup.Version{warmup.Fourth, warmup.Fifth, warmup.Newest} {
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
			if version == warmup.Newest {
				most = max(512, 3*n)
			}
			has := l.engine.Features()
			if version >= warmup.Fifth && has > most {
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
		if version >= warmup.Fifth && !atMost {
			t.Errorf("version %d: there are always fewer random features than there may be", version)
		}
	}
	if !more {
		t.Error("the fourth version has no more random features")
	}
}

// TestMachinesBeginWithTheLastFit in the newest version, and with the first in those before it.
// Restored before, at and after it, they have the same bits.
func TestMachinesBeginWithTheLastFit(t *testing.T) {
	last := warmup.EffectiveAt(warmup.LastCheckpoint)
	for _, version := range []warmup.Version{warmup.Fifth, warmup.Newest} {
		s := streamOf("newton", "growing")
		s.config.Warmup, s.config.Mixture = int(version), true
		s.config.BlockSize, s.config.MaxFeatures, s.config.Minibatch = 16, 128, 32
		rows := s.rows(1600) // of which every seventh has no label
		l, at := newLearner(t, s.config), 0
		restored := newLearner(t, s.config)
		for _, n := range []int{1000, 1440, 1480, 1600} {
			learn(l, rows.Slice(at, n), 500)
			learn(restored, rows.Slice(at, n), 500)
			at = n
			asked := 0.0
			for _, m := range l.Progress().Mixture.Members {
				if m.Name == "short" || m.Name == "reset" {
					asked += m.Rows
				}
			}
			if want := version < warmup.Newest || l.labelled > int64(last); want != (asked > 0) {
				t.Errorf("version %d, row %d: machines have predicted %v of the rows", version, n, asked)
			}
			if got, want := hash(restored.State()), hash(l.State()); got != want {
				t.Errorf("version %d, row %d: restored, the state's hash is %s, want %s", version, n, got, want)
			}
			var err error
			if restored, err = restore(s.config, l.State()); err != nil {
				t.Fatalf("version %d, row %d: %v", version, n, err)
			}
		}
	}
}
