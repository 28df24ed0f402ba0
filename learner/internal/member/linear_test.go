package member

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/target"
)

// learnChunks has l learn chunks of 16 rows, whose label is a line of the row and what add returns.
func learnChunks(l *Linear, rng *rand.Rand, chunks int, add func(i int) float64) {
	const rows = 16
	for range chunks {
		var c Chunk
		for i := range rows {
			x := rng.NormFloat64()
			c.X = append(c.X, float32(x))
			c.Labels = append(c.Labels, target.Label{Task: target.Regression, Value: x/2 + rng.NormFloat64()/10 + add(i)})
			c.Weights, c.Last = append(c.Weights, 1), append(c.Last, target.Label{})
		}
		l.Learn(&c)
	}
}

// errorAt returns how far l is from a line at two rows, at most.
func errorAt(l *Linear, h *target.Head, level float64) float64 {
	most := 0.0
	for _, x := range []float32{-1, 1} {
		f := make([]float64, 1)
		l.Score(f, &Row{Head: h, X: []float32{x}})
		most = max(most, math.Abs(f[0]-float64(x)/2-level))
	}
	return most
}

// TestLinearFollowsLevelsAndNotOutliers: a label far from those of its chunk has no large effect,
// and a level that all of them have is learned as least squares learns it.
func TestLinearFollowsLevelsAndNotOutliers(t *testing.T) {
	h := target.NewHead(nil, target.Regression, 0, 1)
	for _, forget := range []float64{0.998, 0.9995, 1} {
		l := linearKind(forget, false).New(h).(*Linear)
		l.Start(h, []float64{1})
		rng := rand.New(rand.NewPCG(1, 2))
		none := func(int) float64 { return 0 }
		learnChunks(l, rng, 64, none)
		if got := errorAt(l, &h, 0); got > 0.05 {
			t.Fatalf("forgetting %v: %v from the line", forget, got)
		}
		learnChunks(l, rng, 2, func(i int) float64 { return 1e6 * float64(max(0, i-14)) })
		if got := errorAt(l, &h, 0); got > 0.1 {
			t.Errorf("forgetting %v: after two outliers of 1e6 it is %v from the line", forget, got)
		}
		before := errorAt(l, &h, 100)
		learnChunks(l, rng, 64, func(int) float64 { return 100 })
		want := before / 2 // without forgetting: as many rows as before
		if forget < 1 {
			want = before * math.Pow(forget, 64*16) / (1 + math.Pow(forget, 64*16))
		}
		if got := errorAt(l, &h, 100); got > 1.1*want {
			t.Errorf("forgetting %v: %v from the new level of 100, want about %v", forget, got, want)
		}
	}
}
