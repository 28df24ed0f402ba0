package warmup

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// curved is n rows of dim normal columns whose labels depend on the first two.
func curved(n, dim int, noise float64) sample {
	rng := rand.New(rand.NewPCG(3, 4))
	s := sample{dim: dim, targets: 1}
	for range n {
		x := make([]float64, dim)
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		s.x = append(s.x, x...)
		s.y = append(s.y, math.Sin(2*x[0])*x[1]+noise*rng.NormFloat64())
	}
	s.center()
	return s
}

// TestLeaveOneOutIsLeavingOneOut leaves each row out in turn.
func TestLeaveOneOutIsLeavingOneOut(t *testing.T) {
	for _, v := range []Version{First, Newest} {
		testLeaveOneOut(t, v, nil, nil)
	}
}

func TestLeaveOneOutHasWeightsAndASecondKernel(t *testing.T) {
	weights := make([]float64, 40)
	for i := range weights {
		weights[i] = 0.1 + float64(i%4)*0.6
	}
	for _, v := range []Version{First, Newest} {
		testLeaveOneOut(t, v, []float64{0.2, 3}, weights)
	}
}

// TestTargetsAreSolvedForTogether: for fewer than at once, as many and more, the error is the
// sum of those of each.
func TestTargetsAreSolvedForTogether(t *testing.T) {
	for _, targets := range []int{1, 2, targetsAtOnce, targetsAtOnce + 3} {
		one := curved(60, 2, 0.1)
		one.version = Newest
		several, want := one, 0.0
		several.targets, several.y = targets, make([]float64, one.rows()*targets)
		rng := rand.New(rand.NewPCG(8, uint64(targets)))
		for c := range targets {
			for i := range one.y {
				one.y[i] = one.x[2*i]*one.x[2*i+1] + rng.NormFloat64()
				several.y[i*targets+c] = one.y[i]
			}
			want += newTuner(one, Ones(2), kernel.Gaussian{}).error(safeTuning)
		}
		if got := newTuner(several, Ones(2), kernel.Gaussian{}).error(safeTuning); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%d targets: error %v, want %v", targets, got, want)
		}
	}
}

func testLeaveOneOut(t *testing.T, v Version, second, weights []float64) {
	s := curved(40, 2, 0.1)
	s.version = v
	metric := []float64{1.5, 0.5}
	tn := newTuner(s, metric, kernel.Gaussian{})
	n := s.rows()
	tn.weights = weights
	if second == nil {
		second = metric
	} else {
		tn.withSecond(second)
	}
	weight := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}
	for _, c := range []tuning{{width: 0, lambda: -3}, {width: -1, lambda: -6}, {width: 2, lambda: 0}} {
		scale := math.Ldexp(math.Sqrt(tn.squared), c.width)
		kernel := func(i, j int) float64 {
			var d, e float64
			for a := range s.dim {
				v := s.x[i*s.dim+a] - s.x[j*s.dim+a]
				d += metric[a] * v * v
				e += second[a] * v * v
			}
			return 1 + (math.Exp(-d/(2*scale*scale))+math.Exp(-e/(2*scale*scale)))/2
		}
		want := 0.0
		for out := range n {
			var rows []int
			for i := range n {
				if i != out {
					rows = append(rows, i)
				}
			}
			a, y := mat.NewSymDense(n-1, nil), mat.NewVecDense(n-1, nil)
			for p, i := range rows {
				y.SetVec(p, s.y[i])
				for q, j := range rows[:p+1] {
					a.SetSym(p, q, kernel(i, j))
				}
				a.SetSym(p, p, a.At(p, p)+math.Pow(10, float64(c.lambda))*float64(n)/weight(i))
			}
			var alpha mat.VecDense
			if err := alpha.SolveVec(a, y); err != nil {
				t.Fatal(err)
			}
			f := 0.0
			for p, i := range rows {
				f += alpha.AtVec(p) * kernel(i, out)
			}
			want += weight(out) * (f - s.y[out]) * (f - s.y[out]) / float64(n)
		}
		if got := tn.error(c); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("version %d, %+v: error %v, want %v", v, c, got, want)
		}
	}
}

