package newton

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Lasting coefficients are those of least mean squares, computed leaf by leaf in maps, of what
// the mixture alone leaves of the labels; and the mixture's score has them in their shares. Alone,
// without members, trees continue to do so.
func TestLastingCoefficientsAreOfLeastMeanSquares(t *testing.T) {
	w := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1))
	w.Options.ForestLasting, w.Options.ForestTrial = true, true
	w.beginLasting()
	w.serve()
	k := w.Head.Scores()
	want := map[[3]int]float64{} // by leaf, rate and score
	losses := make([]float64, (1+len(lastingRates))*k)
	leavesOf := func(x []float32) []int32 {
		leaves := make([]int32, w.forest.trees.Trees())
		w.forest.trees.Leaf(leaves, x)
		return leaves
	}
	added := func(x []float32, r, j int) (sum float64) {
		for _, leaf := range leavesOf(x) {
			sum += want[[3]int{int(leaf), r, j}]
		}
		return sum
	}
	for round := range 4 {
		if round == 2 {
			w.withoutMembers()
			w.serve()
		}
		x := w.window.x[round*32*w.Dim : (round+1)*32*w.Dim]
		mix := slices.Clone(w.forest.lasting.mix)
		clear(w.forest.lasting.mix)
		w.serveLeaves(w.mix)
		alone := w.Score(nil, x, 32)
		copy(w.forest.lasting.mix, mix)
		w.serveLeaves(w.mix)
		scores, columns := w.Score(nil, x, 32), w.Columns()
		p := engine.Minibatch{X: x, Scores: scores}
		var rest [][]float64
		for i := range 32 {
			y := target.Label{Task: target.Regression, Value: float64(i%5) - 1}
			p.Labels, p.Weights = append(p.Labels, y), append(p.Weights, []float64{1, 0.5, 3}[i%3])
			left := make([]float64, k)
			for j := range k {
				f := alone[i*columns+j]
				left[j] = w.target(y, j) - f
				for r := range lastingRates {
					f += w.forest.lasting.mix[r*k+j] * added(x[i*w.Dim:(i+1)*w.Dim], r, j)
				}
				if got := scores[i*columns+j]; math.Abs(got-f) > 1e-4 {
					t.Fatalf("round %d, row %d: the score %d is %v, want %v", round, i, j, got, f)
				}
			}
			rest = append(rest, left)
		}
		w.learnLasting(&p)
		for i, left := range rest {
			row := x[i*w.Dim : (i+1)*w.Dim]
			for c := range losses {
				e := left[c%k]
				if r := c/k - 1; r >= 0 {
					e -= added(row, r, c%k)
				}
				losses[c] = losses[c]*lossDecay + p.Weights[i]*e*e/2
			}
			for r, rate := range lastingRates {
				for j := range k {
					step := rate * min(1, p.Weights[i]) * (left[j] - added(row, r, j)) / float64(w.forest.trees.Trees())
					for _, leaf := range leavesOf(row) {
						want[[3]int{int(leaf), r, j}] += step
					}
				}
			}
		}
		for leaf := range w.forest.trees.Leaves() {
			for r := range lastingRates {
				for j := range k {
					got, want := w.forest.lasting.coef[(leaf*len(lastingRates)+r)*k+j], want[[3]int{leaf, r, j}]
					if math.Abs(got-want) > 1e-5 {
						t.Fatalf("round %d: leaf %d has %v, want %v", round, leaf, got, want)
					}
				}
			}
		}
		for c, want := range losses {
			if got := w.forest.lasting.loss[c]; math.Abs(got-want) > 1e-4*want {
				t.Fatalf("round %d: loss %d is %v, want %v", round, c, got, want)
			}
		}
		w.forest.lasting.share()
		w.serve()
	}
}

// Between the mini-batches that change shares, no step changes trees without members, but their
// rows do: predictions are those of the coefficients as they are.
func TestTreesAlonePredictWhatTheyHaveLearned(t *testing.T) {
	w := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1))
	w.Options.Lean, w.Options.ForestLasting, w.Options.ForestTrial = true, true, true
	w.beginLasting()
	w.withoutMembers()
	w.serve()
	rng, x := rand.New(rand.NewPCG(11, 12)), slices.Clone(w.window.x[:w.Dim*100])
	for range 12 {
		w.Score(nil, x, 100) // so that their leaves are served
		leanRows(w, rng, 1)
		got := w.Score(nil, x, 100)
		w.serveAll(func(from, to int) {})
		if want := w.Score(nil, x, 100); !slices.Equal(got, want) {
			t.Fatalf("mini-batch %d: the predictions are not those of the coefficients", w.batches)
		}
	}
}

// Lasting coefficients pay if one of the rates has a smaller loss than the mixture.
func TestLastingCoefficientsPayByTheirBestRate(t *testing.T) {
	for _, test := range []struct {
		none, slow, fast float64
		want             bool
	}{{100, 99, 102, true}, {100, 102, 99, true}, {100, 100, 101, false}} {
		v := lasting{loss: []float64{test.none, test.slow, test.fast}}
		if got := v.pays(); got != test.want {
			t.Errorf("losses %v: pays is %v, want %v", v.loss, got, test.want)
		}
	}
}
