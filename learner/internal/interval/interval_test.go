package interval

import (
	"math"
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
	for j := range 2 { // of each target: scale, which is in the label's units already, below, above
		for part := 1; part < 3; part++ {
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

// Over any stream of residuals, the share of labels beyond each end differs from the wanted
// one by no more than the path of the distance over the step size and the rows: also where
// large residuals come together, or where they are predictable.
func TestShareBeyondEachEndIsBounded(t *testing.T) {
	const n, share = 6000, 0.9
	for name, residual := range map[string]func(r *rand.Rand, i int) float64{
		"heavy tails": func(r *rand.Rand, _ int) float64 { return r.NormFloat64() / (0.02 + r.Float64()) },
		"bursts":      func(r *rand.Rand, i int) float64 { return r.NormFloat64() * float64(1+9*(i/300%2)) },
		"falling":     func(r *rand.Rand, i int) float64 { return r.NormFloat64() * (0.2 + 20/(1+float64(i)/20)) },
		"one side":    func(r *rand.Rand, _ int) float64 { return 0.5 + r.ExpFloat64() },
	} {
		r, tracker := rand.New(rand.NewPCG(7, 3)), NewTracker(Kind{Coverage: share}, 1)
		low, high, rows := 0.0, 0.0, 0.0
		for i := range n {
			y := residual(r, i)
			if tracker.Rule.Valid() && i >= 200 {
				from, to := tracker.Rule.Bounds(0, 0)
				low, high, rows = low+outside(y < from), high+outside(y > to), rows+1
			}
			tracker.Add([]float64{0}, 0, func(int) float64 { return y })
			if i%32 == 31 {
				tracker.Step()
			}
		}
		off := 1 / (rate * rows) // distances have moved by less than a deviation
		if got := high / rows; math.Abs(got-(1-share)/2) > off {
			t.Errorf("%s: %.4f of the labels are above, want %.3f ± %.4f", name, got, (1-share)/2, off)
		}
		if got := low / rows; math.Abs(got-(1-share)/2) > off && name != "one side" { // whose distance is 0
			t.Errorf("%s: %.4f of the labels are below, want %.3f ± %.4f", name, got, (1-share)/2, off)
		}
	}
}
