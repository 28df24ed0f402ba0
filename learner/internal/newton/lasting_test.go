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

// simpleLasting is lasting coefficients computed leaf by leaf in maps.
type simpleLasting struct {
	w      *newton
	coef   map[[3]int]float64 // by leaf, rate and score
	losses []float64
}

// lastingHeads are models of one number and of two, and of two and three classes.
func lastingHeads() map[string]target.Head {
	return map[string]target.Head{
		"numbers":       target.NewHead(loss.Square{}, target.Regression, 0, 1),
		"two numbers":   target.NewHead(loss.Square{}, target.Regression, 0, 2),
		"two classes":   target.NewHead(loss.Logistic{}, target.Classification, 2, 1),
		"three classes": target.NewHead(loss.Softmax{}, target.Classification, 3, 1),
	}
}

// lastingPlanted returns a model with trees, the leaves of which have lasting coefficients.
func lastingPlanted(h target.Head) *newton { return lastingTreesPlanted(h, 5) }

func lastingTreesPlanted(h target.Head, trees int) *newton {
	w := plantedTrees(h, trees)
	w.Options.ForestLasting, w.Options.ForestTrial, w.Options.LastingClasses = true, true, true
	w.beginLasting()
	w.serve()
	return w
}

// probability returns that of a class at the scores f.
func probability(f []float64, class int) float64 {
	if len(f) == 1 {
		return 1 / (1 + math.Exp(f[0]*float64(1-2*class)))
	}
	sum := 0.0
	for _, v := range f {
		sum += math.Exp(v)
	}
	return math.Exp(f[class]) / sum
}

// lossAndRest returns the loss of each part of the scores f of a row, and its negative gradient.
func (s *simpleLasting) lossAndRest(f []float64, y target.Label) (losses, rest []float64) {
	if y.Task == target.Regression {
		for j := range f {
			e := s.w.target(y, j) - f[j]
			losses, rest = append(losses, e*e/2), append(rest, e)
		}
		return losses, rest
	}
	if len(f) == 1 {
		return []float64{-math.Log(probability(f, y.Class))}, []float64{float64(y.Class) - probability(f, 1)}
	}
	for class := range f {
		rest = append(rest, -probability(f, class))
	}
	rest[y.Class]++
	return []float64{-math.Log(probability(f, y.Class))}, rest
}

func (s *simpleLasting) leavesOf(x []float32) []int32 {
	leaves := make([]int32, s.w.forest.trees.Trees())
	s.w.forest.trees.Leaf(leaves, x)
	return leaves
}

func (s *simpleLasting) added(x []float32, r, j int) (sum float64) {
	for _, leaf := range s.leavesOf(x) {
		sum += s.coef[[3]int{int(leaf), r, j}]
	}
	return sum
}

// learn learns a row that the mixture without lasting coefficients gives the scores f.
func (s *simpleLasting) learn(x []float32, f []float64, y target.Label, weight float64) {
	rates := lastingRates
	if y.Task == target.Classification {
		rates = lastingClassRates
	}
	add := func(c int, losses []float64) {
		for j, l := range losses {
			s.losses[c*len(losses)+j] = s.losses[c*len(losses)+j]*lossDecay + weight*l
		}
	}
	alone, _ := s.lossAndRest(f, y)
	add(0, alone)
	for r, rate := range rates {
		with := slices.Clone(f)
		for j := range with {
			with[j] += s.added(x, r, j)
		}
		losses, rest := s.lossAndRest(with, y)
		add(1+r, losses)
		for j, e := range rest {
			for _, leaf := range s.leavesOf(x) {
				s.coef[[3]int{int(leaf), r, j}] += rate * min(1, weight) * e / float64(s.w.forest.trees.Trees())
			}
		}
	}
}

