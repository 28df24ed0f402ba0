package mixture

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNoSequenceOfExpertsIsMuchBetter holds the regret of the mixture against its bound
// on sequences that are meant to break it: the experts take turns, or an adversary lets
// the one err whose weight is the largest.
func TestNoSequenceOfExpertsIsMuchBetter(t *testing.T) {
	const n = 4000
	prior := []float64{0.5, 0.2, 0.15, 0.1, 0.05}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, next := range map[string]func(i int, w, losses []float64){
		"random": func(_ int, _, losses []float64) {
			for e := range losses {
				losses[e] = rng.ExpFloat64()
			}
		},
		"turns": func(i int, _, losses []float64) {
			for e := range losses {
				losses[e] = 0.3
			}
			losses[i/500%len(losses)] = 0.1
		},
		"against the leader": func(_ int, w, losses []float64) {
			clear(losses)
			losses[argmax(w)] = 1
		},
		"certain and wrong": func(i int, w, losses []float64) {
			for e := range losses {
				losses[e] = 0.01
			}
			if i%50 == 0 {
				losses[argmax(w)] = 600
			}
		},
		"a late one": func(i int, _, losses []float64) {
			for e := range losses {
				losses[e] = 0.5
			}
			if i > n/2 {
				losses[4] = 0
			} else {
				losses[4] = 5
			}
		},
	} {
		w := started(prior)
		awake := slices.Repeat([]bool{true}, len(prior))
		losses, mix := make([]float64, len(prior)), make([]float64, len(prior))
		var all [][]float64
		total := 0.0
		for i := range n {
			w.Mix(mix, awake)
			next(i, mix, losses)
			total += mixLoss(mix, losses)
			all = append(all, slices.Clone(losses))
			w.Update(losses, awake)
		}
		for _, changes := range []int{0, 1, 7, 30} {
			for first := range prior {
				best := bestSequence(all, first, changes)
				if regret, bound := total-best, regretBound(n, changes, prior[first], slices.Min(prior)); regret > bound {
					t.Errorf("%s: %d changes from expert %d on: regret %v, bound %v", name, changes, first, regret, bound)
				}
			}
		}
	}
}

// regretBound returns the bound on the loss of a mixture of n rows, beyond that of the best
// sequence of experts that changes that many times: see Weights. first is the prior of
// the first of these experts, least the smallest of all.
func regretBound(n, changes int, first, least float64) float64 {
	best := math.Inf(1)
	for _, alpha := range sharing {
		if alpha == 0 && changes > 0 {
			continue
		}
		r := -math.Log(first) - float64(float64(n-1-changes)*math.Log1p(-alpha))
		if changes > 0 {
			r -= float64(float64(changes) * math.Log(alpha*least))
		}
		best = min(best, r)
	}
	return best + math.Log(float64(len(sharing))) - float64(float64(n-1)*math.Log1p(-copySharing))
}

// bestSequence is the least loss of a sequence of experts that begins with first and
// changes exactly that many times.
func bestSequence(losses [][]float64, first, changes int) float64 {
	k := len(losses[0])
	at := make([][]float64, changes+1) // at[m][e]: the least so far with m changes that ends in e
	for m := range at {
		at[m] = slices.Repeat([]float64{math.Inf(1)}, k)
	}
	at[0][first] = losses[0][first]
	for _, row := range losses[1:] {
		for m := changes; m >= 0; m-- {
			for e := range k {
				best := at[m][e]
				if m > 0 {
					for o := range k {
						if o != e {
							best = min(best, at[m-1][o])
						}
					}
				}
				at[m][e] = best + row[e]
			}
		}
	}
	return slices.Min(at[changes])
}

// TestWeightsArePosteriors compares the weights with those of the plain formulas.
func TestWeightsArePosteriors(t *testing.T) {
	prior := []float64{0.7, 0.3}
	w := started(prior)
	awake := []bool{true, true}
	copies := slices.Repeat([]float64{1 / float64(len(sharing))}, len(sharing))
	var of [len(sharing)][]float64
	for a := range of {
		of[a] = slices.Clone(prior)
	}
	for _, losses := range [][]float64{{1, 0.2}, {0.1, 2}, {3, 0.3}, {0, 1}} {
		w.Update(losses, awake)
		total := 0.0
		for a, alpha := range sharing {
			m := 0.0
			for e, l := range losses {
				of[a][e] *= math.Exp(-l)
				m += of[a][e]
			}
			for e := range losses {
				of[a][e] = (1-alpha)*of[a][e]/m + alpha*prior[e]
			}
			copies[a] *= m
			total += copies[a]
		}
		for a := range copies {
			copies[a] = (1-copySharing)*copies[a]/total + copySharing/float64(len(copies))
		}
	}
	got := make([]float64, len(prior))
	w.Mix(got, awake)
	for e, v := range got {
		want := 0.0
		for a := range copies {
			want += copies[a] * of[a][e]
		}
		if math.Abs(v-want) > 1e-12 {
			t.Errorf("weight %d is %v, want %v", e, v, want)
		}
	}
}

func TestAnExpertThatIsAsleepKeepsItsWeight(t *testing.T) {
	w := started([]float64{0.5, 0.25, 0.25})
	before, after, all := make([]float64, 3), make([]float64, 3), []bool{true, true, true}
	w.Mix(before, all)
	w.Update([]float64{0.1, 5, math.NaN()}, []bool{true, true, false})
	w.Mix(after, all)
	if math.Abs(after[2]-before[2]) > 1e-12 || after[0] < 0.74 {
		t.Errorf("weights are %v, were %v: the last was asleep", after, before)
	}
}

func TestALossThatIsNotFiniteCostsTheWeight(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		w := started([]float64{0.5, 0.5})
		awake, mix := []bool{true, true}, make([]float64, 2)
		for range 100 {
			w.Update([]float64{bad, 40}, awake)
		}
		if w.Mix(mix, awake); !(mix[0] < 0.01 && mix[1] > 0.99) {
			t.Errorf("with losses of %v the weights are %v", bad, mix)
		}
		w.Update([]float64{bad, bad}, awake)
		for range 2000 {
			w.Update([]float64{0.1, 1}, awake)
		}
		if w.Mix(mix, awake); !(mix[0] > 0.9) {
			t.Errorf("an expert that has recovered has the weights %v", mix)
		}
	}
}

func started(prior []float64) Weights {
	w := NewWeights(prior, make([]float64, WeightsSize(len(prior))))
	w.Start()
	return w
}

// mixLoss is the loss of a mixture of probabilities.
func mixLoss(w, losses []float64) float64 {
	least, p := slices.Min(losses), 0.0
	for e, l := range losses {
		p += w[e] * math.Exp(least-l)
	}
	return least - math.Log(p)
}

func argmax(x []float64) int { return slices.Index(x, slices.Max(x)) }
