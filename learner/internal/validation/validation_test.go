package validation

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

type row struct {
	weight      float64
	errors      [4]float64
	loss, label float64
}

// wants fails the test unless got has the means of the rows.
func wants(t *testing.T, what string, got Tally, rows []row) {
	t.Helper()
	var weight, loss, mean, variance float64
	var errors [4]float64
	for _, r := range rows {
		weight += r.weight
		loss += r.weight * r.loss
		mean += r.weight * r.label
		for i, e := range r.errors {
			errors[i] += r.weight * e
		}
	}
	mean /= weight
	for _, r := range rows {
		variance += r.weight * (r.label - mean) * (r.label - mean)
	}
	if got.Rows() != int64(len(rows)) {
		t.Errorf("%s: %d rows, want %d", what, got.Rows(), len(rows))
	}
	have := got.Errors()
	for name, pair := range map[string][2]float64{
		"loss": {got.Loss(), loss / weight}, "variance": {got.Variance(), variance / weight},
		"model": {have[0], errors[0] / weight}, "majority": {have[1], errors[1] / weight}, "no change": {have[2], errors[2] / weight}, "linear": {have[3], errors[3] / weight},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9*(1+math.Abs(pair[1])) {
			t.Errorf("%s: %s is %v, want %v", what, name, pair[0], pair[1])
		}
	}
}

// The means of a stream and of its windows are those of the rows themselves, also after it
// was saved in the middle and loaded.
func TestMeansAreThoseOfTheRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	streams := make([]Stream, 2)
	var rows []row
	for n := 1; n <= 13_050; n++ {
		r := row{weight: float64(rng.IntN(3)), loss: rng.ExpFloat64(), label: 1e3 + rng.NormFloat64()}
		for i := range r.errors {
			r.errors[i] = rng.Float64()
		}
		rows = append(rows, r)
		for i := range streams {
			streams[i].Add(r.weight, r.errors, r.loss, r.label)
		}
		if n == 7777 {
			var a state.Arrays
			Save(&a, streams)
			loaded := make([]Stream, 2)
			s := &state.Reader{In: a}
			if Load(s, loaded); s.Err != nil || loaded[1] != streams[1] {
				t.Fatalf("loaded another stream: %v", s.Err)
			}
			streams = loaded
		}
		if n%3333 != 0 && n != 50 && n != 13_050 {
			continue
		}
		s := &streams[1]
		wants(t, "all rows", s.Whole, rows)
		for _, buckets := range []int{LatestBuckets, RecentBuckets} {
			last := min(n, buckets*bucketRows+n%bucketRows)
			wants(t, "window", s.Window(buckets), rows[n-last:])
		}
	}
}

func TestLoadRefusesWhatNoStreamHas(t *testing.T) {
	for what, damage := range map[string]func(*Stream){
		"a negative sum": func(s *Stream) { s.Whole[tallyLoss] = -1 },
		"a full bucket":  func(s *Stream) { s.buckets[s.at][tallyRows] = bucketRows },
		"a position":     func(s *Stream) { s.at = len(s.buckets) },
	} {
		all := make([]Stream, 1)
		all[0].Add(1, [4]float64{}, 1, 1)
		damage(&all[0])
		var a state.Arrays
		Save(&a, all)
		s := &state.Reader{In: a}
		if Load(s, make([]Stream, 1)); s.Err == nil {
			t.Errorf("%s was loaded", what)
		}
	}
}
