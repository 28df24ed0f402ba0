package random

import (
	"math"
	"testing"
)

func TestNormalQuantileInvertsTheDistribution(t *testing.T) {
	for _, u := range []float64{1e-16, 1e-9, 0.01, 0.074, 0.076, 0.3, 0.5, 0.9, 1 - 1e-12} {
		if got := math.Erfc(-NormalQuantile(u)/math.Sqrt2) / 2; math.Abs(got-u) > 1e-14*math.Max(u, 1e-3) {
			t.Errorf("normalQuantile(%v): its distribution function is %v", u, got)
		}
	}
}
