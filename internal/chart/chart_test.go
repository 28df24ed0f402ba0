package chart

import "testing"

// A logarithmic axis has at least two numbers, even if it is much shorter than a decade.
func TestShortAxesHaveNumbers(t *testing.T) {
	for _, axis := range [][2]float64{{0.62, 1.2}, {0.09, 0.3}, {500, 1100}, {1e-4, 1.2}} {
		if ticks := Decades(axis[0], axis[1]); len(ticks) < 2 || ticks[0].Value < axis[0] {
			t.Errorf("from %v to %v: %v", axis[0], axis[1], ticks)
		}
	}
}
