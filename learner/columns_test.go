package learner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// mixed returns rows with a column of each type, with missing values, and with columns
// that have a value late or never. The label depends on the categories.
func mixed(n int, label func(i int, x []float64) Label) (rows *Batch, types []ColumnType) {
	types = []ColumnType{NumericColumn, NumericColumn, CategoryColumn, CategoryColumn, BooleanColumn, TimeColumn, encode.Decayed(50), UnknownColumn}
	types = append(types, EncodedColumns()...)
	types = append(types, TextColumn, GramColumn, GramColumn, GramColumn)
	rng := rand.New(rand.NewPCG(1, 2))
	b := new(Batch)
	b.Reset(len(types))
	key := func(v int) float64 { return Category(uint64(v+1) * 0x9e3779b97f4a7c15) }
	for i := range n {
		few, many := rng.IntN(5), int(40*rng.ExpFloat64())
		x := []float64{rng.NormFloat64(), rng.NormFloat64(), key(few), key(many), float64(rng.IntN(2)), 1.7e9 + 3600*float64(i), math.NaN(), math.NaN()}
		for range EncodedColumns() {
			x = append(x, 1e3*x[0])
		}
		x = append(x, rng.Float64(), key(many%17), key(20+few), []float64{0, key(30 + i%11)}[i%2])
		if rng.IntN(20) == 0 {
			x[1] = math.NaN()
		}
		if i > 300 {
			x[6] = key(i % 3)
		}
		y := label(i, []float64{x[0] + float64(few), float64(many % 7)})
		if rng.IntN(15) == 0 {
			x[2+rng.IntN(4)] = math.NaN()
		}
		if rng.IntN(9) == 0 {
			y = Label{}
		}
		b.Append(x, y, 0.5+rng.Float64())
		b.SetKey(fmt.Sprint(i % 3))
	}
	return b, types
}

// upTo returns rows [from, to) of b with the types that their decoder has after them: types with a
// half-life are declared.
func upTo(b *Batch, types []ColumnType, from, to int) *Batch {
	s := b.Slice(from, to)
	s.types = slices.Clone(types)
	for j := range s.types {
		known := false
		for i := 0; i < to && !known; i++ {
			known = !math.IsNaN(b.X(i)[j])
		}
		if !known && types[j].HalfLife() == 0 {
			s.types[j] = UnknownColumn
		}
	}
	return s
}

func mixedConfigs() []Config {
	var all []Config
	for _, a := range algorithms {
		all = append(all, Config{Algorithm: a.Name, BlockSize: 8, MaxFeatures: 32, Minibatch: 40, Kernel: "gaussian:3"})
	}
	return append(all,
		Config{Algorithm: "newton", BlockSize: 8, MaxFeatures: 32, Kernel: "gaussian:3", Warmup: NewestWarmup},
		Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 32, Minibatch: 40, Kernel: "gaussian:3", Lags: 2, Folds: 4},
	)
}

// Columns of all types keep the promises of numeric ones: a restored learner goes on to
// the bit, the cut of the rows does not matter, and a model predicts like its learner.
func TestColumnsKeepThePromises(t *testing.T) {
	t.Parallel()
	labels := map[string]func(int, []float64) Label{"classes": growing, "numbers": numeric}
	for i, c := range mixedConfigs() {
		for name, label := range labels {
			if name == "numbers" && i%3 > 0 && c.Lags == 0 && !*exhaustive {
				continue
			}
			t.Run(fmt.Sprint(c.Algorithm, c.Warmup, c.Lags, name), func(t *testing.T) {
				t.Parallel()
				rows, types := mixed(1500, label)
				one := newLearner(t, c)
				var want []string
				var model *Model
				for at := range rows.Len() {
					if at%127 == 7 || at > 1405 && at%20 == 0 {
						s := one.State()
						r, err := restore(c, s)
						if err != nil {
							t.Fatalf("row %d: %v", at, err)
						}
						sameState(t, "restored", r.State(), s)
						one, model = r, nil
						if c.Lags == 0 {
							if model, err = NewModel(s.Serving); err != nil {
								t.Fatal(err)
							}
						}
					}
					row := upTo(rows, types, at, at+1)
					if model != nil {
						if got, want := model.Predict(row).Values, one.Predict(row).Values; !slices.Equal(got, want) {
							t.Fatalf("row %d: the model predicts %v, and the learner %v", at, got, want)
						}
						model = nil
					}
					want = append(want, learn(one, row, 1)...)
				}
				for _, cut := range []int{700} {
					l := newLearner(t, c)
					var got []string
					for from := 0; from < rows.Len(); from += cut {
						to := min(from+cut, rows.Len())
						got = append(got, learn(l, upTo(rows, types, from, to), cut)...)
					}
					firstDifference(t, fmt.Sprintf("batches of %d", cut), got, want)
					sameState(t, fmt.Sprintf("batches of %d", cut), l.State(), one.State())
				}
			})
		}
	}
}

