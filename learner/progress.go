package learner

import (
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Progress is the progressive validation of a Learner, which predicts each row before
// it learns it, and of three baselines on the same rows.
type Progress struct {
	Task     Task
	Examples int64  // labelled rows so far
	Step     int64  // mini-batches learned
	Warmup   int    // rows that the fit in effect used: 0 before the first, 1000 from the last on
	Features int    // random features in use
	Kernel   string // in use, with its scale; "" before the first fit
	Average  bool   // the average of the iterates serves, not the last of them
	Drifts   Drifts

	Whole  Scores // all rows
	Recent Scores // the last 10,000, to the next hundred above
	Latest Scores // the last 1,000, likewise

	Intervals []IntervalScore // of each target, all rows; nil without Config.Intervals
	Inputs    *Inputs         // nil without Config.Monitor
	Mixture   *MixtureScores  // nil without Config.Mixture, and before the first label
}

// IntervalScore is the accuracy of the intervals around the predictions of a target.
type IntervalScore struct {
	Coverage float64 // share of the labels in the interval of their prediction
	Width    float64 // mean width, in the label's units
}

// Scores are the errors on some rows, without the first labelled row of all, which
// nothing could predict. For several targets they are the means of those in Each.
type Scores struct {
	Rows int64
	Each []Scores // of each target; nil if there is one

	Model    Score
	Majority Score // the most frequent class so far; the mean so far
	NoChange Score // the last label
	Linear   Score // ridge regression; like Majority until it has learned a mini-batch. With Config.Mixture, its linear member that has the greatest weight
}

// Score is means with the weights of the rows.
type Score struct {
	Error float64 // classification: share of wrong classes; regression: MSE / variance of the labels (nMSE); novelty: share of flagged rows
	MSE   float64 // regression only
	Loss  float64 // of the model only; see PredictedBatch.Loss
}

// A tally adds up the errors of rows.
type tally [tallyFields]float64

const (
	tallyRows = iota
	tallyWeight
	tallyModel // weighted errors, or squared errors
	tallyMajority
	tallyNoChange
	tallyLinear
	tallyLoss
	tallyMean     // of the labels
	tallyVariance // sum of their squared deviations from it
	tallyFields
)

// add adds one row. errors are of the model and the three baselines.
func (t *tally) add(weight float64, errors [4]float64, loss, label float64) {
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
func (t *tally) merge(u tally) {
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

func (t *tally) scores(task Task) Scores {
	s := Scores{Rows: int64(t[tallyRows])}
	if t[tallyWeight] == 0 {
		return s
	}
	variance := t[tallyVariance] / t[tallyWeight]
	for i, score := range []*Score{&s.Model, &s.Majority, &s.NoChange, &s.Linear} {
		e := t[tallyModel+i] / t[tallyWeight]
		switch {
		case task == Classification, task == Novelty:
			score.Error = e
		case variance > 0:
			*score = Score{Error: target.Finite(e / variance), MSE: e}
		default: // labels without variance: perfect, or as bad as no model
			*score = Score{Error: min(e, 1), MSE: e}
		}
	}
	s.Model.Loss = t[tallyLoss] / t[tallyWeight]
	return s
}

// scores returns those of the tallies of all targets.
func scores(of []tally, task Task) Scores {
	s := of[0].scores(task)
	if len(of) == 1 {
		return s
	}
	s = Scores{Rows: s.Rows}
	n := float64(len(of))
	for j := range of {
		one := of[j].scores(task)
		s.Each = append(s.Each, one)
		from := []Score{one.Model, one.Majority, one.NoChange, one.Linear}
		for i, to := range []*Score{&s.Model, &s.Majority, &s.NoChange, &s.Linear} {
			to.Error = target.Finite(to.Error + from[i].Error/n)
			to.MSE = target.Finite(to.MSE + from[i].MSE/n)
			to.Loss = target.Finite(to.Loss + from[i].Loss/n)
		}
	}
	return s
}

const (
	bucketRows    = 100
	recentBuckets = 100 // buckets in the longer window
	latestBuckets = 10  // and in the shorter
)

// validation is the progressive validation of a stream: a tally of all rows, and a ring
// of buckets for the windows.
type validation struct {
	whole   tally
	buckets [recentBuckets + 1]tally // the one being filled, and as many as the window has
	at      int                      // the one being filled
}

func (r *validation) add(weight float64, errors [4]float64, loss, label float64) {
	r.whole.add(weight, errors, loss, label)
	r.buckets[r.at].add(weight, errors, loss, label)
	if r.buckets[r.at][tallyRows] == bucketRows {
		r.at = (r.at + 1) % len(r.buckets)
		r.buckets[r.at] = tally{}
	}
}

// window returns the tally of the last buckets and of the one being filled.
func (r *validation) window(buckets int) tally {
	var t tally
	for i := buckets; i >= 0; i-- {
		t.merge(r.buckets[(r.at-i+len(r.buckets))%len(r.buckets)])
	}
	return t
}

func saveValidation(a *state.Arrays, all []validation) {
	var whole, ring []float64
	var at []int64
	for i := range all {
		r := &all[i]
		whole = append(whole, r.whole[:]...)
		for _, b := range r.buckets {
			ring = append(ring, b[:]...)
		}
		at = append(at, int64(r.at))
	}
	state.Put(a, "progress", tallyFields, whole)
	state.Put(a, "progress.ring", tallyFields, ring)
	state.Put(a, "progress.at", 1, at)
}

func loadValidation(s *state.Reader, all []validation) {
	const buckets = len(validation{}.buckets)
	whole := state.Take[float64](s, "progress", len(all), tallyFields)
	ring := state.Take[float64](s, "progress.ring", len(all)*buckets, tallyFields)
	at := state.Take[int64](s, "progress.at", len(all), 1)
	if s.Err != nil {
		return
	}
	for i := range all {
		r := &all[i]
		copy(r.whole[:], whole[i*tallyFields:])
		for k := range r.buckets {
			copy(r.buckets[k][:], ring[(i*buckets+k)*tallyFields:])
			r.buckets[k].check(s, k == int(at[i]))
		}
		r.whole.check(s, false)
		s.Require(at[i] >= 0 && int(at[i]) < buckets, "progress: position %d is out of range", at[i])
		r.at = int(at[i])
	}
}

func (t *tally) check(s *state.Reader, filling bool) {
	for i, v := range t {
		s.Require(v >= 0 || i == tallyMean, "progress: a sum is %v, want 0 or more", v)
	}
	s.Require(!filling || t[tallyRows] < bucketRows, "progress: the current bucket has %v rows", t[tallyRows])
}
