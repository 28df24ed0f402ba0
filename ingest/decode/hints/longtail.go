package hints

import "slices"

const (
	// tailRows is the number of labels that are looked at, and leastTailRows the least number.
	tailRows, leastTailRows = 20_000, 200

	// tailVariance is the share of the variance from which on the largest hundredth of the labels is
	// a long tail. Of an exponential distribution it has .2, and of a lognormal one of σ = 1 .5.
	tailVariance = 0.6
)

// LongTail finds out whether few labels are far larger than all others. The zero value has seen none.
type LongTail struct{ labels []float64 }

// Add adds a label.
func (t *LongTail) Add(v float64) {
	if len(t.labels) < tailRows {
		t.labels = append(t.labels, v)
	}
}

// Percent returns the percentage of the variance of the labels that the largest hundredth of them has,
// if it is so large that they have a long tail, and otherwise 0.
func (t *LongTail) Percent() int {
	if share := t.share(); share >= tailVariance {
		return int(100 * share)
	}
	return 0
}

// share returns the share of the variance of the labels that the largest hundredth of them has, and 0
// unless all labels are positive and there are enough of them.
func (t *LongTail) share() float64 {
	n := len(t.labels)
	if n < leastTailRows || slices.Min(t.labels) <= 0 {
		return 0
	}
	slices.Sort(t.labels)
	mean := 0.0
	for _, y := range t.labels {
		mean += y / float64(n)
	}
	all, top := 0.0, 0.0
	for i, y := range t.labels {
		d := (y/mean - 1) * (y/mean - 1) // does not overflow
		if all += d; i >= n-n/100 {
			top += d
		}
	}
	if !(all > 0) {
		return 0
	}
	return top / all
}
