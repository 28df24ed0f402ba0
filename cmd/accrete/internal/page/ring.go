package page

import (
	"slices"
	"time"
)

const (
	seconds   = 120 // length of the small charts
	average   = 10  // seconds over which rates are averaged
	timings   = 512 // number of latest batches or requests over which latencies are measured
	mostRows  = 8   // length of the lists of snapshots and invalid records
	mostNotes = 12  // length of the list of events
)

// second holds the values of one second in the small charts.
type second struct {
	records int64 // since the start of the process
	lag     int64
	error   float64
}

// ring holds the last values that were added.
type ring[T any] struct {
	values []T
	most   int
}

func (r *ring[T]) add(v T) {
	if len(r.values) >= r.most {
		r.values = slices.Delete(r.values, 0, len(r.values)-r.most+1)
	}
	r.values = append(r.values, v)
}

// newestFirst returns a copy in reverse order.
func (r *ring[T]) newestFirst() []T {
	all := slices.Clone(r.values)
	slices.Reverse(all)
	return all
}

// quantiles returns the given quantiles of durations; zeros if there are none.
func quantiles(of []time.Duration, at ...float64) []time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	out := make([]time.Duration, len(at))
	for i, q := range at {
		if len(sorted) > 0 {
			out[i] = sorted[int(q*float64(len(sorted)-1))]
		}
	}
	return out
}
