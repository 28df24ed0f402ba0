package learner

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// init takes a third of rapid's number of checks, each of which learns hundreds of rows;
// -rapid.checks on the command line overrides it.
func init() {
	if err := flag.Set("rapid.checks", "35"); err != nil {
		panic(err)
	}
}

// TestFiniteRowsGiveFiniteModels feeds the learner what only a hostile or
// broken source would write: any finite numbers, columns that are constant or
// far off or that jump after the warm-up, rows that are all the same, weights
// of any size.
func TestFiniteRowsGiveFiniteModels(t *testing.T) {
	t.Parallel()
	extremes := []float64{0, 1, -1, 1e300, -1e300, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-300, 1e20, 1e-20}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		dim := rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "dim")
		regression := rapid.Bool().Draw(t, "regression")
		classes := rapid.IntRange(1, 4).Draw(t, "classes")
		kinds := rapid.SliceOfN(rapid.IntRange(0, 5), dim+2, dim+2).Draw(t, "kinds")
		turn := rapid.IntRange(0, 1500).Draw(t, "turn") // from which row on the kinds move by one column
		value := func(kind int) float64 {
			switch kind {
			case 0:
				return rng.NormFloat64()
			case 1:
				return 7
			case 2:
				return extremes[rng.IntN(len(extremes))]
			case 3:
				return math.Float64frombits(rng.Uint64() &^ (1 << 62)) // magnitudes from 0 to 1
			case 4:
				return 1e300 * rng.NormFloat64()
			}
			return 1e12 + rng.Float64()
		}
		targets := 1
		if regression {
			targets = rapid.IntRange(1, 3).Draw(t, "targets")
		}
		l, err := newWith(Config{Targets: targets, Algorithm: rapid.SampledFrom(names()).Draw(t, "algorithm"), Kernel: rapid.SampledFrom([]string{"gaussian:1", "gaussian:1", "skewed-chi2:1,1", "laplacian:1", "cauchy:1", "matern:1.5,1", "rational-quadratic:1,1", "gaussian"}).Draw(t, "kernel"), BlockSize: 4, MaxFeatures: 16, Minibatch: 25}, memoised)
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		b.Reset(dim)
		x := make([]float64, dim)
		seen := 0
		for i := range rapid.SampledFrom([]int{450, 450, 450, 450, 450, 450, 450, 450, 450, 1800}).Draw(t, "rows") {
			shift := 0
			if i >= turn {
				shift = 1
			}
			for j := range x {
				x[j] = value(kinds[j+shift])
			}
			y := Label{Task: Regression, Value: value(kinds[dim+shift])}
			for range targets - 1 {
				y.More = append(y.More, value(kinds[dim+shift]))
			}
			if !regression {
				y = Label{Task: Classification, Class: min(seen, rng.IntN(classes))}
				seen = max(seen, y.Class+1)
			}
			w := 1.0
			if kinds[0] == 2 {
				w = math.Abs(value(2))
			}
			b.Append(x, y, w)
		}
		for at := 0; at < b.Len(); {
			p := l.Predict(b.Slice(at, b.Len()))
			check(t, "a prediction", p.Values)
			for i := range p.Len() {
				loss, _ := p.Loss(i)
				check(t, "a loss", []float64{loss})
			}
			at += p.Len()
			l.Learn(p)
		}
		s := l.State()
		for _, a := range slices.Concat(s.Serving, s.Resuming) {
			switch data := a.Data.(type) {
			case []float64:
				check(t, a.Name, data)
			case []float32:
				for _, v := range data {
					check(t, a.Name, []float64{float64(v)})
				}
			}
		}
		if _, err := restore(l.config, s); err != nil {
			t.Fatalf("its own state: %v", err)
		}
		if p := l.Progress(); true {
			for _, s := range []Scores{p.Whole, p.Recent, p.Latest} {
				for _, s := range []Score{s.Model, s.Majority, s.NoChange, s.Linear} {
					check(t, "progress", []float64{s.Error, s.MSE, s.Loss})
				}
			}
		}
	})
}

// names is the name of every algorithm.
func names() (all []string) {
	for _, a := range algorithms {
		all = append(all, a.Name)
	}
	return all
}

