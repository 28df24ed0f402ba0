package learner

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWindowRemembersWhatTheModelSays: the sums that newton keeps for the rows of
// its window, step by step, are those of the model as it has become.
func TestWindowRemembersWhatTheModelSays(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	l := newLearner(t, Config{MaxFeatures: 256})
	var b Batch
	b.Reset(3)
	for range 3000 {
		x := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		b.Append(x, Label{Task: Regression, Value: math.Sin(2*x[0])*x[1] + 0.1*rng.NormFloat64()}, 1)
	}
	learn(l, &b, 500)
	kept, x := resuming[float64](l, "window.f"), resuming[float32](l, "window.x")
	rows := len(x) / b.Dim()
	members := len(kept) / rows
	if members < 2 || rows < 2900 {
		t.Fatalf("%d rows, %d members", rows, members)
	}
	f, columns := l.engine.Score(nil, x, rows), l.engine.Columns()
	for m := range members {
		scale, worst := 0.0, 0.0
		for i := range rows {
			got, want := kept[i*members+m], f[i*columns+1+m]
			scale, worst = max(scale, math.Abs(want)), max(worst, math.Abs(got-want))
		}
		if worst > 1e-6*scale {
			t.Errorf("member %d: off by %v of %v", m, worst, scale)
		}
	}
}
