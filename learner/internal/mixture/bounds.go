package mixture

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

const (
	// recentLabels is the number of labels that a new one is compared with to say whether
	// it is an outlier.
	recentLabels = 256

	// epochLabels is the number of labels in an epoch. Each epoch begins a new range of the labels,
	// and the range of the epoch before remains in effect until the end of this one.
	epochLabels = 4096
)

// bounds has the range of the labels of a target without outliers. A new label outside of it is
// no outlier if it is usual among the last recentLabels of them, so that a change of scale is
// followed.
type bounds struct {
	head   []float64 // of boundFields
	labels []float64 // the last recentLabels of them, in a ring
}

// boundFields are the columns of bounds.head.
const (
	boundLabels   = iota // number of labels
	boundLow             // range in this epoch
	boundHigh            //
	boundLastLow         // range in the epoch before
	boundLastHigh        //
	boundOutside         // number of rows that were not learned; only for the first target
	boundFields
)

// boundSize is the size of bounds.
const boundSize = boundFields + recentLabels

func newBounds(of []float64) bounds {
	return bounds{of[:boundFields:boundFields], of[boundFields:]}
}

// check makes s fail unless b can be the result of rows.
func (b *bounds) check(s *state.Reader) {
	n := b.head[boundLabels]
	s.Require(n >= 0 && n == math.Floor(n) && n <= 1<<53, "mixture.rows: the number of labels is %v", n)
	s.Require(b.head[boundOutside] >= 0 && b.head[boundOutside] <= n, "mixture.rows: %v of %v labels are outside of the range", b.head[boundOutside], n)
	for _, v := range b.head {
		s.Require(math.Abs(v) <= math.MaxFloat64, "mixture.rows: the range of the labels has %v", v)
	}
	for _, v := range b.labels {
		s.Require(math.Abs(v) <= target.MaxMagnitude, "mixture.rows: a label is %v", v)
	}
}

// place returns where in the ring the label after n is.
func place(n float64) int { return int(int64(n) % recentLabels) }

// add takes a label. While all labels fit into the ring, it returns the labels so far without
// outliers if there are any outliers, so that the caller can begin again with them. Otherwise it
// returns nil.
func (b *bounds) add(y float64) (inliers []float64) {
	n := b.head[boundLabels]
	b.labels[place(n)] = y
	n++
	b.head[boundLabels] = n
	all := b.labels[:int(min(n, recentLabels))]
	now, last := b.head[boundLow:boundLow+2], b.head[boundLastLow:boundLastLow+2]
	switch {
	case n <= recentLabels:
		inliers = target.Inliers(all)
		now[0], now[1] = slices.Min(inliers), slices.Max(inliers)
		copy(last, now)
		if len(inliers) < len(all) {
			return inliers
		}
		return nil
	case y >= now[0] && y <= now[1]:
	case y >= last[0] && y <= last[1] || usual(all, y):
		now[0], now[1] = min(now[0], y), max(now[1], y)
	}
	if int64(n)%epochLabels == 0 {
		copy(last, now)
		inliers := target.Inliers(all)
		now[0], now[1] = slices.Min(inliers), slices.Max(inliers)
	}
	return nil
}

// last returns the last n labels, which are at most recentLabels, or all if there are fewer, in
// any order.
func (b *bounds) last(n int) []float64 {
	seen := b.head[boundLabels]
	if seen < float64(n) {
		return b.labels[:int(seen)]
	}
	end := place(seen)
	if end >= n {
		return b.labels[end-n : end]
	}
	return slices.Concat(b.labels[:end], b.labels[recentLabels-n+end:])
}

// usual reports whether y is no outlier among all.
func usual(all []float64, y float64) bool {
	lo, hi := target.InlierRange(all)
	return y >= lo && y <= hi
}

// span returns the range of the labels without outliers.
func (b *bounds) span() (lo, hi float64) {
	return min(b.head[boundLow], b.head[boundLastLow]), max(b.head[boundHigh], b.head[boundLastHigh])
}

// limits returns the least and the largest number that a scorer predicts: the range of the labels
// without outliers, extended by its width on both sides.
func (b *bounds) limits() (lo, hi float64) { return b.within(1) }

// reach returns the least and the largest number that a learner predicts: limits, extended to the
// last label if that is learned, so that the predictions follow a jump of the labels to another
// level at once.
func (b *bounds) reach() (lo, hi float64) {
	lo, hi = b.limits()
	if n := b.head[boundLabels]; n > 0 {
		if last := b.labels[place(n-1)]; !b.outside(last) {
			lo, hi = min(lo, last), max(hi, last)
		}
	}
	return lo, hi
}

// within returns the range of the labels without outliers, extended by that many times its width on
// both sides.
func (b *bounds) within(widths float64) (lo, hi float64) {
	if b.head[boundLabels] < leastLabels {
		return -target.MaxMagnitude, target.MaxMagnitude
	}
	lo, hi = b.span()
	margin := float64(widths * (hi - lo))
	return target.Bounded(lo - margin), target.Bounded(hi + margin)
}

// leastLabels is the least number of labels from whose range limits are derived.
const leastLabels = 3

// outlierWidths is the distance of a label from the range at which it is not learned, in widths of
// the range. One that is closer may be the largest of labels with a long tail: its residual is
// bounded, but it counts. Chosen by trial, see docs/constants.md.
const outlierWidths = 100

// outside reports whether y is too far outside of the range to be learned.
func (b *bounds) outside(y float64) bool {
	lo, hi := b.within(outlierWidths)
	return y < lo || y > hi
}

// mostVariance returns the square of the width of the range, which bounds the means of squared
// errors. If there are few labels, or all are the same, there is no bound.
func (b *bounds) mostVariance() float64 {
	lo, hi := b.span()
	if b.head[boundLabels] < leastLabels || lo == hi {
		return math.MaxFloat64
	}
	return target.Finite(float64((hi - lo) * (hi - lo)))
}
