package newton

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// sixClasses returns an engine for six classes, and a function that has an engine learn rows.
func sixClasses(discard bool) (*newton, func(w *newton, batches int)) {
	const dim, minibatch, classes = 3, 32, 6
	h := target.NewHead(loss.Softmax{}, target.Classification, classes, 1)
	w := newEngine(engine.Problem{
		Options: engine.Options{BlockSize: 4, MaxFeatures: 8, Minibatch: minibatch, Seed: 1, Effort: FullEffort, Discard: discard},
		Head:    h, Dim: dim, Prior: make([]float64, h.Scores()),
		Fit: &warmup.Fit{Kernel: kernel.Gaussian{Scale: 2}, Lambda: 1e-3, TopEigenvalue: 1},
	})
	rng := rand.New(rand.NewPCG(1, 2))
	return w, func(w *newton, batches int) {
		for range batches {
			var p engine.Minibatch
			for range minibatch {
				x := []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
				y := target.Label{Task: h.Task, Class: rng.IntN(classes)}
				if x[0] > 0 {
					y.Class = min(classes-1, int(x[1]*x[1]))
				}
				p.X, p.Labels, p.Weights = append(p.X, x...), append(p.Labels, y), append(p.Weights, 1)
			}
			p.Scores = w.Score(nil, p.X, minibatch)
			w.Learn(&p)
		}
	}
}

// withTrees returns six classes with a forest that grows again.
func withTrees(discard bool) (*newton, func(w *newton, batches int)) {
	plain, learn := sixClasses(discard)
	p := plain.Problem
	p.Options.Forest, p.Options.ForestTrial, p.Options.ForestRegrow = 5, true, true
	return newEngine(p), learn
}

// Members without those that are discarded learn what they would have learned with them, in the
// same bits.
func TestDiscardedMembersChangeNoOther(t *testing.T) {
	with, learnWith := sixClasses(false)
	without, learnWithout := sixClasses(true)
	learnWith(with, discards[0]/32-1)
	learnWithout(without, discards[0]/32-1)
	for _, w := range []*newton{with, without} { // far behind: the first two members and their averages
		for _, c := range []int{0, 1, 4, 5} {
			w.loss[c] += 10 * discardGap
		}
	}
	learnWith(with, 40)
	learnWithout(without, 40)
	if want := []member{ensemble[2], ensemble[3]}; !slices.Equal(without.members, want) || without.averaged != 1 {
		t.Fatalf("%d averages of the members %v, want one of %v", without.averaged, without.members, want)
	}
	k, stays := with.Head.Scores(), []bool{false, false, true, true}
	for _, test := range []struct {
		name      string
		got, want []float64
	}{
		{"coefficients", without.coef, keepGroups(with.coef, k, stays)},
		{"intercepts", without.intercept, keepGroups(with.intercept, k, stays)},
		{"averages", without.averageCoef, keepGroups(with.averageCoef, k, stays[:3])},
		{"their intercepts", without.averageIntercept, keepGroups(with.averageIntercept, k, stays[:3])},
		{"scores of the window", without.window.scores(2 * k), keepGroups(with.window.scores(4*k), k, stays)},
		{"losses", without.loss, keepGroups(with.loss, 1, []bool{false, false, true, true, false, false, true})},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("the %s are others", test.name)
		}
	}
	x := with.window.x[:3*50]
	if got, want := firstScores(without, x, 50), firstScores(with, x, 50); !slices.Equal(got, want) {
		t.Error("the predictions are others")
	}
}

// firstScores returns the scores of the mixture.
func firstScores(w *newton, x []float32, n int) (f []float64) {
	all, columns := w.Score(nil, x, n), w.Columns()
	for i := range n {
		f = append(f, all[i*columns:i*columns+w.Head.Scores()]...)
	}
	return f
}