// Lasting coefficients are those of least mean squares for numbers and of gradient descent for
// classes, computed leaf by leaf in maps, on what the mixture alone leaves of the labels; and the
// mixture's score has them in their shares. Alone, without members, trees continue to do so.
func TestLastingCoefficientsLearnWhatIsLeft(t *testing.T) {
	for name, head := range lastingHeads() {
		t.Run(name, func(t *testing.T) {
			w := lastingPlanted(head)
			k, parts := w.Head.Scores(), head.Parts()
			simple := simpleLasting{w, map[[3]int]float64{}, make([]float64, (1+len(lastingRates))*parts)}
			for round := range 4 {
				if round == 2 {
					w.withoutMembers()
					w.serve()
				}
				x := w.window.x[round*32*w.Dim : (round+1)*32*w.Dim]
				mix := w.forest.lasting.mix
				clear(mix)
				w.serveLeaves(w.mix)
				alone := w.Score(nil, x, 32)
				for c := range mix {
					mix[c] = 0.1 * float64(1+c)
				}
				w.serveLeaves(w.mix)
				scores, columns := w.Score(nil, x, 32), w.Columns()
				p := engine.Minibatch{X: x, Scores: scores}
				for i := range 32 {
					p.Labels = append(p.Labels, target.Label{Task: head.Task, Value: float64(i%5) - 1, More: []float64{float64(i % 3)}, Class: i % 5 % max(1, head.Classes)})
					p.Weights = append(p.Weights, []float64{1, 0.5, 3}[i%3])
					for j := range k {
						f := alone[i*columns+j]
						for r := range lastingRates {
							f += mix[r*parts+min(j, parts-1)] * simple.added(x[i*w.Dim:(i+1)*w.Dim], r, j)
						}
						if got := scores[i*columns+j]; math.Abs(got-f) > 1e-4 {
							t.Fatalf("round %d, row %d: the score %d is %v, want %v", round, i, j, got, f)
						}
					}
				}
				w.learnLasting(&p)
				for i, y := range p.Labels {
					simple.learn(x[i*w.Dim:(i+1)*w.Dim], alone[i*columns:i*columns+k], y, p.Weights[i])
				}
				simple.compare(t, round)
			}
		})
	}
}

// compare compares the lasting coefficients of the model and their losses with those of s.
func (s *simpleLasting) compare(t *testing.T, round int) {
	t.Helper()
	v, k := &s.w.forest.lasting, s.w.Head.Scores()
	for leaf := range s.w.forest.trees.Leaves() {
		for r := range lastingRates {
			for j := range k {
				got, want := v.coef[(leaf*len(lastingRates)+r)*k+j], s.coef[[3]int{leaf, r, j}]
				if math.Abs(got-want) > 1e-5 {
					t.Fatalf("round %d: leaf %d has %v, want %v", round, leaf, got, want)
				}
			}
		}
	}
	for c, want := range s.losses {
		if got := v.loss[c]; math.Abs(got-want) > 1e-4*want {
			t.Fatalf("round %d: loss %d is %v, want %v", round, c, got, want)
		}
	}
}

