package learner

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// Of a sum without interactions, the importances are the shares of the variance, with every
// part that a model has; a column that it does not use has none.
func TestImportancesAreSharesOfTheVariance(t *testing.T) {
	rows := new(Batch)
	rows.Reset(3)
	for i := range 900 {
		x := []float64{math.Sin(float64(i)), math.Cos(1.7 * float64(i)), math.Sin(2.3*float64(i) + 1)}
		rows.Append(x, Label{Task: Regression, Value: 3*x[0] + x[1]}, 1)
	}
	for name, c := range map[string]Config{
		"ridge":   {Algorithm: "ridge", MaxFeatures: 64},
		"forest":  {Algorithm: "newton", MaxFeatures: 64, Forest: 8},
		"mixture": {Algorithm: "newton", MaxFeatures: 64, Mixture: true},
	} {
		l := newLearner(t, c)
		learnTo(l, rows, nil)
		m, err := NewModel(l.State().Serving)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := m.Importance()
		if err != nil || len(got) != 3 {
			t.Fatalf("%s: %v, %v", name, got, err)
		}
		for j, want := range []float64{0.9, 0.1, 0} {
			if math.Abs(got[j]-want) > 0.15 {
				t.Errorf("%s: importance of column %d is %.3f, want about %.1f", name, j, got[j], want)
			}
		}
		on, err := m.ImportanceOn(rows.Slice(rows.Len()-256, rows.Len()))
		if err != nil || len(on) != 3 {
			t.Fatalf("%s: %v, %v", name, on, err)
		}
		for j, v := range on {
			if math.Abs(v-got[j]) > 0.1 {
				t.Errorf("%s: importance of column %d on the rows is %.3f, and %.3f on drawn ones", name, j, v, got[j])
			}
		}
		again, _ := m.Importance()
		for j := range got {
			if again[j] != got[j] {
				t.Errorf("%s: importances %v, and then %v", name, got, again)
			}
		}
	}
	m, err := NewModel(newLearner(t, Config{}).State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Importance(); !errors.Is(err, ErrUnexplained) {
		t.Errorf("of a model without a fit: %v", err)
	}
}

// The work does not grow with the cube of the columns: of many, each is estimated from fewer rows,
// and the effect of each is that of a change of this column alone.
func TestImportancesOfManyColumnsAreOfEachAlone(t *testing.T) {
	const columns = 300
	rows, r := new(Batch), rand.New(rand.NewPCG(1, 2))
	rows.Reset(columns)
	x := make([]float64, columns)
	for range 900 {
		for j := range x {
			x[j] = r.NormFloat64()
		}
		rows.Append(x, Label{Task: Regression, Value: x[0] * x[1]}, 1)
	}
	l := newLearner(t, Config{Algorithm: "ridge"})
	learnTo(l, rows, nil)
	m, err := NewModel(l.State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range [][3]int{{512, 64, 512}, {512, 256, 128}, {1 << 20, 1 << 15, 32}, {1 << 20, 784, 32}, {3, 1, 3}, {5, 1 << 20, 5}} {
		if got := importanceSample(of[0], of[1]); got != of[2] {
			t.Errorf("%d of %d rows of %d columns, want %d", got, of[0], of[1], of[2])
		}
	}
	if on, err := m.ImportanceOn(rows); err != nil || len(on) != columns {
		t.Fatalf("%d importances, %v", len(on), err)
	}

	checkEffects(t, m, r, columns)
}

// TestImportancesAreOfAllPartsOfAMixture: the effects are those of all of its parts.
func TestImportancesAreOfAllPartsOfAMixture(t *testing.T) {
	r, b := rand.New(rand.NewPCG(3, 4)), waves(1500)
	l := newLearner(t, Config{MaxFeatures: 64, Mixture: true, Forest: 5})
	learnTo(l, b, nil)
	m, err := NewModel(l.State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	if m.machines == nil || m.forest == nil {
		t.Fatal("the model has no machines or no trees")
	}
	for i := range m.static.Coef { // machines that count
		m.static.Coef[i] = float32(r.NormFloat64() / 10)
	}
	checkEffects(t, m, r, b.Dim())
}

// checkEffects compares the effects of columns with those of scoring whole rows, for each alone.
func checkEffects(t *testing.T, m *Model, r *rand.Rand, columns int) {
	t.Helper()
	const n = 20
	x1, x2 := make([]float32, n*columns), make([]float32, n*columns)
	for i := range x1 {
		x1[i], x2[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
	}
	f := m.scores(nil, x1, n, noSparse)
	variance, mean := 0.0, 0.0
	for _, v := range f {
		mean += v / n
	}
	for _, v := range f {
		variance += (v - mean) * (v - mean) / n
	}
	before := runtime.GOMAXPROCS(1)
	all := m.totalEffects(x1, x2, f, n)
	runtime.GOMAXPROCS(3)
	if other := m.totalEffects(x1, x2, f, n); !slices.Equal(other, all) {
		t.Errorf("the importances are %v on three cores, and %v on one", other, all)
	}
	runtime.GOMAXPROCS(before)
	for j, got := range all {
		changed, want := slices.Clone(x1), 0.0
		for i := range n {
			changed[i*columns+j] = x2[i*columns+j]
		}
		for i, v := range m.scores(nil, changed, n, noSparse) {
			want += (v - f[i]) * (v - f[i]) / (2 * n * variance)
		}
		if math.Abs(got-want) > 1e-4 {
			t.Fatalf("the importance of column %d is %v, want %v", j, got, want)
		}
	}
}

// The importance of a text is that of its first column of keys, which reads the others: these have
// none, and the columns are as many as those of the rows.
func TestImportanceOfATextIsThatOfItsFirstKey(t *testing.T) {
	rows := new(Batch)
	types := append([]ColumnType{NumericColumn}, slices.Repeat([]ColumnType{GramColumn}, TextKeys)...)
	rows.Reset(len(types))
	for i := range 600 {
		x := make([]float64, len(types))
		word := i * 7 % 12
		x[0], x[1], x[2] = math.Sin(float64(i)), Gram(uint64(word+1)<<40), Gram(uint64(50+i%5)<<40)
		rows.Append(x, Label{Task: Regression, Value: x[0] + float64(word)}, 1)
	}
	rows.SetTypes(types)
	l := newLearner(t, Config{Algorithm: "newton", MaxFeatures: 64})
	learnTo(l, rows, nil)
	m, err := NewModel(l.State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.ImportanceOn(rows)
	if err != nil || len(got) != len(types) {
		t.Fatalf("%d importances, %v", len(got), err)
	}
	if got[1] < 0.5 || slices.ContainsFunc(got[2:], func(v float64) bool { return v != 0 }) {
		t.Errorf("importances %.3f, want those of all words in column 1", got[:4])
	}
}