// Members are discarded whose loss, and that of their average, is far from the best one. Until the
// last of the discards they have a greater penalty than the best, and the member that learns from
// fewer rows always stays.
func TestMembersAreDiscardedByTheirLosses(t *testing.T) {
	const far, near = 500 + discardGap + 1, 500 + discardGap - 1
	for _, test := range []struct {
		name   string
		rows   int // of the window, which had 32 less
		loss   [7]float64
		reset  bool
		remain []int
	}{
		{"all are near", 8000, [7]float64{near, 500, near, near, near, near, near}, false, []int{0, 1, 2, 3}},
		{"between the discards", 5000, [7]float64{far, 500, far, far, far, far, far}, false, []int{0, 1, 2, 3}},
		{"smaller penalties at first", 4096, [7]float64{far, 500, far, far, far, far, far}, false, []int{1, 2, 3}},
		{"with a larger mini-batch", 4100, [7]float64{far, 500, far, far, far, far, far}, false, []int{1, 2, 3}},
		{"smaller penalties at last", 8000, [7]float64{far, 500, far, far, far, far, far}, false, []int{1, 3}},
		{"greater penalties", 2048, [7]float64{far, far, 500, far, far, far, far}, false, []int{2, 3}},
		{"an average that is near", 8000, [7]float64{far, far, 500, far, near, far, far}, false, []int{0, 2, 3}},
		{"an average that is the best", 8000, [7]float64{far, far, far, far, far, 500, far}, false, []int{1, 3}},
		{"the member of fewer rows is the best", 8000, [7]float64{far, 510, 1000, 5, far, 510, 900}, false, []int{0, 1, 3}},
		{"after a reset", 8000, [7]float64{far, 500, far, far, far, far, far}, true, []int{0, 1, 2, 3}},
	} {
		w, _ := sixClasses(true)
		if copy(w.loss, test.loss[:]); test.reset {
			w.intercept[0] = 2 * engine.MaxCoefficient
			w.resetDiverged(nil)
			copy(w.loss, test.loss[:])
		}
		w.window.rows = test.rows
		w.window.setScores(make([]float64, test.rows*4*w.Head.Scores()), 4*w.Head.Scores())
		w.discardMembers(test.rows - 32)
		var want []member
		for _, m := range test.remain {
			want = append(want, ensemble[m])
		}
		if !slices.Equal(w.members, want) || !slices.Equal(w.remaining(), test.remain) {
			t.Errorf("%s: %v remain, %v, want %v", test.name, w.members, w.remaining(), test.remain)
		}
	}
}

// So do members of a model with trees, with and without leaves.
func TestDiscardedMembersWithLeavesChangeNoOther(t *testing.T) {
	with, learnWith := withTrees(false)
	without, learnWithout := withTrees(true)
	learnWith(with, discards[0]/32-1)
	learnWithout(without, discards[0]/32-1)
	for _, w := range []*newton{with, without} {
		for c := range w.loss {
			if w.loss[c] = 500; c%6 == 0 || c%6 == 3 { // far behind, like their averages
				w.loss[c] += 10 * discardGap
			}
		}
	}
	learnWith(with, 10)
	learnWithout(without, 10)
	stays := []bool{false, true, true, false, true, true}
	if want := []member{trialEnsemble[1], trialEnsemble[2], trialEnsemble[4], trialEnsemble[5]}; !slices.Equal(without.members, want) || without.averaged != 3 || !slices.Equal(without.forest.members, []int{2}) {
		t.Fatalf("%d averages of the members %v, want three of %v", without.averaged, without.members, want)
	}
	k := with.Head.Scores()
	of, averages := []bool{false, true}, slices.Concat(stays, stays[:5])
	for _, test := range []struct {
		name      string
		got, want []float64
	}{
		{"coefficients", without.coef, keepGroups(with.coef, k, stays)},
		{"averages", without.averageCoef, keepGroups(with.averageCoef, k, stays[:5])},
		{"coefficients of leaves", without.forest.coef, keepGroups(with.forest.coef, k, of)},
		{"averages of leaves", without.forest.averageCoef, keepGroups(with.forest.averageCoef, k, of)},
		{"scores of the window", without.window.scores(4 * k), keepGroups(with.window.scores(6*k), k, stays)},
		{"losses", without.loss, keepGroups(with.loss, 1, averages)},
		{"losses since the trees grew", without.forest.since, keepGroups(with.forest.since, 1, averages)},
	} {
		if len(test.want) == 0 || !slices.Equal(test.got, test.want) {
			t.Errorf("the %s are others", test.name)
		}
	}
	x := with.window.x[:3*50]
	if got, want := firstScores(without, x, 50), firstScores(with, x, 50); !slices.Equal(got, want) {
		t.Error("the predictions are others")
	}
}

