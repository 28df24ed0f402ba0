package newton

import (
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// TestPlainModelsAreFewMembers: two with the penalties of the first of every model, or one where
// the effort has one, without averages and trackers, and half the steps for a mini-batch, until
// the last fit. They learn nevertheless. After it, and without the option, models have all.
func TestPlainModelsAreFewMembers(t *testing.T) {
	for _, effort := range []int{rowVisitsPerExample, mixedEffort, 1} {
		for _, o := range []engine.Options{{Plain: true, Warming: true}, {Warming: true}, {Plain: true}} {
			plain := o.Plain && o.Warming
			o.BlockSize, o.MaxFeatures, o.Minibatch, o.Seed, o.Effort = 4, 256, 32, 1, effort
			w := newEngine(engine.Problem{
				Options: o, Dim: 1, Prior: []float64{0},
				Head: target.Head{Task: target.Regression, Loss: loss.Square{}, Scales: []target.Scale{{Deviation: 1}}},
				Fit:  &warmup.Fit{Kernel: kernel.Gaussian{Scale: 2}, Lambda: 1e-4, TopEigenvalue: 1},
			})
			of := planOfEffort(effort)
			if want := min(plainMembers, len(of.members)); plain && (len(w.members) != want || w.averaged != 0 || len(w.trackers.all) != 0) {
				t.Fatalf("effort %d: %d members, %d averages and %d trackers, want %d members", effort, len(w.members), w.averaged, len(w.trackers.all), want)
			}
			for m, who := range w.members {
				if who != of.members[m] {
					t.Errorf("effort %d, %+v: member %d is %v, want %v", effort, o, m, who, of.members[m])
				}
			}
			if !plain && (w.averaged == 0 || len(w.trackers.all) != len(of.tracking)) {
				t.Errorf("effort %d, %+v: %d averages and %d trackers", effort, o, w.averaged, len(w.trackers.all))
			}
			visits := of.visits
			if plain {
				visits = max(1, visits/2)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			steps, credit := 0, int64(0)
			for i := range 40 {
				var p engine.Minibatch
				for range o.Minibatch {
					x := float32(rng.NormFloat64())
					p.X, p.Weights = append(p.X, x), append(p.Weights, 1)
					p.Labels = append(p.Labels, target.Label{Task: target.Regression, Value: float64(x)})
				}
				p.Scores = w.Score(nil, p.X, o.Minibatch)
				w.Learn(&p)
				credit += int64(o.Minibatch) * visits
				now := 0
				for rows := int64(w.window.rows); rows >= minWindow && credit >= rows && now < maxStepsPerBatch; now++ {
					credit -= rows
				}
				credit = min(credit, int64(w.length))
				if steps += now; len(w.changed.blocks) != now {
					t.Fatalf("effort %d, %+v: mini-batch %d has %d steps, want %d", effort, o, i, len(w.changed.blocks), now)
				}
			}
			f := w.Score(nil, []float32{0.5}, 1)[0]
			if d := f - 0.5; effort > 1 && d*d > 0.01 || steps == 0 {
				t.Errorf("effort %d, %+v: after %d steps, %v is predicted for 0.5", effort, o, steps, f)
			}
		}
	}
}
