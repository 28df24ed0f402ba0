package learner

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// TestDriftIsNoticedAndAnswered: every algorithm, with every reaction, raises an
// alarm soon after a concept is turned around and none before, wherever the rows
// are cut and whether it was restored in between.
func TestDriftIsNoticedAndAnswered(t *testing.T) {
	const turn, n = 2000, 2700
	rng := rand.New(rand.NewPCG(1, 2))
	var b Batch
	b.Reset(2)
	for i := range n {
		x := []float64{rng.NormFloat64(), rng.NormFloat64()}
		b.Append(x, class((x[0]+x[1] > 0) == (i < turn)), 1)
	}
	for i, a := range algorithms {
		for j, r := range engine.Reactions {
			if !*exhaustive && i > 0 && i%len(engine.Reactions) != j {
				continue // every reaction with the first algorithm, and every algorithm with one
			}
			c := Config{Algorithm: a.Name, OnDrift: r, BlockSize: 8, MaxFeatures: 64, Minibatch: 50, Kernel: "gaussian:2"}
			t.Run(a.Name+"/"+r, func(t *testing.T) {
				t.Parallel()
				l := newLearner(t, c)
				var want []string
				first := -1
				for at := range n {
					if at == turn-10 || at == turn+90 || at > turn && at%149 == 0 {
						s := l.State()
						restored, err := restore(c, s)
						if err != nil {
							t.Fatalf("row %d: %v", at, err)
						}
						sameState(t, "restored", restored.State(), s)
						l = restored
					}
					p := l.Predict(b.Slice(at, at+1))
					want = append(want, fmt.Sprint(p.Row(0)))
					if s := l.Learn(p); s.Drift != 0 && first < 0 {
						first = at
					}
				}
				if first < turn || first > turn+300 {
					t.Errorf("the first alarm is at row %d, the change at %d", first, turn)
				}
				if p := l.Progress(); p.Drifts == (Drifts{}) {
					t.Error("the alarms are not counted")
				}
				whole := newLearner(t, c)
				at := 0
				for at < n {
					p := whole.Predict(b.Slice(at, n))
					for i := range p.Len() {
						if got := fmt.Sprint(p.Row(i)); got != want[at+i] {
							t.Fatalf("row %d: %s in one batch, %s row by row", at+i, got, want[at+i])
						}
					}
					at += p.Len()
					whole.Learn(p)
				}
				sameState(t, "in one batch", whole.State(), l.State())
			})
		}
	}
}
