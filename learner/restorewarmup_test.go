package learner

import (
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// A Learner that is restored within the warm-up continues to the same bits, in each version
// and whatever the size of its mini-batches is at that row.
func TestWarmupsOfAllVersionsAreRestored(t *testing.T) {
	for _, a := range algorithms {
		for _, version := range []warmup.Version{warmup.First, warmup.Second, warmup.Third, warmup.Newest} {
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
