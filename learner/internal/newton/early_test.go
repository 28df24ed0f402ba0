package newton

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/features/forest"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Models have more row visits, and trees in a step, while they have young trees. Without members
// with leaves, or in models from before, nothing changes.
func TestModelsWithYoungTreesTakeMoreSteps(t *testing.T) {
	h := target.NewHead(loss.Square{}, target.Regression, 0, 1)
	for _, test := range []struct {
		name        string
		change      func(w *newton)
		visits      int64
		trees, from int
	}{
		{"young", func(w *newton) {}, 2 * rowVisitsPerExample, youngTrees, growRows},
		{"not young", func(w *newton) { w.window.rows = youngRows }, rowVisitsPerExample, treesPerStep, growRows},
		{"before", func(w *newton) { w.Options.Early = false }, rowVisitsPerExample, treesPerStep, growRows},
		{"without members", func(w *newton) { w.forest.members = nil }, rowVisitsPerExample, treesPerStep, growRows},
		{"without trees", func(w *newton) { w.forest.trees = nil }, rowVisitsPerExample, treesPerStep, growRows},
		{"plain, young", func(w *newton) { w.Options.Plain, w.Options.Warming = true, true }, rowVisitsPerExample, youngTrees, earlyGrowRows},
		{"plain, without trees", func(w *newton) { w.Options.Plain, w.Options.Warming, w.forest.trees = true, true, nil }, rowVisitsPerExample / plainThinning, treesPerStep, earlyGrowRows},
		{"plain, before", func(w *newton) { w.Options.Plain, w.Options.Warming, w.Options.Early = true, true, false }, rowVisitsPerExample / plainThinning, treesPerStep, growRows},
	} {
		w := plantedTrees(h, 20)
		w.Options.Early, w.Options.ForestTrial = true, true
		test.change(w)
		if visits, trees, from := w.visitsNow(), w.treesNow(), w.growsFrom(); visits != test.visits || trees != test.trees || from != test.from {
			t.Errorf("%s: %d row visits, %d trees, which grow from %d rows; want %d, %d, %d", test.name, visits, trees, from, test.visits, test.trees, test.from)
		}
	}
}

// A plain model with a forest on trial has members with leaves, one for each of those without and
// with the same factors.
func TestPlainModelsHaveMembersWithLeaves(t *testing.T) {
	for _, early := range []bool{false, true} {
		p := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1)).Problem
		p.Options.ForestTrial, p.Options.Plain, p.Options.Warming, p.Options.Early = true, true, true, early
		w := newEngine(p)
		want := []int(nil)
		if early {
			want = []int{2, 3}
		}
		if !slices.Equal(w.forest.members, want) || w.factors != plainMembers || w.averaged != 0 {
			t.Errorf("early: %v: the members with leaves are %v, with %d factors and %d averages", early, w.forest.members, w.factors, w.averaged)
		}
	}
}

