package divergence

import (
	"math/rand/v2"
	"testing"
)

// One false alarm in 10⁵ rows is more than there are, also of dependent columns.
func TestAWatchRaisesNoFalseAlarm(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 20_000
	}
	rng := rand.New(rand.NewPCG(8, 9))
	w := NewWatch(BlockRows)
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
