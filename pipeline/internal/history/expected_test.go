package history

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// While labels come for a part of the rows only, and the others are harder, the estimate is
// the error over all of them, of which the labels show the smaller part.
func TestEstimatedErrorIsThatOfRowsWithoutLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var e Expected
	wrong, labelled := 0.0, 0.0
	const rows, labels = 20_000, 10_000 // labels of the first ones
	for i := range rows {
		p := 0.5 + rng.Float64()/2 // of class 1, which the model knows
		if i >= labels {
			p = 0.5 + rng.Float64()/8
		}
		said := min(0.999, p+0.05) // it is too sure
		out := learner.Predictions{Task: learner.Classification, Size: 2, Values: []float64{1 - said, said}}
		e.ask(&out, 0, 1)
		is := rng.Float64() > p
		if is && i >= rows-labels {
			wrong++
		}
		if i < labels {
			if e.grade(&out, 0, 1, is); is {
				labelled++
			}
		}
	}
	wrong, labelled = wrong/labels, labelled/labels
	got := e.Error(learner.Classification, math.NaN())
	if got == nil || math.Abs(*got-wrong) > math.Abs(labelled-wrong)/6 {
		t.Errorf("estimate %v, the error is %v, and %v of the rows with labels", *got, wrong, labelled)
	}
	if new(Expected).Error(learner.Classification, 0.1) != nil {
		t.Error("an estimate without rows")
	}
}
