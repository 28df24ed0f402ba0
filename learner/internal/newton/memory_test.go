package newton

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// inTheFirstRows returns an engine on 2 inputs, and has it learn some mini-batches.
func inTheFirstRows(o engine.Options, before engine.Engine, batches int) *newton {
	o.BlockSize, o.MaxFeatures, o.Minibatch, o.Seed, o.Effort, o.Lean = 2, 16, 32, 1, rowVisitsPerExample, true
	w := newEngine(engine.Problem{
		Options: o,
		Head:    target.NewHead(loss.Softmax{}, target.Classification, 3, 1), Dim: 2, Prior: []float64{0, 0.1, 0.2},
		Fit:    &warmup.Fit{Kernel: kernel.Gaussian{Scale: 2}, Lambda: 1e-3, TopEigenvalue: 1},
		Before: before,
	})
	rng := rand.New(rand.NewPCG(1, 2))
	for range batches {
		var p engine.Minibatch
		for range o.Minibatch {
			x := []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64())}
			class := 0
			if x[0] > 0 {
				class = 1
			} else if x[1] > 0.5 {
				class = 2
			}
			p.X, p.Weights = append(p.X, x...), append(p.Weights, 1)
			p.Labels = append(p.Labels, target.Label{Task: target.Classification, Class: class})
		}
		p.Scores = w.Score(nil, p.X, o.Minibatch)
		w.Learn(&p)
	}
	return w
}

// TestMembersOfOnePenaltyAreOneInTheFirstRows: those that are left out until the last fit
// would have the bits of those that are not.
func TestMembersOfOnePenaltyAreOneInTheFirstRows(t *testing.T) {
	for _, o := range []engine.Options{{}, {Forest: 8}, {Forest: 8, ForestTrial: true}} {
		all := inTheFirstRows(o, nil, 1000/32)
		o.Warming = true
		few := inTheFirstRows(o, nil, 1000/32)
		if len(few.members) != few.factors || few.averaged != few.factors {
			t.Fatalf("%d members and %d averages, of %d penalties", len(few.members), few.averaged, few.factors)
		}
		if len(all.coef) == 0 {
			t.Fatal("there are no blocks")
		}
		k, e := 3, len(all.members)
		for i, v := range all.coef {
			m := i % (e * k) / k
			if same := few.coef[(i/(e*k)*few.factors+all.factorOf[m])*k+i%k]; v != same {
				t.Fatalf("forest %v: member %d of %d has a coefficient %v, want %v", o.Forest, m, e, v, same)
			}
		}
	}
}

// TestMemoryOfAnotherEngineHasNoInfluence on the bits of the one that replaces it.
func TestMemoryOfAnotherEngineHasNoInfluence(t *testing.T) {
	for _, o := range []engine.Options{{}, {Warming: true}} {
		want := inTheFirstRows(o, nil, 10)
		old := inTheFirstRows(engine.Options{}, nil, 20)
		blocks := len(old.grams)
		got := inTheFirstRows(o, old, 10)
		if blocks == 0 || len(got.spare)+len(got.grams) != blocks {
			t.Fatalf("memory of %d and %d blocks, taken of %d", len(got.grams), len(got.spare), blocks)
		}
		if !slices.Equal(got.coef, want.coef) || !slices.Equal(got.averageCoef, want.averageCoef) || !slices.Equal(got.loss, want.loss) {
			t.Errorf("warming %v: coefficients %v, want %v", o.Warming, got.coef, want.coef)
		}
	}
}
