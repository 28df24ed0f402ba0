package warmup

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// table is rows of columns, each made by a function.
func table(n int, columns ...func(rng *rand.Rand) float64) []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	var x []float64
	for range n {
		for _, c := range columns {
			x = append(x, c(rng))
		}
	}
	return x
}

func normal(mean, deviation float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return mean + deviation*rng.NormFloat64() }
}

func indicator(p, one float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 {
		if rng.Float64() < p {
			return one
		}
		return 0
	}
}

func scaled(s Scaler, x []float64) []float32 {
	dim := len(s.Scale)
	out := make([]float32, len(x))
	for i := 0; i < len(x); i += dim {
		s.Apply(out[i:i+dim], x[i:i+dim])
	}
	return out
}

func TestColumnsOfAnySizeGetMeanZeroAndDeviationOne(t *testing.T) {
	const n = 1000
	columns := []func(*rand.Rand) float64{
		normal(0, 1), normal(1e9, 100), normal(-1e-200, 1e-201), normal(0, 1e140), normal(3, 1e-5), indicator(0.3, 1),
	}
	x := table(n, columns...)
	out := scaled(NewScaler(x, len(columns)), x)
	for j := range columns {
		var sum, squares float64
		for i := range n {
			v := float64(out[i*len(columns)+j])
			sum += v
			squares += v * v
		}
		if mean, deviation := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 1e-4 || math.Abs(deviation-1) > 1e-3 {
			t.Errorf("column %d: mean %v, deviation %v", j, mean, deviation)
		}
	}
}

// TestConstantIsJudgedByTheColumnItself: beside a column of 1e9, one of 0.01 is
// not constant; seconds since 1970 that are all the same day are.
func TestConstantIsJudgedByTheColumnItself(t *testing.T) {
	x := table(500, normal(0, 0.01), normal(1e9, 1e8), normal(1.7e9, 10), func(*rand.Rand) float64 { return 0.1 })
	s := NewScaler(x, 4)
	if s.Scale[0] < 90 || s.Scale[0] > 110 {
		t.Errorf("the small column is scaled by %v, want about 100", s.Scale[0])
	}
	if s.Scale[2] != 1 || s.Scale[3] != 1 {
		t.Errorf("constant columns are scaled by %v and %v, want 1", s.Scale[2], s.Scale[3])
	}
}

func TestSparseColumnsOfOneRangeKeepTheirProportions(t *testing.T) {
	pixels := func(rng *rand.Rand) float64 {
		return math.Floor(256 * math.Max(0, rng.Float64()-0.8) * 5)
	}
	for _, test := range []struct {
		name    string
		columns []func(*rand.Rand) float64
		want    float64 // scale of column 0; 0 for standardised
	}{
		{"indicators", []func(*rand.Rand) float64{indicator(0.01, 1), indicator(0.2, 1), indicator(0.4, 1)}, 1},
		{"pixels", []func(*rand.Rand) float64{pixels, pixels, indicator(0, 1)}, 1 / 255.},
		{"indicators beside a measurement", []func(*rand.Rand) float64{indicator(0.01, 1), indicator(0.02, 1), indicator(0.1, 1), indicator(0.1, 1), normal(2000, 300)}, 0},
		{"dense indicators", []func(*rand.Rand) float64{indicator(0.5, 1), indicator(0.6, 1)}, 0},
	} {
		s := NewScaler(table(1000, test.columns...), len(test.columns))
		same := !slices.ContainsFunc(s.Scale, func(v float64) bool { return v != s.Scale[0] })
		if test.want != 0 && (!same || math.Abs(s.Scale[0]/test.want-1) > 0.01) || test.want == 0 && same {
			t.Errorf("%s: scales %v", test.name, s.Scale)
		}
	}
}

func TestScaledValuesAreRoundedOnceAndClipped(t *testing.T) {
	s := Scaler{Center: []float64{1.7e9, 0}, Scale: []float64{1e-3, 1e300}, ColumnWeights: []float64{1, 0.5}}
	got := scaled(s, []float64{1.7e9 + 1, 1e-299, 1.7e9 + 8e3, 8e-300, 1.7e9 + 8e3*math.E, -8e-300 * math.E, 1.7e9 - 8e3*math.E*math.E, 0})
	if want := []float32{1e-3, 4.446287, 8, 4, 12, -6, -16, 0}; !slices.Equal(got, want) {
		t.Errorf("scaled values %v, want %v", got, want)
	}
	for _, v := range scaled(s, []float64{math.MaxFloat64, -math.MaxFloat64}) {
		if !(math.Abs(float64(v)) < 10_000) {
			t.Errorf("the largest of all values is scaled to %v", v)
		}
	}
}

func TestNthIsTheSortedOnesNth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Map(rapid.Float64Range(-5, 5), math.Round), 1, 200).Draw(t, "x")
		n := rapid.IntRange(0, len(x)-1).Draw(t, "n")
		sorted := slices.Sorted(slices.Values(x))
		if got := Nth(x, n); got != sorted[n] {
			t.Errorf("element %d of %v is %v", n, sorted, got)
		}
	})
}

