package learner

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// words is a stream of documents: rows with a sparse part of some of 100 columns, of which
// a few say what the label is.
type words struct {
	stream
	of func(i int, score float64) Label
}

var documents = []words{
	{stream{name: "two classes", config: Config{Sparse: 10, Effort: 2, BlockSize: 8, MaxFeatures: 24}}, func(_ int, s float64) Label { return class(s > 0) }},
	{stream{name: "growing", config: Config{Sparse: 9, Effort: 2, BlockSize: 8, MaxFeatures: 24, Minibatch: 37}}, func(i int, s float64) Label {
		return Label{Task: Classification, Class: int(math.Abs(3*s)) % (1 + min(3, i/40))}
	}},
	{stream{name: "late", config: Config{Sparse: 9, Effort: 2, BlockSize: 8, MaxFeatures: 24}}, func(i int, s float64) Label { return class(i > 150 && s > 0) }},
	{stream{name: "regression", config: Config{Sparse: 11, Effort: 2, BlockSize: 8, MaxFeatures: 24}}, func(_ int, s float64) Label {
		return Label{Task: Regression, Value: 500 + float64(30*s)}
	}},
	{stream{name: "several", config: Config{Sparse: 10, Algorithm: "ridge", Targets: 2, BlockSize: 8, MaxFeatures: 8}}, func(_ int, s float64) Label {
		return Label{Task: Regression, Value: s, More: []float64{10 - s}}
	}},
	{stream{name: "more and more", config: Config{Sparse: 9, Effort: 2, BlockSize: 8, MaxFeatures: 24}}, func(i int, s float64) Label {
		return Label{Task: Classification, Class: int(math.Abs(3*s)) % (1 + min(8, i/30))}
	}},
}

func (w words) rows(n int) *Batch {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	b := new(Batch)
	b.Reset(2)
	for i := range n {
		var x Sparse
		score := 0.0
		for range rng.IntN(20) {
			u := rng.Float64()
			column := uint32(100 * u * u)
			score += float64(int(column*7%11)-5) / 5
			v := 1.0
			if column%5 == 0 {
				v = rng.Float64() * 100
			}
			x.Append(column*2654435761, v)
		}
		y := w.of(i, score)
		if i%7 == 6 {
			y = Label{}
		}
		b.Append([]float64{rng.Float64(), rng.Float64()}, y, 1+rng.Float64())
		b.SetSparse(x)
	}
	return b
}

// Restoring anywhere and batches of any size change no bit, and the model predicts what the
// learner says that a scorer does.
func TestSparseRowsKeepThePromises(t *testing.T) {
	for _, s := range documents {
		s.config.Mixture = true
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			one := s.goesOnExactly(t, s.rows(400), func(_ *Learner, at int) bool { return at%97 == 50 || at < 80 && at%9 == 0 })
			p := one.Progress()
			if accurate := s.name != "late" && s.name != "growing" && s.name != "more and more"; accurate && p.Whole.Model.Error > 0.9*p.Whole.Majority.Error {
				t.Errorf("error %v, without looking at the rows %v", p.Whole.Model.Error, p.Whole.Majority.Error)
			}
		})
	}
}

