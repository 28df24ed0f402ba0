package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// footprint is the memory of the learners that are killed, as their own metrics report it.
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
	if !w.mixed && !w.options.late && !w.options.windows || model != "crash" || w.options.zombies > 0 {
		return "off"
	}
	return w.metrics
}

// watchMemory samples the memory of the learners until ctx is done.
func (w *world) watchMemory(ctx context.Context) (f footprint) {
	for ; ctx.Err() == nil; pause(ctx, 50*time.Millisecond) {
		var s sample
		if err := s.scrape(w.metrics); err != nil || s.Limit <= 0 { // it was killed, or has learned nothing yet
			continue
		}
		f.Samples++
		if s.Resident > f.Most {
			f.Most, f.Limit = s.Resident, s.Limit
		}
		if s.Resident > s.Limit {
			f.Above++
			if s.Resident-s.Limit > f.Worst-f.WorstLimit {
				f.Worst, f.WorstLimit = s.Resident, s.Limit
			}
		}
	}
	return f
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