func TestMedianDistanceLeavesOutEqualRows(t *testing.T) {
	// The distances are 0 (not counted), 1, 1, 3, 4, 4.
	s := sample{dim: 1, x: []float64{0, 0, 1, 4}}
	if got := s.median(s.distances([]float64{1})); got != 9 {
		t.Errorf("median squared distance %v, want 9", got)
	}
	s = sample{dim: 2, x: []float64{2, 3, 2, 3}}
	if got := s.median(s.distances([]float64{1, 1})); got != 1 {
		t.Errorf("without distances it is %v, want 1", got)
	}
}

func TestTopEigenvalueAgreesWithGonum(t *testing.T) {
	const n, dim = 100, 3
	x := table(n*dim, normal(0, 1))
	for _, k := range []kernel.Kernel{kernel.Gaussian{Scale: 1.5}, kernel.Laplacian{Scale: 2}} {
		for _, second := range [][]float32{nil, {0.5, 1, 3}} {
			m := mat.NewSymDense(n, nil)
			for i := range n {
				for j := range n {
					a, b := x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim]
					v := k.Eval(a, b)
					if second != nil {
						var p, q [dim]float64
						for c, f := range second {
							p[c], q[c] = float64(f)*a[c], float64(f)*b[c]
						}
						v = (v + k.Eval(p[:], q[:])) / 2
					}
					m.SetSym(i, j, v/n)
				}
			}
			var e mat.EigenSym
			if !e.Factorize(m, false) {
				t.Fatal("no eigenvalues")
			}
			want := slices.Max(e.Values(nil))
			for _, v := range []Version{First, Newest} {
				got := (&Fit{Kernel: k, Second: second}).topEigenvalue(sample{version: v, dim: dim, x: x})
				if math.Abs(got/want-1) > 1e-3 {
					t.Errorf("%v, second factors %v, version %d: largest eigenvalue %v, gonum's %v", k, second, v, got, want)
				}
			}
		}
	}
}

// TestMediansOfSomeDistancesAreThoseOfAll, nearly.
func TestMediansOfSomeDistancesAreThoseOfAll(t *testing.T) {
	const n = 400
	s := sample{dim: 3, x: table(3*n, normal(0, 1))}
	d := s.distances(Ones(3))
	var all []float64
	for i := range n {
		all = append(all, d[i*n:i*n+i]...)
	}
	slices.Sort(all)
	rank := func(v float64) float64 {
		at, _ := slices.BinarySearch(all, v)
		return float64(at) / float64(len(all))
	}
	for _, s.version = range []Version{First, Newest} {
		if got := rank(s.median(d)); math.Abs(got-0.5) > 0.02 {
			t.Errorf("version %d: the median is the quantile %v", s.version, got)
		}
	}
}

func TestConfiguredKernelIsKept(t *testing.T) {
	x := table(200, normal(0, 1), normal(0, 1))
	labels := make([]target.Label, 200)
	if f := NewFit(x, labels, 2, Request{Task: target.Classification, Kernel: kernel.Gaussian{Scale: 2.5}}); f.Kernel.String() != "gaussian:2.5" {
		t.Errorf("kernel %v", f.Kernel)
	}
	// Two standard normal points are 2 apart in the root of the mean square.
	if f := NewFit(x, labels, 2, Request{Task: target.Classification, Kernel: kernel.Gaussian{}}); math.Abs(f.Kernel.(kernel.Gaussian).Scale-1.7) > 0.2 {
		t.Errorf("the median distance of normal points is %v", f.Kernel)
	}
}

// TestWildInputsLeaveTheScaleOfTheOthers, at any row and of any magnitude, and columns with long
// tails keep theirs.
func TestWildInputsLeaveTheScaleOfTheOthers(t *testing.T) {
	for _, n := range []int{8, 64, 256, 1000} {
		rng := rand.New(rand.NewPCG(uint64(n), 2))
		const dim = 4
		x := make([]float64, n*dim)
		for i := range n {
			x[i*dim], x[i*dim+1] = 1e3+rng.NormFloat64(), math.Exp(2*rng.NormFloat64())
			x[i*dim+2], x[i*dim+3] = float64(rng.IntN(2)), 7
			if i == n/3 {
				x[i*dim+3] = 8 // nothing else varies
			}
		}
		if got := WithoutOutliers(x, dim); &got[0] != &x[0] {
			t.Errorf("%d rows without outliers have some", n)
		}
		want := NewScaler(x, dim)
		for _, wild := range []float64{1e6, -1e29, math.Inf(1)} {
			changed := slices.Clone(x)
			changed[n/2*dim] = wild
			got := NewScaler(WithoutOutliers(changed, dim), dim)
			if math.Abs(got.Center[0]-want.Center[0]) > 1 || math.Abs(got.Scale[0]/want.Scale[0]-1) > 0.3 || !slices.Equal(got.Scale[1:], want.Scale[1:]) {
				t.Errorf("%d rows, one of %v: the scales are %v around %v, without it %v around %v", n, wild, got.Scale, got.Center, want.Scale, want.Center)
			}
		}
	}
}