func TestMetricFindsTheColumnsThatMatter(t *testing.T) {
	a := newColumnWeights(curved(600, 10, 0.1), weightings[1])
	for j, v := range a {
		if (j < 2) != (v > 1) || j >= 2 && v > 0.1 {
			t.Errorf("column %d has the weight %v", j, v)
		}
	}
}

// TestTuningIsWorthIt: with 30 columns of noise the chosen metric and width are
// far better than none, and rows of two kinds of label are enough to see it.
func TestTuningIsWorthIt(t *testing.T) {
	s := curved(1000, 32, 0.1)
	untuned := newTuner(s, Ones(s.dim), kernel.Gaussian{}).error(safeTuning)
	if best, _ := s.choose(Request{Kernel: kernel.Gaussian{}}); best.error > untuned/3 {
		t.Errorf("error %v, without a choice %v", best.error, untuned)
	}
}

// TestHalfWithoutAMetric: where a metric is worth little, half of the frequencies
// are without it, and where it is all that matters, none.
func TestHalfWithoutAMetric(t *testing.T) {
	s := curved(600, 12, 1)
	if _, second := s.choose(Request{Kernel: kernel.Gaussian{}}); second == nil {
		t.Error("there is no second kernel where much is noise")
	}
	s = curved(1000, 32, 0.1)
	if _, second := s.choose(Request{Kernel: kernel.Gaussian{}}); second != nil {
		t.Errorf("two columns of 32 matter, and there is a second metric %v", second)
	}
}

// TestFineKernelsAreFound: forty turns within the rows' median distance.
func TestFineKernelsAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	s := sample{dim: 1, targets: 1}
	for range 500 {
		x := rng.Float64()
		s.x = append(s.x, x)
		s.y = append(s.y, math.Sin(2*math.Pi*20*x)+0.1*rng.NormFloat64())
	}
	s.center()
	if best := newTuner(s, Ones(1), kernel.Gaussian{}).search(safeTuning); best.width >= narrowest || best.error > 0.1 {
		t.Errorf("width %d, error %v", best.width, best.error)
	}
}

// TestFewRowsHaveNoMetric: below enough rows the fit chooses the width and the
// penalty, a strong one where nothing can be predicted.
func TestFewRowsHaveNoMetric(t *testing.T) {
	s := curved(minTuningRows-1, 3, 0.1)
	rng := rand.New(rand.NewPCG(3, 4))
	signal, noise := make([]target.Label, s.rows()), make([]target.Label, s.rows())
	for i := range signal {
		signal[i] = target.Label{Task: target.Regression, Value: s.y[i]}
		noise[i] = target.Label{Task: target.Regression, Value: rng.NormFloat64()}
	}
	a := Request{Task: target.Regression, Kernel: kernel.Gaussian{}}
	weak, strong := NewFit(s.x, signal, s.dim, a), NewFit(s.x, noise, s.dim, a)
	if !slices.Equal(weak.Scaler.ColumnWeights, Ones(s.dim)) || !slices.Equal(strong.Scaler.ColumnWeights, Ones(s.dim)) {
		t.Errorf("metrics %v and %v of few rows", weak.Scaler.ColumnWeights, strong.Scaler.ColumnWeights)
	}
	if weak.Lambda > 1e-3 || strong.Lambda < 0.1 {
		t.Errorf("penalty %v, and %v where there is only noise", weak.Lambda, strong.Lambda)
	}
}