func check(t *rapid.T, what string, values []float64) {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%s is %v", what, v)
		}
	}
}

// TestStreamUnlikeItsWarmupDoesNotDiverge: the step size is made for rows that
// are spread out. Rows that are all alike have up to 1/λ_max times the curvature.
func TestStreamUnlikeItsWarmupDoesNotDiverge(t *testing.T) {
	t.Parallel()
	for _, a := range algorithms {
		l := newLearner(t, Config{Algorithm: a.Name, Kernel: "gaussian:0.1", BlockSize: 16, MaxFeatures: 128})
		rng := rand.New(rand.NewPCG(1, 2))
		var b Batch
		b.Reset(2)
		for i := range 20_000 {
			x := []float64{rng.NormFloat64(), rng.NormFloat64()}
			if i > 1500 {
				x = []float64{0.3, -0.2}
			}
			b.Append(x, Label{Task: Regression, Value: 5 + rng.NormFloat64()}, 1)
		}
		learn(l, &b, 1000)
		if mse := l.Progress().Recent.Model.MSE; mse > 1.1 {
			t.Errorf("%s: squared error %v of labels with variance 1 around one value", a.Name, mse)
		}
	}
}

// TestDriftIsForgotten turns the labels of a learned concept around, and wants
// the error back where it was.
func TestDriftIsForgotten(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			most := 256
			if a.FixedBlocks != nil {
				most = 64
			}
			l := newWhole(t, Config{Algorithm: a.Name, BlockSize: 16, MaxFeatures: most})
			rng := rand.New(rand.NewPCG(1, 2))
			var b Batch
			phase := func(sign float64) float64 {
				b.Reset(2)
				for range 12_000 {
					x := []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64()}
					b.Append(x, class(sign*x[0]*x[1] > 0), 1)
				}
				learn(l, &b, 500)
				return l.Progress().Latest.Model.Error
			}
			before, after := phase(1), phase(-1)
			if before > 0.12 || after > 1.3*before+0.01 {
				t.Errorf("error %v before the change, and %v at last after it", before, after)
			}
		})
	}
}

// TestMinibatchesAllocateNothing once the model has its size.
func TestMinibatchesAllocateNothing(t *testing.T) {
	for _, a := range algorithms {
		s := two(a.Name)
		s.config.Minibatch, s.config.Kernel = 128, "gaussian:1.5"
		l := newLearner(t, s.config)
		rows := s.rows(4000)
		learn(l, rows.Slice(0, 3000), 100)
		var b Batch
		at := 3000
		allocations := testing.AllocsPerRun(5, func() {
			for range 150 {
				b.Reset(s.dim)
				b.Append(rows.X(at), rows.Label(at), rows.Weight(at))
				l.Learn(l.Predict(&b))
				at++
			}
		})
		if allocations > 5 {
			t.Errorf("%s: %v allocations in 150 rows and their mini-batch", a.Name, allocations)
		}
	}
}

// TestOneLabelDoesNotWreckTheModel: a wild label moves it no further than one
// ten standard deviations off would.
func TestOneLabelDoesNotWreckTheModel(t *testing.T) {
	t.Parallel()
	for _, a := range algorithms {
		l := newLearner(t, Config{Algorithm: a.Name, Kernel: "gaussian:1.5", BlockSize: 16, MaxFeatures: 64})
		rng := rand.New(rand.NewPCG(1, 2))
		var b, probe Batch
		probe.Reset(2)
		probe.Append([]float64{0.5, 0.5}, Label{}, 1)
		b.Reset(2)
		for i := range 128 * 30 {
			x := []float64{rng.NormFloat64(), rng.NormFloat64()}
			y := x[0] + 0.1*rng.NormFloat64()
			if i == 128*30-5 {
				y = -1e7
			}
			b.Append(x, Label{Task: Regression, Value: y}, 1)
		}
		learn(l, b.Slice(0, 128*29), 128)
		before := l.Predict(&probe).Row(0)[0]
		learn(l, b.Slice(128*29, b.Len()), 128)
		if after := l.Predict(&probe).Row(0)[0]; math.Abs(after-before) > 0.5 {
			t.Errorf("%s: one label of -1e7 moves a prediction from %v to %v", a.Name, before, after)
		}
	}
}