// TestSurprisesStayNear: values of a column that is constant in the warm-up are those of its unit
// up to two of them, and a million units are a few times further away. Other columns, those that
// share a range with others, and versions before are as they were.
func TestSurprisesStayNear(t *testing.T) {
	const n, dim = 300, 3
	x, labels := table(n*dim, normal(0, 1)), make([]target.Label, n)
	for i := range n {
		x[i*dim+1] = 5
		labels[i] = target.Label{Task: target.Regression, Value: x[i*dim] - x[i*dim+2]}
	}
	fit := func(v Version) *Scaler {
		f := NewFit(x, labels, dim, Request{Version: v, Task: target.Regression, Kernel: kernel.Gaussian{}})
		return &f.Scaler
	}
	at := func(s *Scaler, v float64) float64 {
		row := make([]float32, dim)
		s.Apply(row, []float64{0, v, 0})
		return float64(row[1])
	}
	before, now := fit(Sixth), fit(Newest)
	unit := at(before, 6)
	for _, d := range []float64{0, 1e-3, 1, -1.5, 2} {
		if got, want := at(now, 5+d), unit*d; math.Abs(got-want) > 1e-6*math.Abs(unit) {
			t.Errorf("%v units from the constant is %v, want %v", d, got, want)
		}
	}
	far, further := at(now, 5+1e6), at(before, 5+1e6)
	if !(at(now, 5+1e5) < far && far < 16*unit) || further < 50*unit {
		t.Errorf("a million units are %v, and before %v, where one is %v", far, further, unit)
	}
	for _, j := range []int{0, 2} {
		if before.Scale[j] != now.Scale[j] || before.ColumnWeights[j] != now.ColumnWeights[j] {
			t.Errorf("column %d has the scale %v and the weight %v, and before %v and %v", j, now.Scale[j], now.ColumnWeights[j], before.Scale[j], before.ColumnWeights[j])
		}
	}
	sparse := make([]float64, n*dim)
	for i := range n {
		sparse[i*dim] = float64(i % 2)
	}
	a, b := NewScaler(sparse, dim), newScaler(sparse, dim, surpriseClip)
	if !slices.Equal(a.Scale, b.Scale) || !slices.Equal(a.ColumnWeights, b.ColumnWeights) {
		t.Errorf("indicators of which some are constant have the scales %v and the weights %v, and before %v and %v", b.Scale, b.ColumnWeights, a.Scale, a.ColumnWeights)
	}
}

// A model with trees has the same kernel and penalty as one without: the kernel does not see the
// random orders of a category.
func TestRandomOrdersAreHiddenFromTheKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var x []float64
	var labels []target.Label
	weights := make([]float64, 1000)
	for i := range weights {
		k, v := rng.IntN(50), rng.NormFloat64()
		x, weights[i] = append(x, float64(k), v), 1
		labels = append(labels, target.Label{Task: target.Regression, Value: math.Sin(float64(k)) + v*v})
	}
	a := Request{Version: Newest, Task: target.Regression, Kernel: kernel.Gaussian{}, Columns: []encode.Type{encode.Category, encode.Numeric}, Weights: weights}
	plain := NewFit(x, labels, 2, a)
	a.Trees = true
	with := NewFit(x, labels, 2, a)
	scale := func(f Fit) float64 { return f.Kernel.(kernel.Scaled).LengthScale() }
	if math.Abs(scale(with)/scale(plain)-1) > 1e-3 || with.Lambda != plain.Lambda {
		t.Errorf("with trees %v and the penalty %v, without %v and %v", with.Kernel, with.Lambda, plain.Kernel, plain.Lambda)
	}
	n := 0
	for j := range with.Encoding.ForTrees {
		if n++; with.Scaler.ColumnWeights[j] != hidden || with.Second != nil && with.Second[j] != 1 {
			t.Errorf("column %d has the weight %v", j, with.Scaler.ColumnWeights[j])
		}
	}
	if n == 0 || with.Encoding.Width() != plain.Encoding.Width()+n {
		t.Errorf("%d columns for trees", n)
	}
}

// Labels tell values apart that come later, and there are none in novelty.
func TestNoveltyExpectsNoLateValues(t *testing.T) {
	x, labels := make([]float64, 300), make([]target.Label, 300)
	for i := range x {
		x[i] = float64(i % 3)
	}
	for _, test := range []struct {
		version Version
		task    target.Task
		width   int
	}{{Fifteenth, target.Novelty, 4}, {Newest, target.Novelty, 4}, {Fifteenth, target.Regression, 4}, {Newest, target.Regression, 5}} {
		for i := range labels {
			labels[i] = target.Label{Task: test.task}
		}
		a := Request{Version: test.version, Task: test.task, Kernel: kernel.Gaussian{}, Columns: []encode.Type{encode.Category}, Weights: Ones(len(x))}
		if got := NewFit(x, labels, 1, a).Encoding.Width(); got != test.width {
			t.Errorf("version %d, %v: a category becomes %d columns, want %d", test.version, test.task, got, test.width)
		}
	}
}