// Until the last of the discards members with leaves are compared with each other, like those
// without; then all are, but one with leaves stays with the trees. With few scores it is the only
// one. Trees of pairs, and those that are not to grow again, keep all members.
func TestMembersOfAModelWithTreesAreDiscarded(t *testing.T) {
	const far, near = 500 + discardGap + 1, 500 + discardGap - 1
	six := target.NewHead(loss.Softmax{}, target.Classification, 6, 1)
	two := target.NewHead(loss.Logistic{}, target.Classification, 2, 1)
	number := target.NewHead(loss.Square{}, target.Regression, 0, 1)
	apart := [6]float64{far, 500, far, 1000 + far, 1500, 500} // of the members and their averages
	behind := [6]float64{500, near, far, far, 1000, far}
	for _, test := range []struct {
		name     string
		head     target.Head
		rows     int
		loss     [6]float64
		change   func(w *newton)
		remain   []int
		leafless []int // of the members without leaves, after the trees
	}{
		{"in two groups", six, 2048, apart, nil, []int{1, 2, 4, 5}, []int{1, 2, 3}},
		{"in two groups, again", six, 4096, apart, nil, []int{1, 2, 4, 5}, []int{1, 2, 3}},
		{"between the discards", six, 5000, apart, nil, []int{0, 1, 2, 3, 4, 5}, []int{0, 1, 2, 3}},
		{"at last", six, 8000, apart, nil, []int{1, 4, 5}, []int{1, 3}},
		{"one with leaves at last", six, 8000, behind, nil, []int{0, 1, 3, 5}, []int{0, 1, 3}},
		{"two classes", two, 4096, apart, nil, []int{0, 1, 2, 3, 4, 5}, []int{0, 1, 2, 3}},
		{"two classes at last", two, 8000, apart, nil, []int{1, 4, 5}, []int{1, 3}},
		{"numbers", number, 4096, apart, nil, []int{0, 1, 2, 3, 4, 5}, []int{0, 1, 2, 3}},
		{"numbers at last", number, 8000, [6]float64{505, 496, 498, 508, 495, 520}, nil, []int{1, 4, 5}, []int{1, 3}},
		{"pairs", six, 8000, apart, func(w *newton) { w.forest.pairs = 1 }, []int{0, 1, 2, 3, 4, 5}, nil},
		{"trees that grow once", six, 8000, apart, func(w *newton) { w.Options.ForestRegrow = false }, []int{0, 1, 2, 3, 4, 5}, nil},
		{"after a reset", six, 8000, apart, func(w *newton) { w.discarded = keepsAll }, []int{0, 1, 2, 3, 4, 5}, nil},
	} {
		plain, _ := withTrees(true)
		p := plain.Problem
		p.Head, p.Prior = test.head, make([]float64, test.head.Scores())
		w := newEngine(p)
		w.plant(forest.Grow(forest.Sample{Dim: 3}, 5, 1))
		w.forest.coef, w.forest.averageCoef = make([]float64, 10*w.Head.Scores()), make([]float64, 10*w.Head.Scores())
		copy(w.loss, test.loss[:])
		copy(w.loss[6:], test.loss[:5])
		w.judgeFromHere()
		w.window.rows = test.rows
		w.window.setScores(make([]float64, test.rows*6*w.Head.Scores()), 6*w.Head.Scores())
		if test.change != nil {
			test.change(w)
		}
		w.discardMembers(test.rows - 32)
		var want []member
		for _, m := range test.remain {
			want = append(want, trialEnsemble[m])
		}
		if !slices.Equal(w.members, want) || !slices.Equal(w.remaining(), test.remain) {
			t.Errorf("%s: %v remain, %v, want %v", test.name, w.members, w.remaining(), test.remain)
		}
		if test.leafless == nil {
			continue
		}
		if w.discardForest(); !slices.Equal(w.remaining(), test.leafless) || len(w.members) != len(test.leafless) {
			t.Errorf("%s: without trees %v remain, %v, want %v", test.name, w.members, w.remaining(), test.leafless)
		}
	}
}

// Trees that have lost their members before go without a change of those that remain.
func TestTreesAloneGoWithoutAChangeOfTheMembers(t *testing.T) {
	p, _ := withTrees(true)
	problem := p.Problem
	problem.Head, problem.Prior = target.NewHead(nil, target.Classification, 6, 1), make([]float64, 6)
	problem.Options.ForestLasting, problem.Options.LastingClasses = true, true
	w := newEngine(problem)
	w.plant(forest.Grow(forest.Sample{Dim: 3}, 5, 1))
	w.forest.coef, w.forest.averageCoef = make([]float64, 10*6), make([]float64, 10*6)
	w.beginLasting()
	w.discard([]bool{true, false, true, true, true, false})
	if w.withoutMembers(); !slices.Equal(w.remaining(), []int{0, 2}) || w.forest.trees == nil {
		t.Fatalf("%v remain with the trees %v, want 0 and 2", w.remaining(), w.forest.trees)
	}
	if w.discardForest(); w.discarded != 0b1010 || len(w.members) != 2 || w.forest.trees != nil {
		t.Errorf("%d members remain with the trees %v, and %b are discarded, want 0 and 2 without", len(w.members), w.forest.trees, w.discarded)
	}
}