// TestOnlyTheLastFitIsForMoreRows: fits that others follow take what is best for
// their rows, and the last one a kernel that is narrower, as nearly as good.
func TestOnlyTheLastFitIsForMoreRows(t *testing.T) {
	s := curved(LastCheckpoint, 3, 1)
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range s.y {
		s.y[i] = s.x[i*s.dim] + s.x[i*s.dim+1] + rng.NormFloat64()
	}
	s.center()
	from := tuned{Ones(s.dim), safeTuning}
	last := newTuner(s.slice(LastCheckpoint-tuningRows, LastCheckpoint), from.weights, kernel.Gaussian{})
	best := last.search(safeTuning)
	if early := s.slice(1, LastCheckpoint).tuned(from, Request{Kernel: kernel.Gaussian{}}); early.width != best.width || early.lambda != best.lambda {
		t.Errorf("before the last fit %v, want %v", early.tuning, best)
	}
	if late := s.tuned(from, Request{Kernel: kernel.Gaussian{}}); late.width >= best.width || late.error > narrowMargin*best.error {
		t.Errorf("in the last fit %v, where %v is best", late.tuning, best)
	}
}

// TestNarrowKernelsPredict: where little can be predicted, the kernel of the last fit explains at least
// half as much as the best one, and not, as before, perhaps nothing.
func TestNarrowKernelsPredict(t *testing.T) {
	for _, version := range []Version{Eighteenth, Twentieth} {
		nothing := 0
		for seed := range uint64(8) {
			s := curved(tuningRows, 3, 1)
			rng := rand.New(rand.NewPCG(5, seed))
			for i := range s.y {
				s.y[i] = -1
				if s.x[i*s.dim]+s.x[i*s.dim+1] > 3 && rng.IntN(3) > 0 {
					s.y[i] = 1
				}
			}
			s.center()
			s.version = version
			tn := newTuner(s, Ones(s.dim), kernel.Gaussian{})
			best := tn.search(safeTuning)
			choice, variance := tn.narrow(best), tn.variance()
			if best.error > (1-leastExplained)*variance {
				continue
			}
			if choice.width > best.width {
				t.Errorf("seed %d: %+v, where %+v is best", seed, choice, best)
			}
			if variance-choice.error < maxLost*(variance-best.error) {
				nothing++
			}
		}
		if (nothing > 0) != (version == Eighteenth) {
			t.Errorf("version %d: %d kernels explain less than half of what the best ones do", version, nothing)
		}
	}
}

// TestNothingToldIsTypical: the kernel of rows that tell nothing is no narrower than is typical, and
// its penalty for classes is that of few rows.
func TestNothingToldIsTypical(t *testing.T) {
	for _, classes := range []bool{false, true} {
		s := curved(tuningRows, 3, 1)
		rng := rand.New(rand.NewPCG(5, 6))
		for i := range s.y {
			s.y[i] = rng.NormFloat64()
		}
		s.center()
		for _, s.version = range []Version{Eighteenth, Twentieth} {
			s.classes = classes
			tn := newTuner(s, Ones(s.dim), kernel.Gaussian{})
			best := tn.search(safeTuning)
			best.width = narrowest // as good as any
			choice := tn.narrow(best)
			if typical := choice.width == safeTuning.width; typical != (s.version == Twentieth) {
				t.Errorf("version %d: the width is %d", s.version, choice.width)
			}
			if weak := choice.lambda <= safeTuning.lambda; weak != (classes && s.version == Twentieth) {
				t.Errorf("version %d, classes: %v: the penalty is 10^%d", s.version, classes, choice.lambda)
			}
		}
	}
}