// A restored learner refuses the arrays of the encoding if they are not its own.
func TestRestoreRefusesADamagedEncoding(t *testing.T) {
	t.Parallel()
	rows, types := mixed(1500, growing)
	c := mixedConfigs()[0]
	l, at := newLearner(t, c), 0
	for _, n := range []int{200, 1000, 1500} {
		learn(l, upTo(rows, types, at, n), n)
		at = n
		whole := l.State()
		for _, name := range []string{"encode.columns", "encode.parameters", "encode.prior", "encode.keys", "encode.counts", "encode.decayed", "columns.types", "columns.halflives", "pending.raw"} {
			for _, d := range damages {
				if name == "pending.raw" && d.name == "with NaN" || (name == "columns.types" || name == "columns.halflives") && d.name == "missing" {
					continue // a missing value, columns that are all numeric, and statistics that do not decay
				}
				s := State{slices.Clone(whole.Serving), slices.Clone(whole.Resuming)}
				part := &s.Serving
				i := slices.IndexFunc(*part, func(a Array) bool { return a.Name == name })
				if i < 0 {
					part = &s.Resuming
					i = slices.IndexFunc(*part, func(a Array) bool { return a.Name == name })
				}
				if i < 0 || !d.do(part, i) {
					continue
				}
				r, err := restore(c, s)
				if d.refused && err == nil {
					t.Errorf("row %d, %s: %s: not refused", n, name, d.name)
				}
				if err == nil {
					for _, v := range r.Predict(upTo(rows, types, 0, 9)).Values {
						if math.IsNaN(v) {
							t.Errorf("row %d, %s: %s: a prediction is %v", n, name, d.name, v)
						}
					}
				}
			}
		}
	}
}

// The types of columns that are numeric and have no missing values leave no trace.
func TestNumericColumnsLeaveTheStateAsItIs(t *testing.T) {
	t.Parallel()
	s := streams[0]
	rows := s.rows(1400)
	plain, typed := newLearner(t, s.config), newLearner(t, s.config)
	want := learn(plain, rows, 100)
	rows.SetTypes(make([]ColumnType, rows.Dim()))
	firstDifference(t, "typed", learn(typed, rows, 100), want)
	sameState(t, "typed", typed.State(), plain.State())
	for _, a := range slices.Concat(typed.State().Serving, typed.State().Resuming) {
		if len(a.Name) > 7 && a.Name[:7] == "encode." {
			t.Errorf("array %s", a.Name)
		}
	}
}

// A value that is missing for the first time after the warm-up is at the centre of its
// column.
func TestLateMissingValueIsTheCentre(t *testing.T) {
	t.Parallel()
	s := streams[0]
	l := newLearner(t, s.config)
	learn(l, s.rows(1400), 100)
	x := slices.Repeat([]float64{math.NaN()}, s.dim)
	var b Batch
	b.Reset(s.dim)
	b.Append(x, Label{}, 1)
	b.Append(l.fit.Scaler.Center, Label{}, 1)
	p := l.Predict(&b)
	if !slices.Equal(p.Row(0), p.Row(1)) || math.IsNaN(p.Row(0)[0]) {
		t.Errorf("missing values: %v, at the centre: %v", p.Row(0), p.Row(1))
	}
}

