package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner"
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
		r, tail := rand.New(rand.NewPCG(5, 6)), tail{}
		for range test.rows {
			tail.add(learner.Label{Task: learner.Regression, Value: test.next(r)})
		}
		if share := tail.share(); share >= tailVariance != test.long || share > 1 {
			t.Errorf("%s: the largest labels have the share %.2f of the variance", test.name, share)
		}
	}
}
