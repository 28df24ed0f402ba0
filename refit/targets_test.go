package refit

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// TestRefitOfSeveralTargetsIsThatOfEachAlone is the refits of models of each of them alone, which
// have the same features where the kernel is given.
func TestRefitOfSeveralTargetsIsThatOfEachAlone(t *testing.T) {
	of := func(targets ...func(i int, x []float64) float64) *learner.Batch {
		in, out := rings(1500, 0), new(learner.Batch)
		out.Reset(2)
		for i := range in.Len() {
			y := learner.Label{Task: learner.Regression, Value: targets[0](i, in.X(i))}
			for _, f := range targets[1:] {
				y.More = append(y.More, f(i, in.X(i)))
			}
			out.Append(in.X(i), y, 1)
		}
		return out
	}
	wavy := func(i int, x []float64) float64 { return math.Sin(2*x[0]) + x[1] + 0.1*math.Sin(float64(i)) }
	large := func(_ int, x []float64) float64 { return 1e4 * x[0] * x[1] }
	refitted := func(targets int, b *learner.Batch) *Result {
		c := learner.Config{Algorithm: "all", MaxFeatures: 64, Kernel: "gaussian:1.5", Targets: targets}
		r, err := Solve(t.Context(), learned(t, c, b), b, Options{Lambda: 1e-3, Relative: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	both := refitted(2, of(wavy, large))
	one, two := refitted(1, of(wavy)), refitted(1, of(large))
	if got, want := both.Fit.Primal, one.Fit.Primal+two.Fit.Primal; math.Abs(got-want) > 1e-6*want || !both.Fit.Reached {
		t.Errorf("the objective is %v, want %v", got, want)
	}
	probe := rings(50, 0)
	p, q, r := both.Model.Predict(probe), one.Model.Predict(probe), two.Model.Predict(probe)
	for i := range probe.Len() {
		for j, want := range []float64{q.Row(i)[0], r.Row(i)[0]} {
			if got := p.Row(i)[j]; math.Abs(got-want) > 1e-3*max(1, math.Abs(want)) {
				t.Errorf("row %d, target %d: %v, alone %v", i, j, got, want)
			}
		}
	}
}