// A class that is new later leaves what lasting coefficients add to the others as it is.
func TestLastingCoefficientsOfANewClass(t *testing.T) {
	for name, head := range lastingHeads() {
		if head.Task == target.Regression {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := lastingPlanted(head)
			v, rng := &w.forest.lasting, rand.New(rand.NewPCG(13, 14))
			for i := range v.coef {
				v.coef[i] = rng.NormFloat64()
			}
			for i := range v.mix {
				v.mix[i] = 0.4
			}
			x := slices.Clone(w.window.x[:w.Dim])
			added := func() (of []float64) { // to each score
				k, columns := w.Head.Scores(), w.Columns()
				mix := slices.Clone(v.mix)
				w.serveLeaves(w.mix)
				with := w.Score(nil, x, 1)[:columns]
				clear(v.mix)
				w.serveLeaves(w.mix)
				for j, f := range w.Score(nil, x, 1)[:k] {
					of = append(of, with[j]-f)
				}
				copy(v.mix, mix)
				return of
			}
			before := added()
			w.Widen(w.Head.WithNewClass(), make([]float64, w.Head.Classes+1), 1000)
			for i := range v.mix {
				v.mix[i] = 0.4
			}
			after := added()
			if len(before) == 1 {
				before = []float64{-before[0] / 2, before[0] / 2}
			}
			for j, want := range append(before, 0) {
				if math.Abs(after[j]-want) > 1e-5 {
					t.Errorf("score %d has %v of the leaves, want %v", j, after[j], want)
				}
			}
		})
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

// The shares of each part are likelihoods: those of numbers have the variance of its least loss.
func TestSharesOfLastingCoefficients(t *testing.T) {
	for _, test := range []struct {
		task   target.Task
		losses []float64
	}{
		{target.Regression, []float64{5010, 300, 5000, 290, 5005, 310}},
		{target.Classification, []float64{101, 100, 102}},
	} {
		parts := len(test.losses) / (1 + len(lastingRates))
		v := lasting{loss: test.losses, mix: make([]float64, len(lastingRates)*parts)}
		v.share(test.task)
		for j := range parts {
			least, total := math.Inf(1), 0.0
			for c := j; c < len(v.loss); c += parts {
				least = min(least, v.loss[c])
			}
			likelihood := func(c int) float64 {
				if test.task == target.Classification {
					return math.Exp(least - v.loss[c*parts+j])
				}
				variance := 2 * least * (1 - lossDecay)
				return math.Exp((least - v.loss[c*parts+j]) / variance)
			}
			for c := range 1 + len(lastingRates) {
				total += likelihood(c)
			}
			for r := range lastingRates {
				if got, want := v.mix[r*parts+j], likelihood(1+r)/total; math.Abs(got-want) > 1e-6 {
					t.Errorf("%v, part %d: rate %d has a share of %v, want %v", test.task, j, r, got, want)
				}
			}
		}
	}
}

// Trees without members stay when members are discarded, with what their leaves have learned, and
// go when the trees themselves are.
func TestTreesAloneStayWhenMembersAreDiscarded(t *testing.T) {
	w := lastingPlanted(target.NewHead(loss.Softmax{}, target.Classification, 3, 1))
	w.forest.lasting.coef[7] = 3
	w.withoutMembers()
	stays := make([]bool, len(w.members))
	stays[0] = true
	if w.discard(stays); len(w.members) != 1 || w.forest.trees == nil || w.forest.lasting.coef[7] != 3 {
		t.Fatalf("%d members stay, with the trees %v", len(w.members), w.forest.trees)
	}
	if w.discardForest(); w.forest.trees != nil || w.lasts() {
		t.Error("trees without members are not discarded")
	}
}

// Where the members go at the last trial, numbers keep the trees as they are, and classes have fewer
// that grow again. Trees that do not pay go.
func TestTreesAloneAfterTheLastTrial(t *testing.T) {
	last := regrowths[len(regrowths)-1]
	for _, test := range []struct {
		name        string
		trees, want int
		pays        bool
	}{
		{"numbers", 30, 30, true},
		{"two classes", 30, lastingTrees, true},
		{"three classes", 30, lastingTrees, true},
		{"two classes", 7, 7, true},
		{"two classes", 30, 0, false},
		{"numbers", 30, 0, false},
	} {
		w := lastingTreesPlanted(lastingHeads()[test.name], test.trees)
		w.forest.lasting.coef[0] = 3
		w.forest.lasting.loss[0] = 2
		if !test.pays {
			for c := range w.forest.lasting.loss {
				w.forest.lasting.loss[c] = 2
			}
		}
		w.keepLasting(last)
		if got := w.forest.trees.Trees(); got != test.want || len(w.forest.members) > 0 {
			t.Errorf("%s, %d trees: %d stay with %d members, want %d without", test.name, test.trees, got, len(w.forest.members), test.want)
		}
		if again := test.want > 0 && test.want < test.trees; test.want > 0 && (w.forest.lasting.coef[0] == 0) != again {
			t.Errorf("%s, %d trees: they grow again: %v", test.name, test.trees, !again)
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