// Settling lowers the loss of the rows in each member, changes every block, and is what the model
// predicts. A model of a full window, of one class, or from before is left as it is.
func TestSettleLowersTheLoss(t *testing.T) {
	for _, h := range heads {
		w := planted(h)
		w.Options.Early = true
		before, coef, leaves := slices.Clone(w.window.scores(len(w.members)*h.Scores())), slices.Clone(w.coef), slices.Clone(w.forest.coef)
		for i := range w.loss {
			w.loss[i] = 2 * maxTotalLoss
		}
		w.resetDiverged(nil) // the members begin again
		was := make([]float64, len(w.forest.members))
		for c := range was {
			was[c] = w.objective(c)
		}
		if !w.Settle() || w.settling {
			t.Fatalf("%v: not settled", h.Loss)
		}
		for c := range was {
			if now := w.objective(c); !(now < 0.9*was[c]) {
				t.Errorf("%v, member %d with leaves: the objective is %v, before %v", h.Loss, c, now, was[c])
			}
		}
		if slices.Equal(before, w.window.scores(len(w.members)*h.Scores())) || slices.Equal(leaves, w.forest.coef) {
			t.Errorf("%v: nothing has changed", h.Loss)
		}
		size := 2 * w.Options.BlockSize * len(w.members) * h.Scores()
		for b := range w.bank.Blocks() {
			if slices.Equal(coef[b*size:(b+1)*size], w.coef[b*size:(b+1)*size]) {
				t.Errorf("%v: block %d has not changed", h.Loss, b)
			}
		}
		predicted, own := w.Score(nil, w.window.x, w.window.rows), len(w.members)*h.Scores()
		for i, want := range w.window.scores(own) {
			if got := predicted[i/own*w.Columns()+h.Scores()+i%own]; math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
				t.Fatalf("%v, row %d: a member predicts %v, and has learned to predict %v", h.Loss, i/own, got, want)
			}
		}
	}
	for name, change := range map[string]func(w *newton){
		"a full window": func(w *newton) { w.length = w.window.rows },
		"a long window": func(w *newton) { w.length, w.window.rows = longRows, windowRows },
		"before":        func(w *newton) { w.Options.Early = false },
		"few rows":      func(w *newton) { w.window.rows = minWindow - 1 },
		"one class":     func(w *newton) { w.Head.Task, w.Head.Classes = target.Classification, 1 },
	} {
		w := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1))
		w.Options.Early = true
		change(w)
		if coef := slices.Clone(w.coef); w.Settle() || !slices.Equal(coef, w.coef) {
			t.Errorf("%s: settled", name)
		}
	}
}

// A model that settles takes settlingRounds steps in each block, or in proportion to its effort,
// and changes youngTrees in each.
func TestSettlingTakesItsSteps(t *testing.T) {
	for visits, rounds := range map[int64]int{rowVisitsPerExample: settlingRounds, 2 * rowVisitsPerExample: 2 * settlingRounds} {
		plain, learn := sixClasses(false)
		p := plain.Problem
		p.Options.Forest, p.Options.Early = 50, true
		w := newEngine(p)
		if learn(w, youngRows/32+1); w.young() || w.forest.trees == nil {
			t.Fatal("the trees are young")
		}
		w.visits = visits
		want := (w.forest.next + rounds*w.bank.Blocks()*youngTrees) % 50
		if w.Settle(); w.forest.next != want {
			t.Errorf("%d row visits: the next tree is %d, want %d", visits, w.forest.next, want)
		}
	}
}

// Trees that grow again compare earlySplits columns at a node, and in models from before as many
// as the forest has.
func TestEarlyTreesCompareFewerColumns(t *testing.T) {
	w := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1))
	for early, want := range map[bool]int{false: 0, true: earlySplits} {
		w.Options.Early = early
		if got := w.guided(w.sample(), new(forest.Shared)).Splits; got != want {
			t.Errorf("early: %v: %d columns, want %d", early, got, want)
		}
	}
}

// Constant columns do not count for the columns that are compared, but in models from before.
func TestTreesCompareColumnsThatVary(t *testing.T) {
	w := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1))
	if !w.shares() {
		t.Fatal("no rows")
	}
	for _, w.Options.Varying = range []bool{false, true} {
		if labels, rest := w.sample().Varying, w.rest().Varying; labels != w.Options.Varying || rest != w.Options.Varying {
			t.Errorf("with Varying %v, trees of labels have %v, and of what is left %v", w.Options.Varying, labels, rest)
		}
	}
}

// settled returns a model of numbers with trees in a short window, before and after it settles with
// the change.
func settled(t *testing.T, change func(w *newton)) (before []float64, w *newton) {
	t.Helper()
	w = planted(target.NewHead(loss.Square{}, target.Regression, 0, 2))
	w.Options.Early = true
	if w.forest.trees == nil || w.window.rows < heldOut*leastHeldOut || w.window.rows >= youngRows {
		t.Fatalf("%d rows, trees: %v", w.window.rows, w.forest.trees != nil)
	}
	change(w)
	before = slices.Clone(w.mixture())
	if !w.Settle() {
		t.Fatal("not settled")
	}
	return before, w
}