// TestFitOfAnyRowsIsFinite: constant columns, rows all alike, labels all alike.
func TestFitOfAnyRowsIsFinite(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for name, cell := range map[string]func(i, j int) float64{
		"constant":   func(_, _ int) float64 { return 3 },
		"two values": func(i, _ int) float64 { return float64(i % 2) },
		"outliers":   func(i, _ int) float64 { return math.Pow(10, float64(i%300)) },
		"duplicated": func(i, j int) float64 { return float64((i/100)*(j+1)) + 0.5 },
		"heavy":      func(_, _ int) float64 { return 1 / rng.NormFloat64() },
	} {
		for _, task := range []target.Task{target.Classification, target.Regression} {
			const n, dim = 512, 3
			var x []float64
			labels := make([]target.Label, n)
			for i := range n {
				for j := range dim {
					x = append(x, cell(i, j))
				}
				labels[i] = target.Label{Task: task, Class: i / 7 % 3, Value: cell(i, 0)}
				if task == target.Regression {
					labels[i].Class = 0
				}
			}
			f := NewFit(x, labels, dim, Request{Task: task, Kernel: kernel.Gaussian{}})
			scale := f.Kernel.(kernel.Gaussian).Scale
			if !(f.Lambda > 0 && f.Lambda <= 1 && scale > 0 && scale < 1e6 && f.TopEigenvalue > 0) {
				t.Errorf("%s, %v: penalty %v, kernel %v, eigenvalue %v", name, task, f.Lambda, f.Kernel, f.TopEigenvalue)
			}
			for _, a := range f.Scaler.ColumnWeights {
				if !(a > 0 && a < 1e3) {
					t.Errorf("%s, %v: metric %v", name, task, f.Scaler.ColumnWeights)
				}
			}
		}
	}
}

// TestFewFeaturesAreComparedThemselves: of features in plenty the products are the
// kernel, and so is the error; few make a greater one.
func TestFewFeaturesAreComparedThemselves(t *testing.T) {
	s := curved(150, 2, 0.01)
	m := features.Map{Dim: s.dim, BlockSize: 16, Seed: 1}
	x := make([]float32, len(s.x))
	for i, v := range s.x {
		x[i] = float32(v)
	}
	n := s.rows()
	products := make([]float64, n*n)
	FixedFeatures{m, 200}.products(products, x, kernel.Gaussian{Scale: 1.5})
	for i := range n {
		for j := range i {
			want := kernel.Gaussian{Scale: 1.5}.Eval(s.x[i*s.dim:(i+1)*s.dim], s.x[j*s.dim:(j+1)*s.dim])
			if got := products[i*n+j]; math.Abs(got-want) > 0.08 { // five standard errors
				t.Fatalf("rows %d and %d: %v, want %v", i, j, got, want)
			}
		}
	}
	metric := Ones(s.dim)
	want := newTuner(s, metric, kernel.Gaussian{}).error(safeTuning)
	if got := newTuner(s, metric, kernel.Gaussian{}).on(FixedFeatures{m, 200}).error(safeTuning); math.Abs(got/want-1) > 0.1 {
		t.Errorf("3,200 features: error %v, of the kernel %v", got, want)
	}
	if got := newTuner(s, metric, kernel.Gaussian{}).on(FixedFeatures{m, 1}).error(safeTuning); got < 1.2*want {
		t.Errorf("16 features: error %v, of the kernel %v", got, want)
	}
}

// BenchmarkFit is the last fit of the warm-up: what a fast stream waits for.
func BenchmarkFit(b *testing.B) {
	for name, s := range map[string]sample{"dim=8": curved(1000, 8, 0.1), "dim=123": curved(1000, 123, 0.1), "dim=784": curved(1000, 784, 0.1)} {
		b.Run(name, func(b *testing.B) {
			labels := make([]target.Label, s.rows())
			for i := range labels {
				labels[i] = target.Label{Task: target.Regression, Value: s.y[i]}
			}
			for range b.N {
				NewFit(s.x, labels, s.dim, Request{Task: target.Regression, Kernel: kernel.Gaussian{}})
			}
		})
	}
}

// TestOneKernelWhereOneIsAskedFor: orthogonal frequencies have no second one.
func TestOneKernelWhereOneIsAskedFor(t *testing.T) {
	s := curved(512, 12, 1)
	labels := make([]target.Label, s.rows())
	for i, y := range s.y {
		labels[i] = target.Label{Task: target.Regression, Value: y}
	}
	a := Request{Task: target.Regression, Kernel: kernel.Gaussian{}}
	if NewFit(s.x, labels, s.dim, a).Second == nil {
		t.Fatal("no second kernel")
	}
	a.Single = true
	if NewFit(s.x, labels, s.dim, a).Second != nil {
		t.Error("two kernels where one was asked for")
	}
}
