package refit

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
)

// groupCases are losses with targets for them.
func groupCases(n int, y []float64) map[string]struct {
	l       loss.Dual // nil for the multinomial loss
	targets []float64
	scores  int
} {
	class := make([]int, n)
	both := make([]float64, 2*n)
	for i, v := range y {
		class[i] = min(2, max(0, int(v+1.5)))
		both[2*i], both[2*i+1] = v, v*v-1
	}
	three, sign := oneAgainstRest(class, 3), make([]float64, n)
	for i := range sign {
		sign[i] = three[3*i]
	}
	type c = struct {
		l       loss.Dual
		targets []float64
		scores  int
	}
	return map[string]c{
		"square": {loss.Square{}, y, 1}, "two targets": {loss.Square{}, both, 2}, "logistic": {loss.Logistic{}, sign, 1},
		"one against the rest": {loss.Logistic{}, three, 3}, "softmax": {nil, three, 3},
	}
}

// TestGroupsOfOneScoreAreThoseOfDSPDC compares two solvers of the same problem.
func TestGroupsOfOneScoreAreThoseOfDSPDC(t *testing.T) {
	a, y := wave(200, 1)
	for name, c := range groupCases(200, y) {
		if c.scores > 1 {
			continue
		}
		e := newExamples(a, c.targets, 1, nil)
		e.l1 = 0.1 * e.mostPenalty(groupLoss{c.l})
		o := Options{Lambda: 1e-3, Relative: 1e-8, Passes: 5000}
		f, err := fitScores(context.Background(), e, c.l, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := fitGroups(context.Background(), e, groupLoss{c.l}, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !f.Reached || !g.Reached || f.Direct || math.Abs(f.Primal-g.Primal) > 1e-7 || distance(f.Coefficients, g.Coefficients) > 1e-2 {
			t.Errorf("%s: objective %v after %v passes, %v after %v; distance %v", name, f.Primal, f.Passes, g.Primal, g.Passes, distance(f.Coefficients, g.Coefficients))
		}
	}
}

// TestGroupGapIsNeverBelowTheTruth certifies coarse solutions by the optimum.
func TestGroupGapIsNeverBelowTheTruth(t *testing.T) {
	a, y := wave(150, 1)
	ctx := context.Background()
	for name, c := range groupCases(150, y) {
		for _, weights := range [][]float64{nil, mixedWeights(150)} {
			e := newExamples(a, c.targets, c.scores, weights)
			e.l1 = 0.1 * e.mostPenalty(groupLoss{c.l})
			best, err := fitGroups(ctx, e, groupLoss{c.l}, Options{Lambda: 1e-3, Relative: 1e-9, Passes: 2000}, nil)
			if err != nil || !best.Reached {
				t.Fatalf("%s: %+v, %v", name, best, err)
			}
			for _, passes := range []float64{1e-1, 1e-2, 1e-3} {
				f, err := fitGroups(ctx, e, groupLoss{c.l}, Options{Lambda: 1e-3, Relative: passes}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if truth := f.Primal - best.Primal; truth > f.Gap()+1e-12 || f.Dual > best.Primal+1e-12 {
					t.Errorf("%s: gap %v, truth %v, dual %v above %v", name, f.Gap(), truth, f.Dual, best.Primal)
				}
				if d := distance(f.Coefficients, best.Coefficients); d > math.Sqrt(2*f.Gap()/1e-3)+math.Sqrt(2*best.Gap()/1e-3) {
					t.Errorf("%s: distance %v, gap %v", name, d, f.Gap())
				}
			}
		}
	}
}

func mixedWeights(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = float64(i % 4)
	}
	return w
}

// TestNoPenaltyOfGroupsIsRidge: the multinomial solver without λ₁ is the other one.
func TestNoPenaltyOfGroupsIsRidge(t *testing.T) {
	a, y := wave(150, 1)
	c := groupCases(150, y)["softmax"]
	e := newExamples(a, c.targets, c.scores, nil)
	o := Options{Lambda: 1e-3, Relative: 1e-8, Passes: 2000}
	want, err := fitSoftmax(context.Background(), e, o, make([]float64, 3*65))
	if err != nil {
		t.Fatal(err)
	}
	got, err := fitGroups(context.Background(), e, groupLoss{}, o, nil)
	if err != nil || !got.Reached || math.Abs(got.Primal-want.Primal) > 1e-7 {
		t.Errorf("objective %v, want %v: %v", got.Primal, want.Primal, err)
	}
}

// TestMostPenaltyRemovesAll: at it no feature is left, and a little below it some are.
func TestMostPenaltyRemovesAll(t *testing.T) {
	a, y := wave(150, 1)
	for name, c := range groupCases(150, y) {
		e := newExamples(a, c.targets, c.scores, nil)
		most := e.mostPenalty(groupLoss{c.l})
		for share, some := range map[float64]bool{1.01: false, 0.9: true} {
			e.l1 = share * most
			f, err := fitGroups(context.Background(), e, groupLoss{c.l}, Options{Lambda: 1e-3, Relative: 1e-10, Passes: 2000}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if n := kept(toFloat32(f.Coefficients[:64*c.scores]), c.scores); (n > 0) != some {
				t.Errorf("%s: %d features at %v of the greatest penalty", name, n, share)
			}
		}
	}
}

// TestPrunedRefitIsCertifiedAndRestores refits models with and without pruning.
func TestPrunedRefitIsCertifiedAndRestores(t *testing.T) {
	for _, c := range refitCases {
		t.Run(c.name, func(t *testing.T) {
			rows := rings(700, c.classes)
			config := c.c
			if config.MaxFeatures = 64; config.Algorithm == "" {
				config.Algorithm = "dsg"
			}
			m := learned(t, config, rows)
			r, err := Solve(t.Context(), m, rows, Options{Prune: 0.1, Lambda: 1e-4})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Fit.Reached || r.Kept == 0 || 4*r.Kept > 3*r.Features || r.Fit.Relative > 1e-3 || 2*r.Model.RandomFeatures() != r.Kept || r.Model.Loss() != m.Loss() {
				t.Fatalf("%d of %d features, %d in the model, loss %v, relative gap %v", r.Kept, r.Features, r.Model.RandomFeatures(), r.Model.Loss(), r.Fit.Relative)
			}
			if r.Suboptimality < r.Fit.StartPrimal-r.Fit.Primal-1e-12 && r.Comparable {
				t.Errorf("suboptimality %v of a model that is %v above the solution", r.Suboptimality, r.Fit.StartPrimal-r.Fit.Primal)
			}
			again, err := learner.NewModel(r.Model.Serving())
			if err != nil {
				t.Fatal(err)
			}
			if p, q := r.Model.Predict(rows), again.Predict(rows); !slices.Equal(p.Values, q.Values) {
				t.Error("the restored model predicts other bits")
			}
			before, after := wrong(m, rows), wrong(r.Model, rows)
			if after > 1.5*before+0.05 {
				t.Errorf("error %v, before %v", after, before)
			}
		})
	}
	m := learned(t, learner.Config{Algorithm: "dsg", MaxFeatures: 64}, rings(300, 2))
	if _, err := Solve(t.Context(), m, rings(300, 2), Options{Prune: 2}); !errors.Is(err, ErrUnfit) {
		t.Errorf("prune 2: %v", err)
	}
}

// Rows drawn by norm, of features that have several, reach the same optimum.
func TestRefitByNormReachesTheOptimum(t *testing.T) {
	rows := rings(400, 2)
	m := learned(t, learner.Config{Algorithm: "dsg", MaxFeatures: 64, Sampling: "leverage"}, rows)
	want, err := Solve(t.Context(), m, rows, Options{Lambda: 1e-2, Relative: 1e-7, Passes: 5000})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Solve(t.Context(), m, rows, Options{Lambda: 1e-2, Relative: 1e-6, Passes: 5000, ByNorm: true})
	if err != nil || !got.Fit.Reached || math.Abs(got.Fit.Primal-want.Fit.Primal) > 1e-6 {
		t.Errorf("objective %v, want %v: %v", got.Fit.Primal, want.Fit.Primal, err)
	}
	if got.Fit.Passes == want.Fit.Passes {
		t.Errorf("%v passes, as with permutations", got.Fit.Passes)
	}
	for _, o := range []Options{{ByNorm: true, Coordinates: 4}, {ByNorm: true, Prune: 0.1}} {
		if _, err := Solve(t.Context(), m, rows, o); !errors.Is(err, ErrUnfit) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestRefitOfSomeCoordinatesReachesTheOptimum samples primal coordinates too.
func TestRefitOfSomeCoordinatesReachesTheOptimum(t *testing.T) {
	rows := rings(400, 2)
	m := learned(t, learner.Config{Algorithm: "dsg", MaxFeatures: 64}, rows)
	want, err := Solve(t.Context(), m, rows, Options{Lambda: 1e-2, Relative: 1e-6, Passes: 2000})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Solve(t.Context(), m, rows, Options{Lambda: 1e-2, Relative: 1e-5, Passes: 5000, Coordinates: 16})
	if err != nil || !got.Fit.Reached || math.Abs(got.Fit.Primal-want.Fit.Primal) > 1e-5 {
		t.Errorf("objective %v, want %v: %v", got.Fit.Primal, want.Fit.Primal, err)
	}
	for _, o := range []Options{{Coordinates: -1}, {Coordinates: 4, Prune: 0.1}} {
		if _, err := Solve(t.Context(), m, rows, o); !errors.Is(err, ErrUnfit) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
