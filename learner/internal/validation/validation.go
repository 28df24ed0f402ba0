// Package validation adds up the errors of predictions that were made before their rows were
// learned, and the errors of baselines.
package validation

import (
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// A Tally holds sums of the errors of rows.
type Tally [tallyFields]float64

const (
	tallyRows = iota
	tallyWeight
	tallyModel // sum of weighted errors, which are squared for a regression
	tallyMajority
	tallyNoChange
	tallyLinear
	tallyLoss
	tallyMean     // of the labels
	tallyVariance // sum of the squared deviations of the labels from their mean
	tallyFields
)

// Add adds one row. errors are the errors of the model and of the three baselines.
func (t *Tally) Add(weight float64, errors [4]float64, loss, label float64) {
	t[tallyRows]++
	if weight == 0 {
		return
	}
	t[tallyWeight] += weight
	for i, e := range errors {
		t[tallyModel+i] = target.Finite(t[tallyModel+i] + float64(weight*e))
	}
	t[tallyLoss] = target.Finite(t[tallyLoss] + float64(weight*loss))
	d := label - t[tallyMean]
	t[tallyMean] += float64(d * (weight / t[tallyWeight]))
	t[tallyVariance] = target.Finite(t[tallyVariance] + float64(weight*max(0, float64(d*(label-t[tallyMean])))))
}

// merge adds the rows of u.
func (t *Tally) merge(u Tally) {
	t[tallyRows] += u[tallyRows]
	if u[tallyWeight] == 0 {
		return
	}
	w := t[tallyWeight] + u[tallyWeight]
	d, share := u[tallyMean]-t[tallyMean], u[tallyWeight]/w
	between := float64(float64(d*d) * float64(t[tallyWeight]*share))
	for i := tallyModel; i <= tallyLoss; i++ {
		t[i] = target.Finite(t[i] + u[i])
	}
	t[tallyMean] += float64(d * share)
	t[tallyVariance] = target.Finite(target.Finite(t[tallyVariance]+u[tallyVariance]) + between)
	t[tallyWeight] = w
}

// Rows returns the number of rows.
func (t *Tally) Rows() int64 { return int64(t[tallyRows]) }

// Empty reports whether no row has a weight, so that there are no means.
func (t *Tally) Empty() bool { return t[tallyWeight] == 0 }

// Errors returns the mean errors, of the model and the three baselines.
func (t *Tally) Errors() (of [4]float64) {
	for i := range of {
		of[i] = t[tallyModel+i] / t[tallyWeight]
	}
	return of
}

// Loss returns the mean loss of the model.
func (t *Tally) Loss() float64 { return t[tallyLoss] / t[tallyWeight] }

// Variance returns the variance of the labels.
func (t *Tally) Variance() float64 { return t[tallyVariance] / t[tallyWeight] }

const (
	bucketRows    = 100
	RecentBuckets = 100 // buckets in the longer window
	LatestBuckets = 10  // buckets in the shorter window
)

// Stream is the progressive validation of a stream: a tally of all rows, and a ring of buckets for
// windows of recent rows.
type Stream struct {
	Whole   Tally
	buckets [RecentBuckets + 1]Tally // the bucket being filled, and as many as the longer window has
	at      int                      // index of the bucket being filled
}

// Add adds one row: the errors of the model and of three baselines, the loss of the model and
// the label.
func (r *Stream) Add(weight float64, errors [4]float64, loss, label float64) {
	r.Whole.Add(weight, errors, loss, label)
	r.buckets[r.at].Add(weight, errors, loss, label)
	if r.buckets[r.at][tallyRows] == bucketRows {
		r.at = (r.at + 1) % len(r.buckets)
		r.buckets[r.at] = Tally{}
	}
}

// Window returns the tally of the given number of last buckets and the bucket being filled.
func (r *Stream) Window(buckets int) Tally {
	var t Tally
	for i := buckets; i >= 0; i-- {
		t.merge(r.buckets[(r.at-i+len(r.buckets))%len(r.buckets)])
	}
	return t
}

// Save writes the streams of all targets.
func Save(a *state.Arrays, all []Stream) {
	var whole, ring []float64
	var at []int64
	for i := range all {
		r := &all[i]
		whole = append(whole, r.Whole[:]...)
		for _, b := range r.buckets {
			ring = append(ring, b[:]...)
		}
		at = append(at, int64(r.at))
	}
	state.Put(a, "progress", tallyFields, whole)
	state.Put(a, "progress.ring", tallyFields, ring)
	state.Put(a, "progress.at", 1, at)
}

// Load reads what Save wrote.
func Load(s *state.Reader, all []Stream) {
	const buckets = len(Stream{}.buckets)
	whole := state.Take[float64](s, "progress", len(all), tallyFields)
	ring := state.Take[float64](s, "progress.ring", len(all)*buckets, tallyFields)
	at := state.Take[int64](s, "progress.at", len(all), 1)
	if s.Err != nil {
		return
	}
	for i := range all {
		r := &all[i]
		copy(r.Whole[:], whole[i*tallyFields:])
		for k := range r.buckets {
			copy(r.buckets[k][:], ring[(i*buckets+k)*tallyFields:])
			r.buckets[k].check(s, k == int(at[i]))
		}
		r.Whole.check(s, false)
		s.Require(at[i] >= 0 && int(at[i]) < buckets, "progress: position %d is out of range", at[i])
		r.at = int(at[i])
	}
}

func (t *Tally) check(s *state.Reader, filling bool) {
	for i, v := range t {
		s.Require(v >= 0 || i == tallyMean, "progress: a sum is %v, want 0 or more", v)
	}
	s.Require(!filling || t[tallyRows] < bucketRows, "progress: the current bucket has %v rows", t[tallyRows])
}