// A row without its sparse part is predicted otherwise, by learner and model: the columns
// count, in the order of none.
func TestSparseColumnsCountInAnyOrder(t *testing.T) {
	s := documents[0]
	s.config.Mixture = true
	rows := s.rows(900)
	l := newLearner(t, s.config)
	learn(l, rows, 900)
	m, err := NewModel(l.State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	with, without := m.Predict(rows).Values, new(Batch)
	without.Reset(2)
	for i := range rows.Len() {
		without.Append(rows.X(i), Label{}, 1)
	}
	moved := 0.0
	for i, v := range m.Predict(without).Values {
		moved = max(moved, math.Abs(v-with[i]))
	}
	if moved < 0.2 {
		t.Errorf("without columns the predictions move by at most %v", moved)
	}
	for i := range rows.Len() {
		x := rows.Sparse(i)
		back := Sparse{Columns: slices.Clone(x.Columns), Values: slices.Clone(x.Values)}
		slices.Reverse(back.Columns)
		slices.Reverse(back.Values)
		without.Reset(2)
		without.Append(rows.X(i), Label{}, 1)
		without.SetSparse(back)
		if p := m.Predict(without).Values[0]; math.Abs(p-with[2*i]) > 1e-6 {
			t.Fatalf("row %d: %v, in reverse %v", i, with[2*i], p)
		}
	}
}

// Values of any size are learned and predicted with finite numbers.
func TestSparseValuesOfAnySizeGiveFiniteNumbers(t *testing.T) {
	s := documents[3]
	s.config.Mixture = true
	rows := s.rows(300)
	b := new(Batch)
	b.Reset(2)
	for i := range rows.Len() {
		var x Sparse
		for j, v := range []float64{math.Inf(1), math.NaN(), -1e300, 1e-300, 1e-19 * float64(i), 1e19 * float64(i%3), 0, math.Pow(10, float64(i%60-30))} {
			x.Append(uint32(j*977), v)
		}
		weight := 1e9
		if i < 40 {
			weight = 1e-170 // whose square is 0
		}
		b.Append(rows.X(i), rows.Label(i), weight)
		b.SetSparse(x)
	}
	l := newLearner(t, s.config)
	learn(l, b, 300)
	r := restored(t, s.config, l.State())
	m, err := NewModel(r.State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range append(m.Predict(b).Values, r.Predict(b).Values...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("a prediction is %v", v)
		}
	}
}

func TestSparseValuesThatAreNoneAreRefused(t *testing.T) {
	b := new(Batch)
	b.Reset(1)
	b.Append([]float64{1}, Label{}, 1)
	for _, v := range []float32{0, float32(math.NaN()), float32(math.Inf(-1))} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v is accepted", v)
				}
			}()
			b.SetSparse(Sparse{Columns: []uint32{1}, Values: []float32{v}})
		}()
	}
}

func TestSparseIsRefusedWhereItCannotBe(t *testing.T) {
	for _, c := range []Config{
		{Sparse: 18}, {Sparse: 7, Mixture: true}, {Sparse: 25, Mixture: true}, {Sparse: 18, Mixture: true, Lags: 1}, {Sparse: 18, Mixture: true, Metric: skewed},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	s := documents[0]
	s.config.Mixture = true
	l := newLearner(t, s.config)
	learn(l, s.rows(200), 200)
	other := s.config
	other.Sparse++
	if _, err := Restore(other, l.State()); err == nil {
		t.Error("a state of other bits is accepted")
	}
	m, err := NewModel(l.State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Explain(s.rows(1)); err == nil {
		t.Error("sparse columns are explained")
	}
}

// TestSparseBitsAreForever pins the states that some rows lead to.
func TestSparseBitsAreForever(t *testing.T) {
	for i, want := range []string{"637b5017acd35824", "7faf4724fc8650e3"} {
		s := documents[3*i]
		s.config.Mixture = true
		l := newLearner(t, s.config)
		learn(l, s.rows(300), 300)
		if got := hash(l.State()); got != want {
			t.Errorf("%s: the state's hash is %s, want %s", s.name, got, want)
		}
	}
}

// What excludes sparse inputs is named, also where a mixture is excluded as well.
func TestSparseInputsNameWhatExcludesThem(t *testing.T) {
	for _, test := range []struct {
		config Config
		want   string
	}{
		{Config{Sparse: 18, Lags: 1}, "lags"},
		{Config{Sparse: 18, Task: Novelty}, "task novelty"},
		{Config{Sparse: 18, Task: Classification, Algorithm: "ridge"}, "not predict"},
		{Config{Sparse: 18, Task: Classification, Loss: "hinge"}, "not for hinge"},
		{Config{Sparse: 18}, "switch the mixture on"},
	} {
		if _, err := New(test.config); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.config, err, test.want)
		}
	}
}
