package warmup

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// Numbers with long tails become normal scores, and others stay as they are: those that
// the labels depend on evenly, and those of few values. Without the option all stay. The newest
// version sees the last rows alone.
func TestNormalScoresAreChosenByTheirError(t *testing.T) {
	const dim = 3
	rng := rand.New(rand.NewPCG(7, 1))
	rows := func(n int, spread func(v float64) float64) (x []float64, labels []target.Label, weights []float64) {
		for range n {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			x = append(x, spread(a), spread(b), float64(rng.IntN(scoredValues)))
			labels = append(labels, target.Label{Task: target.Regression, Value: math.Sin(2*a) + b + rng.NormFloat64()/10})
			weights = append(weights, 1)
		}
		return x, labels, weights
	}
	for _, test := range []struct {
		name   string
		spread func(v float64) float64
		option bool
		types  []encode.Type
		chosen bool
	}{
		{"long tails", func(v float64) float64 { return math.Exp(3 * v) }, true, nil, true},
		{"long tails of declared numbers", func(v float64) float64 { return math.Exp(3 * v) }, true, []encode.Type{encode.Numeric, encode.Numeric, encode.Category}, true},
		{"long tails without the option", func(v float64) float64 { return math.Exp(3 * v) }, false, nil, false},
		{"normal", func(v float64) float64 { return v }, true, nil, false},
		{"few values", math.Round, true, nil, false},
	} {
		for _, version := range []Version{First, Newest} {
			n := 400
			if version == Newest {
				n = 700
			}
			x, labels, weights := rows(n, test.spread)
			k, err := kernel.Parse("gaussian")
			if err != nil {
				t.Fatal(err)
			}
			a := Request{Version: version, Task: target.Regression, Kernel: k, Columns: test.types, Weights: weights, Scores: test.option}
			scales, _ := newScales(labels, a.Task, false)
			got, _ := a.scores(a.plan(x, labels, dim), x, labels, dim, Fit{Scales: scales})
			if chosen := got != nil && got[0] == encode.Normal && got[1] == encode.Normal; chosen != test.chosen {
				t.Errorf("%s, version %d: types %v", test.name, version, got)
			}
			if got != nil && (got[2] == encode.Normal || test.types != nil && got[2] != test.types[2]) {
				t.Errorf("%s, version %d: the column of few values is of type %v", test.name, version, got[2])
			}
		}
	}
}
