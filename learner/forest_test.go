package learner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// onTrial is a model with a forest on trial.
var onTrial = Config{Algorithm: "newton", Forest: 16, ForestTrial: true, Effort: 16, BlockSize: 16, MaxFeatures: 64}

// trialRows returns rows of normal numbers, with labels that are a function of them.
func trialRows(columns int, label func(x []float64) Label) *Batch {
	return manyRows(8100, columns, label)
}

func manyRows(n, columns int, label func(x []float64) Label) *Batch {
	rng := rand.New(rand.NewPCG(3, 4))
	b := new(Batch)
	b.Reset(columns)
	x := make([]float64, columns)
	for range n {
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		b.Append(x, label(x), 1)
	}
	return b
}

func jumps(x []float64) Label {
	return Label{Task: Regression, Value: math.Floor(2*x[0]) * math.Floor(2*x[1])}
}

// class12 returns one of twelve classes.
func class12(v float64) Label {
	return Label{Task: Classification, Class: min(11, int(4*math.Abs(v)))}
}

// late12 returns labels of four classes in the first 2,000 rows, and of twelve afterwards.
func late12() func(x []float64) Label {
	row := 0
	return func(x []float64) Label {
		if row++; row <= 2000 {
			return Label{Task: Classification, Class: min(3, int(4*math.Abs(x[0])))}
		}
		return class12(x[0])
	}
}

// hasForest reports whether a State has trees.
func hasForest(s State) bool {
	return slices.ContainsFunc(s.Serving, func(a Array) bool { return a.Name == "forest.columns" })
}

// A forest on trial stays where labels jump, and is discarded at the first trial where they are
// smooth, or right away where there are many classes. A Learner that is restored before or after
// a trial continues to the same bits, which are pinned.
func TestForestOnTrialStaysWhereItPays(t *testing.T) {
	for _, test := range []struct {
		name, want string
		columns    int
		label      func(x []float64) Label
		until      int // rows from which on there is no forest; 0: it stays
		rows       int
	}{
		{"jumps", "202d9cf87e260ccf", 3, jumps, 0, 8100},
		{"jumps, which few trees find among more columns", "2d27eb301a0adf7b", 8, jumps, 4096, 4100},
		{"smooth", "9fe07f19ada5c959", 3, func(x []float64) Label { return Label{Task: Regression, Value: x[0]} }, 8000, 8100},
		{"many classes", "01fdb4b6bb7452fb", 3, func(x []float64) Label { return class12(x[0]) }, 1, 1300},
		{"many classes later", "bbac2e818ffdeb8b", 3, late12(), 2010, 2300},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := trialRows(test.columns, test.label)
			l, at := newLearner(t, onTrial), 0
			restored, err := restore(onTrial, l.State())
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{1200, 1300, 1990, 2300, 4090, 4100, 7990, 8010, 8100} {
				if n > test.rows {
					break
				}
				learn(l, b.Slice(at, n), 500)
				learn(restored, b.Slice(at, n), 333)
				if got, want := hash(restored.State()), hash(l.State()); got != want {
					t.Fatalf("row %d: restored, the state's hash is %s, want %s", n, got, want)
				}
				if restored, err = restore(onTrial, l.State()); err != nil {
					t.Fatalf("row %d: %v", n, err)
				}
				if at = n; hasForest(l.State()) != (n > 1250 && (test.until == 0 || n < test.until)) {
					t.Errorf("row %d: there is a forest: %v", n, hasForest(l.State()))
				}
			}
			if got := hash(l.State()); got != test.want {
				t.Errorf("the state's hash is %s, want %s", got, test.want)
			}
		})
	}
}

// auto is a forest on trial where there is a mixture of newton with its full effort, and no
// refits; a number is that many trees.
func TestForestOfANameSuitsTheModel(t *testing.T) {
	mixed := Config{Mixture: true}
	for _, test := range []struct {
		config Config
		name   string
		refits bool
		trees  int
		trial  bool
	}{
		{mixed, "auto", false, autoTrees, true},
		{mixed, "auto", true, 0, false},
		{mixed, "200", false, 200, false},
		{mixed, "0", false, 0, false},
		{Config{}, "auto", false, 0, false},
		{Config{Mixture: true, Algorithm: "ridge", Task: Regression}, "auto", false, 0, false},
		{Config{Mixture: true, Effort: 32}, "auto", false, 0, false},
		{Config{Mixture: true, Effort: AutoEffort}, "auto", false, 0, false},
		{Config{Mixture: true, Effort: AutoEffort, Warmup: NewestWarmup}, "auto", false, autoTrees, true},
		{Config{Mixture: true, Effort: 64}, "auto", false, autoTrees, true},
		{Config{Mixture: true, Sparse: 12}, "auto", false, 0, false},
	} {
		got, err := test.config.WithForest(test.name, test.refits)
		if err != nil || got.Forest != test.trees || got.ForestTrial != test.trial || got.ForestPairs != test.trial || got.ForestRegrow != test.trial || got.ForestLasting != test.trial {
			t.Errorf("%+v, %s, refits %v: %d trees, trial %v, %v", test.config, test.name, test.refits, got.Forest, got.ForestTrial, err)
		}
	}
	for _, name := range []string{"", "many", "-1", "4097", "1.5"} {
		if _, err := mixed.WithForest(name, false); err == nil {
			t.Errorf("forest %q: no error", name)
		}
	}
	if _, err := (Config{ForestTrial: true}).Effective(); err == nil {
		t.Error("a trial without trees: no error")
	}
	if _, err := (Config{Forest: 10, ForestLasting: true}).Effective(); err == nil {
		t.Error("lasting coefficients without a trial: no error")
	}
	if _, err := (Config{Forest: 10, ForestRegrow: true}).Effective(); err == nil {
		t.Error("trees that grow again without a trial: no error")
	}
	if _, err := (Config{Forest: 10, ForestPairs: true}).Effective(); err == nil {
		t.Error("pairs without a trial: no error")
	}
}
