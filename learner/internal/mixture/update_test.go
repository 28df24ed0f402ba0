package mixture

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestNumbersAreJudgedByTDistributions: the loss of an error is the difference of logarithms
// of densities, and the weight of a row is the slope of that loss divided by the error.
func TestNumbersAreJudgedByTDistributions(t *testing.T) {
	of := distuv.StudentsT{Sigma: 1, Nu: tailFreedom}
	for _, d := range []float64{0, 1e-9, 0.1, 1, 3, 100, 1e9} {
		got, want := tailLoss(d*d), of.LogProb(0)-of.LogProb(d)
		if math.Abs(got-want) > 1e-12*(1+want) {
			t.Errorf("tailLoss of %v deviations = %v, want %v", d, got, want)
		}
		const step = 1e-4
		slope := (tailLoss(d*d*(1+step)*(1+step)) - tailLoss(d*d*(1-step)*(1-step))) / (2 * step * d)
		if got, want := tailWeight(d)*d, slope; d > 0 && math.Abs(got-want) > 1e-6*want {
			t.Errorf("tailWeight of %v deviations is the slope %v, want %v", d, got, want)
		}
	}
	if got := tailLoss(math.Inf(1)); math.IsInf(got, 0) || got < 700 {
		t.Errorf("tailLoss of an error that overflows = %v, want a large number", got)
	}
}
