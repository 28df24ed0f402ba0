package watch

import (
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/ingest/join"
)

// late updates the state of records and labels that wait to be joined.
func (w *Watch) late(s *join.Status) {
	w.metrics.SetLate(map[string]int{"features": s.Pending, "labels": s.Early, "done": s.Done}, s.Oldest, map[string]int64{
		"matched": s.Matched, "timed_out": s.TimedOut, "evicted": s.Evicted, "late": s.Late, "duplicate": s.Duplicate,
		"contradicting": s.Contradicting, "unmatched": s.Unmatched, "repeated": s.Repeated,
	})
	w.now.Late = s
}

// lateText returns the part of the status line about records that wait for their labels.
func lateText(s *join.Status) string {
	return fmt.Sprintf("%s waiting up to %v for labels", display.Thousands(int64(s.Pending)), (time.Duration(s.Oldest) * time.Millisecond).Round(time.Second))
}
