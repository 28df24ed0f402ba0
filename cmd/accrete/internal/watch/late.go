package watch

import (
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/ingest/join"
)

// late takes in what waits to be joined with its label.
func (w *Watch) late(s *join.Status) {
	w.metrics.SetLate(map[string]int{"features": s.Pending, "labels": s.Early, "done": s.Done}, s.Oldest, map[string]int64{
		"matched": s.Matched, "timed_out": s.TimedOut, "evicted": s.Evicted, "late": s.Late, "duplicate": s.Duplicate,
		"contradicting": s.Contradicting, "unmatched": s.Unmatched, "repeated": s.Repeated,
	})
	w.now.Late = s
}

// lateText returns what waits for the status line.
func lateText(s *join.Status) string {
	return fmt.Sprintf("%s waiting up to %v for labels", display.Thousands(int64(s.Pending)), (time.Duration(s.Oldest) * time.Millisecond).Round(time.Second))
}
