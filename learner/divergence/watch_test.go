package divergence

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// One false alarm in 10⁵ rows is more than there are, also of dependent columns.
func TestAWatchRaisesNoFalseAlarm(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 20_000
	}
	rng := rand.New(rand.NewPCG(8, 9))
	w := NewWatch(BlockRows, false)
	var rows []float64
	for range n / 1000 {
		rows = rows[:0]
		for range 1000 {
			x := rng.NormFloat64()
			rows = append(rows, x, x*x, float64(rng.IntN(4)))
		}
		w.Add(rows, 3, nil)
	}
	if w.found.Alarms != 0 || w.found.Compared != int64(n/BlockRows-4) {
		t.Errorf("%+v", w.found)
	}
}

// rare returns rows with columns that are 0 but in one of that many rows.
func rare(rng *rand.Rand, rows int, in ...int) (x []float64) {
	for range rows {
		for _, n := range in {
			v := 0.0
			if rng.IntN(n) == 0 {
				v = 1
			}
			x = append(x, v)
		}
	}
	return x
}

// A value that happens to be in no row of the reference is not a change, but one that is common is.
// With thresholds of earlier models each of them is.
func TestAWatchExpectsRareValues(t *testing.T) {
	blocks := 200
	if testing.Short() {
		blocks = 60
	}
	for _, size := range []int{MinBlockRows, BlockRows, 4 * BlockRows} {
		rng := rand.New(rand.NewPCG(10, uint64(size)))
		now, before := NewWatch(size, false), NewWatch(size, true)
		for range blocks {
			x := rare(rng, size, 300, 1000, 3000, 10_000, 100_000)
			now.Add(x, 5, nil)
			before.Add(x, 5, nil)
		}
		if now.found.Alarms != 0 || before.found.Alarms < 2 {
			t.Errorf("blocks of %d: %d alarms, and %d with the thresholds of earlier models", size, now.found.Alarms, before.found.Alarms)
		}
		now.Add(rare(rng, size, 300, 1000, 3000, 10_000, 12), 5, nil)
		if now.found.Alarms != 1 || !slices.Equal(now.found.Moved, []int{4}) {
			t.Errorf("blocks of %d: %d alarms, columns %v, if a new value is in a twelfth of the rows", size, now.found.Alarms, now.found.Moved)
		}
	}
}

// The share of a value may be as large as 2,000 rows without it leave room for, and the value
// anything.
func TestAWatchExpectsWhatTheReferenceMayLack(t *testing.T) {
	rng, w := rand.New(rand.NewPCG(11, 12)), NewWatch(BlockRows, false)
	w.Add(make([]float64, monitorBlocks*BlockRows), 1, nil)
	share := math.Log(2*monitorOdds) / (monitorBlocks * BlockRows)
	for range 200 {
		x := make([]float64, BlockRows)
		for i := range x {
			if rng.Float64() < share {
				x[i] = math.Pi / columnFrequency
			}
		}
		w.Add(x, 1, nil)
	}
	if w.found.Alarms != 0 || w.found.Compared != 200 || w.found.Distance == 0 {
		t.Errorf("%+v", w.found)
	}
}
