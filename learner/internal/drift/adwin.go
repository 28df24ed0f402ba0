// Package drift has two detectors of a growing mean: ADWIN and Page-Hinkley.
package drift

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// ADWIN is an adaptive window over numbers in [0, 1] (Bifet and Gavaldà 2007, ADWIN2): the longest
// run of the most recent numbers in which no two parts have significantly different means. It keeps
// buckets whose sizes are powers of two, so that its memory grows with the logarithm of the window.
type ADWIN struct {
	levels  [][]bucket // level i has buckets of 2^i numbers each, the oldest first
	waiting int        // numbers since the last check
}

// bucket is the sum of some numbers and of their squared deviations.
type bucket struct{ sum, squares float64 }

const (
	adwinDelta   = 0.002 // probability of a false alarm per check (the paper's δ); 0.002 is the default of MOA
	adwinBuckets = 5     // maximum number of buckets at a level (the paper's M)
	adwinEvery   = 32    // numbers between checks, as in MOA
	adwinLeast   = 16    // least numbers in either part; the bound is poor for fewer
)

// Add adds v. It reports whether the later part of the window has a significantly larger mean than
// the part before, which it then drops. A significantly smaller mean shortens the window as well,
// but without an alarm.
func (a *ADWIN) Add(v float64) (grown bool) {
	a.insert(0, bucket{sum: v})
	if a.waiting++; a.waiting < adwinEvery {
		return false
	}
	a.waiting = 0
	for {
		cut, up := a.cut()
		if !cut {
			return grown
		}
		grown = grown || up
		a.drop()
	}
}

// insert adds the newest bucket of a level. If there are too many, it merges the two oldest into
// one of the next level.
func (a *ADWIN) insert(level int, b bucket) {
	if level == len(a.levels) {
		a.levels = append(a.levels, make([]bucket, 0, adwinBuckets+1))
	}
	l := append(a.levels[level], b)
	if len(l) > adwinBuckets {
		size := float64(int64(1) << level)
		d := (l[0].sum - l[1].sum) / size
		merged := bucket{l[0].sum + l[1].sum, l[0].squares + l[1].squares + float64(float64(d*d)*(size/2))}
		l = l[:copy(l, l[2:])]
		a.levels[level] = l
		a.insert(level+1, merged)
		return
	}
	a.levels[level] = l
}

// drop removes the oldest bucket.
func (a *ADWIN) drop() {
	top := len(a.levels) - 1
	l := a.levels[top]
	a.levels[top] = l[:copy(l, l[1:])]
	for top >= 0 && len(a.levels[top]) == 0 {
		a.levels = a.levels[:top]
		top--
	}
}

// cut reports whether there is a place at which the two parts of the window differ significantly,
// and whether the later part then has the larger mean.
func (a *ADWIN) cut() (cut, up bool) {
	n, sum, squares := 0.0, 0.0, 0.0
	a.each(func(size float64, b bucket) bool {
		if n > 0 {
			d := b.sum/size - sum/n
			squares += float64(float64(d*d) * (n * size / (n + size)))
		}
		n, sum, squares = n+size, sum+b.sum, squares+b.squares
		return true
	})
	if n < 2*adwinLeast {
		return false, false
	}
	variance := squares / n
	logTerm := vec.Log(2 * vec.Log(n) / adwinDelta)
	before, total := 0.0, 0.0
	a.each(func(size float64, b bucket) bool {
		before, total = before+size, total+b.sum
		after := n - before
		if after < adwinLeast {
			return false
		}
		if before < adwinLeast {
			return true
		}
		m := 1/before + 1/after // 1/m of the paper
		bound := math.Sqrt(2*m*variance*logTerm) + float64(2./3*logTerm*m)
		d := (sum-total)/after - total/before
		cut, up = math.Abs(d) > bound, d > 0
		return !cut
	})
	return cut, cut && up
}

// each calls f with the buckets, the oldest first, until it returns false.
func (a *ADWIN) each(f func(size float64, b bucket) bool) {
	for i := len(a.levels) - 1; i >= 0; i-- {
		for _, b := range a.levels[i] {
			if !f(float64(int64(1)<<i), b) {
				return
			}
		}
	}
}

// Save writes the window.
func (a *ADWIN) Save(to *state.Arrays) {
	var buckets []float64
	counts := []int64{int64(a.waiting)}
	for _, l := range a.levels {
		counts = append(counts, int64(len(l)))
		for _, b := range l {
			buckets = append(buckets, b.sum, b.squares)
		}
	}
	state.Put(to, "adwin.counts", 1, counts)
	state.Put(to, "adwin.buckets", 2, buckets)
}

// Load reads what Save wrote into an empty window.
func (a *ADWIN) Load(s *state.Reader) {
	counts := state.Take[int64](s, "adwin.counts", state.AnySize, 1)
	buckets := state.Take[float64](s, "adwin.buckets", state.AnySize, 2)
	s.Require(len(counts) >= 1 && len(counts) < 60, "adwin: %d levels", len(counts))
	if s.Err != nil {
		return
	}
	s.Require(counts[0] >= 0 && counts[0] < adwinEvery, "adwin: %d values since the last check", counts[0])
	a.waiting = int(counts[0])
	for i, n := range counts[1:] {
		s.Require(n >= 0 && n <= adwinBuckets && (n > 0 || i < len(counts)-2) && int(2*n) <= len(buckets), "adwin: %d buckets at level %d", n, i)
		if s.Err != nil {
			return
		}
		l := make([]bucket, n, adwinBuckets+1)
		for j := range l {
			l[j] = bucket{buckets[2*j], buckets[2*j+1]}
			size := float64(int64(1) << i)
			s.Require(l[j].sum >= 0 && l[j].sum <= size && l[j].squares >= 0 && l[j].squares <= size, "adwin: invalid bucket %v", l[j])
		}
		buckets = buckets[2*n:]
		a.levels = append(a.levels, l)
	}
	s.Require(len(buckets) == 0, "adwin: more buckets than their counts")
}
