package hints

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Labels have a long tail if their logarithm varies a lot. Labels that are not all positive have none.
func TestLongTailsAreFound(t *testing.T) {
	for _, test := range []struct {
		name string
		next func(r *rand.Rand) float64
		rows int
		long bool
	}{
		{"normal", func(r *rand.Rand) float64 { return 100 + r.NormFloat64() }, 5000, false},
		{"exponential", (*rand.Rand).ExpFloat64, 5000, false},
		{"lognormal", func(r *rand.Rand) float64 { return math.Exp(2 * r.NormFloat64()) }, 5000, true},
		{"lognormal, huge", func(r *rand.Rand) float64 { return 1e300 * math.Exp(2*r.NormFloat64()) }, 5000, true},
		{"few rows", func(r *rand.Rand) float64 { return math.Exp(2 * r.NormFloat64()) }, 150, false},
		{"with zeros", func(r *rand.Rand) float64 { return max(0, math.Exp(2*r.NormFloat64())-1) }, 5000, false},
		{"constant", func(*rand.Rand) float64 { return 3 }, 5000, false},
	} {
		r, tail := rand.New(rand.NewPCG(5, 6)), LongTail{}
		for range test.rows {
			tail.Add(test.next(r))
		}
		if percent := tail.Percent(); percent > 0 != test.long || percent > 100 {
			t.Errorf("%s: the largest labels have %d %% of the variance", test.name, percent)
		}
	}
}
