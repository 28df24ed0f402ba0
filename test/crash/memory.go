package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/accrete-ml/accrete/test/crash/usage"
)

// footprint is the memory of the learners that are killed: the most that each had in memory
// since it was started, and the limit that its own metrics report.
type footprint struct {
	Samples int   `json:"samples"`
	Most    int64 `json:"rss_bytes"`   // the largest
	Limit   int64 `json:"limit_bytes"` // of that learner, by the formula
	Above   int   `json:"above"`       // samples above the limit

	Worst, WorstLimit int64 // of the sample that is most above its limit
}

// listen returns the address of a model's metrics: the killed learners of a run with mixed
// records have one, if no two of them run at once.
func (w *world) listen(model string) string {
	if !w.mixed && !w.options.late && !w.options.windows && !w.tables || model != "crash" || w.options.zombies > 0 {
		return "off"
	}
	return w.metrics
}

// watchMemory samples the memory of the learners until ctx is done.
func (w *world) watchMemory(ctx context.Context) (f footprint) {
	for ; ctx.Err() == nil; pause(ctx, 50*time.Millisecond) {
		pid := w.learner.Load()
		peak := peakOf(pid) // before the limit, which only grows
		var s usage.Sample
		if err := s.Scrape(w.metrics); err != nil || peak == 0 || s.Limit <= 0 || w.learner.Load() != pid {
			continue // it was killed, or is about to start
		}
		f.Samples++
		if peak > f.Most {
			f.Most, f.Limit = peak, s.Limit
		}
		if peak > s.Limit {
			f.Above++
			if peak-s.Limit > f.Worst-f.WorstLimit {
				f.Worst, f.WorstLimit = peak, s.Limit
			}
		}
	}
	return f
}

// peakOf returns the most memory that a process had since it was started, 0 if it has exited.
func peakOf(pid int64) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	return usage.Kilobytes(status, "VmHWM:")
}

func (f footprint) check() error {
	switch {
	case f.Samples == 0:
		return errors.New("no learner reported its memory")
	case f.Above > 0:
		return fmt.Errorf("in %d of %d samples the learner took more memory than the formula says: %d MB, the limit was %d MB", f.Above, f.Samples, f.Worst/1e6, f.WorstLimit/1e6)
	}
	return nil
}
