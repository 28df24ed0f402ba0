package divergence

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// mixed is a row of four columns: normal, a category's indicator, lognormal and uniform,
// the last missing in some rows.
func mixed(rng *rand.Rand) []float64 {
	x := []float64{rng.NormFloat64(), float64(rng.IntN(8) / 7), math.Exp(2 * rng.NormFloat64()), rng.Float64()}
	if rng.IntN(10) == 0 {
		x[3] = math.NaN()
	}
	return x
}

// There is less than one false alarm in 100,000 rows.
func TestMonitorRaisesNoFalseAlarm(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 30_000
	}
	rng, m, largest, alarms := rand.New(rand.NewPCG(1, 1)), NewMonitor(4, BlockRows), 0.0, 0
	for range n {
		if _, s := m.Add(mixed(rng)); s != nil {
			largest = max(largest, s.Distance)
			if s.Alarm {
				alarms++
			}
		}
	}
	t.Logf("largest distance in %d rows: %.3f of the threshold", n, largest)
	if alarms > 0 {
		t.Errorf("%d alarms in %d rows", alarms, n)
	}
}

// An abrupt change is noticed within 2,000 rows, with the columns that moved.
func TestMonitorNoticesAChangeWithin2000Rows(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(x []float64, rng *rand.Rand)
		moved  []int // nil: only all columns together tell
	}{
		{"mean", func(x []float64, _ *rand.Rand) { x[0] += 0.5 }, []int{0}},
		{"spread", func(x []float64, _ *rand.Rand) { x[0] *= 1.7 }, []int{0}},
		{"share", func(x []float64, rng *rand.Rand) { x[1] = float64(rng.IntN(3) / 2) }, []int{1}},
		{"unit", func(x []float64, _ *rand.Rand) { x[3] *= 100 }, []int{3}},
		{"missing", func(x []float64, rng *rand.Rand) {
			if rng.IntN(3) == 0 {
				x[3] = math.NaN()
			}
		}, []int{3}},
		{"dependence", func(x []float64, rng *rand.Rand) { x[3] = 0.5 + 0.29*math.Tanh(1.5*x[0]) + 0.05*rng.NormFloat64() }, nil},
	} {
		rng, m := rand.New(rand.NewPCG(2, 3)), NewMonitor(4, BlockRows)
		const before, within = 5_300, 2000
		var alarm *Shift
		at := 0
		for i := 0; i < before+within && alarm == nil; i++ {
			x := mixed(rng)
			if i >= before {
				c.change(x, rng)
			}
			if _, s := m.Add(x); s != nil && s.Alarm {
				alarm, at = s, i+1-before
			}
		}
		switch {
		case alarm == nil:
			t.Errorf("%s: no alarm", c.name)
		case at <= 0:
			t.Errorf("%s: an alarm %d rows before the change", c.name, -at)
		case c.moved != nil && !slices.Equal(alarm.Moved(), c.moved):
			t.Errorf("%s: columns %v have moved, want %v", c.name, alarm.Moved(), c.moved)
		default:
			t.Logf("%s: after %d rows, distance %.2f, joint %.2f, columns %.2f", c.name, at, alarm.Distance, alarm.Joint, alarm.Columns)
		}
	}
}

// After an alarm what is new is the reference.
func TestMonitorAcceptsWhatStays(t *testing.T) {
	rng, m := rand.New(rand.NewPCG(4, 5)), NewMonitor(1, BlockRows)
	alarms := 0
	for i := range 20_000 {
		x := rng.NormFloat64()
		if i >= 6000 {
			x += 3
		}
		if _, s := m.Add([]float64{x}); s != nil && s.Alarm {
			alarms++
		}
	}
	if alarms != 1 {
		t.Errorf("%d alarms for one change", alarms)
	}
}