// Many values of a category that tells the label are learned, although each is rare.
func TestStatisticsTellTheLabel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	var b Batch
	b.Reset(1)
	for range 6000 {
		k := rng.Uint64N(100)
		y := class((k*0x9e3779b97f4a7c15)>>40&1 == 1)
		b.Append([]float64{Category(k << 20)}, y, 1)
	}
	b.SetTypes([]ColumnType{CategoryColumn})
	l := newLearner(t, Config{Algorithm: "newton", BlockSize: 16, MaxFeatures: 64})
	learn(l, &b, 500)
	if s := l.Progress().Latest; s.Model.Error > 0.05 {
		t.Errorf("error %v of %v", s.Model.Error, s.Majority.Error)
	}
}

// categoryAndNumber returns rows of a category and a number, and their labels.
func categoryAndNumber(n int, row func(rng *rand.Rand) (k uint64, x, y float64)) *Batch {
	rng, b := rand.New(rand.NewPCG(5, 6)), new(Batch)
	b.Reset(2)
	for range n {
		k, x, y := row(rng)
		b.Append([]float64{Category(k << 20), x}, Label{Task: Regression, Value: y}, 1)
	}
	b.SetTypes([]ColumnType{CategoryColumn, NumericColumn})
	return b
}

// drawnOf returns a whole number below 64 that k determines.
func drawnOf(k uint64) float64 { return float64(k * 0x9e3779b97f4a7c15 >> 40 & 63) }

// The rows of a value count for more where they tell much about the next ones, from the tenth version of
// the warm-up on.
func TestStatisticsAreCredible(t *testing.T) {
	t.Parallel()
	b := categoryAndNumber(3000, func(rng *rand.Rand) (k uint64, x, y float64) {
		k, x = rng.Uint64N(200), rng.NormFloat64()
		return k, x, drawnOf(k) + math.Sin(x)
	})
	of := func(version warmup.Version) *Learner {
		l := newLearner(t, Config{BlockSize: 16, MaxFeatures: 64, Warmup: int(version)})
		learn(l, b, 500)
		return l
	}
	l := of(warmup.Tenth)
	if with, without := l.Progress().Latest.Model.Error, of(warmup.Ninth).Progress().Latest.Model.Error; !(with < 0.2*without) {
		t.Errorf("the nMSE of the last rows is %.4f, in the ninth version %.4f", with, without)
	}
	if got, want := hash(l.State()), "1317c6794545f784"; got != want {
		t.Errorf("the state's hash is %s, want %s", got, want)
	}
}

// Trees tell the values of a category apart although the mean of the labels is the same for each.
func TestTreesSplitCategoriesWithTheSameStatistics(t *testing.T) {
	t.Parallel()
	b := categoryAndNumber(4000, func(rng *rand.Rand) (k uint64, x, y float64) {
		k, y = rng.Uint64N(40), rng.NormFloat64()
		if drawnOf(k) < 32 {
			return k, y + 1, y
		}
		return k, y - 1, y
	})
	of := func(version warmup.Version) float64 {
		c := Config{BlockSize: 16, MaxFeatures: 64, Forest: 100, Warmup: int(version)}
		l := newLearner(t, c)
		learnAndRestored(t, c, l, b, 333)
		return l.Progress().Latest.Model.Error
	}
	if with, without := of(warmup.Tenth), of(warmup.Ninth); !(with < 0.6*without) {
		t.Errorf("the nMSE of the last rows is %.3f, in the ninth version %.3f", with, without)
	}
}

// Keys of n-grams differ from 0, which stands for no n-gram, and are no values that a monitor of the
// inputs could compare.
func TestGramsAreNoNumbers(t *testing.T) {
	if v := Gram(0); v != 1 {
		t.Errorf("the key of the hash 0 is %v, want 1", v)
	}
	if v := Gram(5 << 12); v != Category(5<<12) {
		t.Errorf("the key of another hash is %v, want %v", v, Category(5<<12))
	}
	if got, want := Clocks([]ColumnType{NumericColumn, TextColumn, GramColumn, TimeColumn}), []bool{false, false, true, true}; !slices.Equal(got, want) {
		t.Errorf("ignored by a monitor: %v, want %v", got, want)
	}
}
