package interval

import (
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// A state of the first version, whose distances are in the label's units, goes on with about
// the same intervals.
func TestLoadsTheFirstVersion(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	of := Kind{Coverage: 0.9}
	tracker := NewTracker(of, 2)
	add := func(t *Tracker) {
		t.Add([]float64{0, 0}, 0, func(j int) float64 { return []float64{1, 1e-3}[j] * r.NormFloat64() })
		t.Step()
	}
	for range 2000 {
		add(tracker)
	}
	var a state.Arrays
	tracker.Save(&a)
	was := a[1].Data.([]float64)
	for j := range 2 { // of each target: scale, below, above
		for part := range 3 {
			was[2*part+j] *= []float64{1, 1e-3}[j]
		}
	}
	a[1].Shape[0], a[1].Data = 5, was[:10]
	s := &state.Reader{In: a}
	loaded := NewTracker(of, 2)
	loaded.Load(s, tracker.Rule)
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		add(loaded)
	}
	for j := range 2 {
		_, want := tracker.Rule.Bounds(0, j)
		if _, got := loaded.Rule.Bounds(0, j); got < want/1.5 || got > want*1.5 {
			t.Errorf("target %d: the interval ends at %v, before at %v", j, got, want)
		}
	}
}