// Rows held out change the shares of the members in predictions, and nothing else. Other models
// settle as before.
func TestHeldOutRowsChangeSharesAlone(t *testing.T) {
	_, plain := settled(t, func(w *newton) {})
	_, graded := settled(t, func(w *newton) { w.Options.HeldOut = true })
	if !slices.Equal(plain.coef, graded.coef) || !slices.Equal(plain.intercept, graded.intercept) || !slices.Equal(plain.forest.coef, graded.forest.coef) || !slices.Equal(plain.window.f, graded.window.f) || !slices.Equal(plain.loss, graded.loss) || plain.next != graded.next {
		t.Error("the members differ")
	}
	x := plain.window.x[:plain.Dim]
	if k := plain.Head.Scores(); slices.Equal(plain.Score(nil, x, 1)[:k], graded.Score(nil, x, 1)[:k]) {
		t.Error("the predictions are equal")
	}
	progressive := plain.mixture()
	n := graded.Head.Parts()
	for j := range n {
		sum := 0.0
		for i := j; i < len(graded.mix); i += n {
			sum += graded.mix[i]
			if own := graded.mix[i] - (1-heldOutShare)*progressive[i]; own < -1e-12 || own > heldOutShare+1e-12 {
				t.Errorf("target %d: the rows held out give a member the share %v", j, own)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("target %d: the sum of the shares is %v", j, sum)
		}
	}
	for name, change := range map[string]func(w *newton){
		"another loss": func(w *newton) { w.Head.Loss = loss.Absolute{} },
		"few rows":     func(w *newton) { w.window.rows = heldOut*leastHeldOut - 1 },
		"old trees":    func(w *newton) { w.window.rows = youngRows },
		"before":       func(w *newton) { w.Options.HeldOut = false },
	} {
		w := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1))
		w.Options.HeldOut = true
		if change(w); w.heldOutShares() != nil {
			t.Errorf("%s: there are shares of rows held out", name)
		}
	}
}

// Rows held out tell which members are best: those with leaves for steps of a column, and for noise
// the one without leaves that has the largest penalty.
func TestHeldOutRowsTellWhichMembersAreBest(t *testing.T) {
	w := planted(target.NewHead(loss.Square{}, target.Regression, 0, 1))
	w.Options.Early, w.Options.HeldOut = true, true
	rng := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		name  string
		label func(i int) float64
		best  []int
	}{
		{"steps", func(i int) float64 { return math.Floor(4 * float64(w.window.x[i*w.Dim])) }, w.forest.members},
		{"steps, and a label far off", func(i int) float64 {
			if i == heldOut-1 { // held out
				return 1e6
			}
			return math.Floor(4 * float64(w.window.x[i*w.Dim]))
		}, w.forest.members},
		{"noise", func(int) float64 { return rng.NormFloat64() }, []int{0}},
	} {
		for i := range w.window.rows {
			w.window.targets[i] = test.label(i)
		}
		shares, sum := w.heldOutShares(), 0.0
		for _, m := range test.best {
			sum += shares[m]
		}
		if sum < 0.8 {
			t.Errorf("%s: members %v have the share %.3f of %.3f", test.name, test.best, sum, shares)
		}
	}
}

// Every fifth row is held out, and every row is in one of the two parts.
func TestSplitHoldsEveryFifthRowOut(t *testing.T) {
	v := window{rows: 12}
	for i := range v.rows {
		v.x = append(v.x, float32(i), float32(-i))
		v.targets, v.weights = append(v.targets, float64(10*i)), append(v.weights, float64(100*i))
	}
	learned, held := v.split(2, 1)
	if want := []float64{40, 90}; !slices.Equal(held.targets, want) || !slices.Equal(held.weights, []float64{400, 900}) || !slices.Equal(held.x, []float32{4, -4, 9, -9}) {
		t.Errorf("held out: %v, %v, %v", held.x, held.targets, held.weights)
	}
	if want := []float64{0, 10, 20, 30, 50, 60, 70, 80, 100, 110}; !slices.Equal(learned.targets, want) || len(learned.x) != 2*len(want) || len(learned.weights) != len(want) {
		t.Errorf("learned: %v, %v, %v", learned.x, learned.targets, learned.weights)
	}
}
