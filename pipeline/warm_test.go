package pipeline

import (
	"testing"

	"github.com/accrete-ml/accrete/pipeline/internal/history"
)

// A standby holds no publication that is known to be published, not even while it catches up.
func TestAStandbyHoldsWhatMayNotBePublished(t *testing.T) {
	w := new(warm)
	holds := func(first, n int64) {
		t.Helper()
		if int64(len(w.waiting)) != n || w.waiting[0].Seq != first {
			t.Errorf("it holds %d publications from seq %d on, want %d from %d", len(w.waiting), w.waiting[0].Seq, n, first)
		}
	}
	for seq := range int64(10) {
		w.hold(&history.Publication{Seq: seq + 1}, 7)
	}
	holds(8, 3)
	w.published(9)
	holds(10, 1)
}
