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
	n := l.engine.(*newton)
	f, columns := n.sums(nil, n.window.x, n.window.rows), n.columns()
	if members := len(n.members); len(n.window.f) < n.window.rows*members || n.window.rows < 2900 {
		t.Fatalf("%d rows, %d sums", n.window.rows, len(n.window.f))
	}
	for e := range n.members {
		scale, worst := 0.0, 0.0
		for i := range n.window.rows {
			got, want := n.window.f[i*len(n.members)+e], f[i*columns+1+e]
			scale, worst = max(scale, math.Abs(want)), max(worst, math.Abs(got-want))
		}
		if worst > 1e-6*scale {
			t.Errorf("member %d: off by %v of %v", e, worst, scale)
		}
	}
}
