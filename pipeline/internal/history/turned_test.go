package history

import (
	"testing"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Predictions after a ROLLBACK, ADOPT or UPGRADE name another lineage than those before it, at once.
func TestATurnIsPartOfTheLineage(t *testing.T) {
	seen := map[snapshot.Hash]bool{}
	for _, r := range []modellog.Record{&modellog.Rollback{Seq: 5}, &modellog.Rollback{Seq: 6}, &modellog.Adopt{Seq: 5}, &modellog.Upgrade{Seq: 5}} {
		h, err := New("m", []byte("{}"), learner.Config{})
		if err != nil {
			t.Fatal(err)
		}
		seen[h.Lineage] = true
		out := h.Turned(r)
		if seen[h.Lineage] || h.Lineage != snapshot.Hash(h.rows) || h.encoder != nil {
			t.Errorf("%v: the lineage %x is that of something else", r, h.Lineage)
		}
		if seq, _, _ := modellog.Decided(r); h.Seq != seq || out.Seq != seq {
			t.Errorf("%v: seq %d and %d", r, h.Seq, out.Seq)
		}
		seen[h.Lineage] = true
	}
}
