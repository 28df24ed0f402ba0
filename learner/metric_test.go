package learner

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/learner/metric"
)

func metricOf(t *testing.T, f metric.File) *Metric {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	m, err := metric.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// columnsOf names the columns of a metric in a test.
func columnsOf(n int) (names []string) {
	for j := range n {
		names = append(names, fmt.Sprint(j))
	}
	return names
}

// sparsely returns rows of two columns that are mostly 0 and at most 1, which a scaler
// leaves as they are, each with a key in turn.
func sparsely(rows int, keys ...string) *Batch {
	rng := rand.New(rand.NewPCG(5, 6))
	b := new(Batch)
	b.Reset(2)
	for i := range rows {
		x := []float64{1, 1}
		if i > 0 {
			x = []float64{max(0, 4*rng.Float64()-3), max(0, 4*rng.Float64()-3)}
		}
		b.Append(x, class(i > 0 && x[0] > x[1]), 1)
		if keys != nil {
			b.SetKey(keys[i%len(keys)])
		}
	}
	return b
}

func TestTheIdentityAsTheMetricChangesNoBit(t *testing.T) {
	identity := metricOf(t, metric.File{Columns: columnsOf(2), Center: metric.Numbers{0, 0}, Scale: metric.Numbers{1, 1}, Shared: metric.Numbers{1, 0, 0, 1}})
	for _, algorithm := range []string{"newton", "all"} {
		c := Config{Algorithm: algorithm, Kernel: "gaussian:1.5", BlockSize: 8, MaxFeatures: 64}
		with := c
		with.Metric = identity
		without, under := newLearner(t, c), newLearner(t, with)
		if want, got := learn(without, sparsely(1500), 100), learn(under, sparsely(1500), 100); !slices.Equal(want, got) {
			t.Errorf("%s: other predictions", algorithm)
		}
		if want, got := without.State().Resuming, under.State().Resuming; fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("%s: another state", algorithm)
		}
	}
}

// TestAMetricIsItsRootOnTheRows holds a learner under metrics against one under
// none whose rows are multiplied by roots that are plain to see.
func TestAMetricIsItsRootOnTheRows(t *testing.T) {
	identity := metricOf(t, metric.File{Columns: columnsOf(2), Center: metric.Numbers{0, 0}, Scale: metric.Numbers{1, 1}, Shared: metric.Numbers{1, 0, 0, 1}})
	m := metricOf(t, metric.File{
		Columns: columnsOf(2), Center: metric.Numbers{0.5, 0}, Scale: metric.Numbers{2, 1}, Shared: metric.Numbers{4, 0, 0, 1},
		Own: map[string]metric.Numbers{"a": {5, 0, 0, 0}, "b": {0, 0, 0, 0.25 - 1}},
	})
	rows := sparsely(700, "a", "b", "", "c")
	seen := new(Batch)
	seen.Reset(2)
	for i := range rows.Len() {
		x := rows.X(i)
		z := []float64{2 * (2 * (x[0] - 0.5)), x[1]}
		switch rows.Key(i) {
		case "a":
			z[0] = 3 * (2 * (x[0] - 0.5))
		case "b":
			z[1] = x[1] / 2
		}
		seen.Append(z, rows.Label(i), 1)
	}
	c := Config{Algorithm: "all", BlockSize: 8, MaxFeatures: 64, Metric: identity}
	plain := newLearner(t, c)
	want := learn(plain, seen, 100)
	c.Metric = m
	under := newLearner(t, c)
	if got := learn(under, rows, 100); !slices.Equal(want, got) {
		t.Error("other predictions")
	}
	served, err := NewModel(under.Serving())
	if err != nil {
		t.Fatal(err)
	}
	if !served.Keyed() || !c.Keyed() {
		t.Error("whose a row is does not seem to matter")
	}
	if want, got := plain.Predict(seen.Slice(0, 9)).Values, served.Predict(rows.Slice(0, 9)).Values; !slices.Equal(want, got) {
		t.Errorf("the model that is served predicts %v, want %v", got, want)
	}
	d, err := served.Design(rows, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range d.X {
		if v != float32(seen.x[i]) {
			t.Fatalf("number %d of the design is %v, want %v", i, v, seen.x[i])
		}
	}
}

// TestRowsHaveTheDistancesOfTheirMetric compares with (x-y)ᵀM(x-y).
func TestRowsHaveTheDistancesOfTheirMetric(t *testing.T) {
	const n = 7
	rng := rand.New(rand.NewPCG(7, 8))
	draw := func(rank int) metric.Numbers {
		a := make(metric.Numbers, n*n)
		for range rank {
			v := make([]float64, n)
			for j := range v {
				v[j] = rng.NormFloat64()
			}
			for i := range a {
				a[i] += v[i/n] * v[i%n]
			}
		}
		return a
	}
	f := metric.File{Columns: columnsOf(n), Center: make(metric.Numbers, n), Scale: make(metric.Numbers, n), Shared: draw(3), Own: map[string]metric.Numbers{"k": draw(2)}}
	for j := range f.Scale {
		f.Center[j], f.Scale[j] = rng.NormFloat64(), 0.5+rng.Float64()
	}
	m := metricOf(t, f)
	for _, key := range []string{"k", "other"} {
		b := new(Batch)
		b.Reset(n)
		for range 2 {
			x := make([]float64, n)
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			b.Append(x, Label{}, 1)
			b.SetKey(key)
		}
		z := underMetric(new(Batch), b, m, 2)
		got, want := 0.0, 0.0
		for i := range n {
			d := z.X(0)[i] - z.X(1)[i]
			got += d * d
			for j := range n {
				a := f.Shared[i*n+j]
				if key == "k" {
					a += f.Own[key][i*n+j]
				}
				want += a * (b.X(0)[i] - b.X(1)[i]) * f.Scale[i] * (b.X(0)[j] - b.X(1)[j]) * f.Scale[j]
			}
		}
		if math.Abs(got-want) > 1e-10*want {
			t.Errorf("key %s: squared distance %v, want %v", key, got, want)
		}
	}
}

// TestAStateHasItsMetric: who restores needs no more of it than its hash, and
// takes no other.
func TestAStateHasItsMetric(t *testing.T) {
	c := Config{Algorithm: "all", Kernel: "gaussian:1.5", BlockSize: 8, MaxFeatures: 64, Metric: skewed}
	rows := sparsely(700, "k", "")
	whole := newLearner(t, c)
	learn(whole, rows, 100)
	for _, at := range []int{0, 50, 400} {
		l := newLearner(t, c)
		learn(l, rows.Slice(0, at), 100)
		text, err := c.Canonical()
		if err != nil || !strings.Contains(string(text), `"metric":"sha256:`) {
			t.Fatalf("%s, %v", text, err)
		}
		var decoded Config
		if err := json.Unmarshal(text, &decoded); err != nil {
			t.Fatal(err)
		}
		r, err := restore(decoded, l.State())
		if err != nil {
			t.Fatal(err)
		}
		learn(r, rows.Slice(at, 700), 100)
		if hash(r.State()) != hash(whole.State()) {
			t.Errorf("restored at row %d, it comes to another state", at)
		}
		if _, err := New(decoded); err == nil {
			t.Error("a learner begins with the hash of a metric")
		}
		for _, other := range []*Metric{nil, metricOf(t, metric.File{Columns: columnsOf(2), Center: metric.Numbers{0, 0}, Scale: metric.Numbers{1, 1}, Shared: metric.Numbers{1, 0, 0, 1}})} {
			decoded.Metric = other
			if _, err := restore(decoded, l.State()); err == nil {
				t.Errorf("restored under the metric %v", other)
			}
		}
	}
}

func TestAMetricThatIsNoneIsRefused(t *testing.T) {
	good := `{"columns": ["a", "b"], "center": [0, 0], "scale": [1, 1], "shared": [2, 1, 1, 2], "own": {"k": [1, 0, 0, 1]}}`
	if _, err := metric.Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, new, want string }{
		{good, "a,b\n1,2\n", "JSON"},
		{good, good + good, "unexpected data"},
		{`"shared"`, `"metric"`, `unknown field "metric"`},
		{`"columns": ["a", "b"], `, "", "columns is empty or missing"},
		{`"columns": ["a", "b"]`, `"columns": ["a", "b", "c"]`, "one for each of the 3 columns"},
		{`"scale": [1, 1]`, `"scale": [1, 0]`, `scale of column "b" is 0`},
		{`"center": [0, 0]`, `"center": [0, null]`, "element 2 of 2 is null"},
		{`[2, 1, 1, 2]`, `[2, 1, 1]`, "shared matrix has 3 numbers, want 2 × 2"},
		{`[2, 1, 1, 2]`, `[2, 1, 1, NaN]`, "finite numbers"},
		{`[2, 1, 1, 2]`, `[2, 1, 1, 1e999]`, "finite numbers"},
		{`[2, 1, 1, 2]`, `[2, 1, 1.5, 2]`, "shared matrix is not symmetric: 1.5 in row 2, column 1, but 1 in the transposed"},
		{`[2, 1, 1, 2]`, `[1, 2, 2, 1]`, "shared matrix is not positive semidefinite: its smallest eigenvalue is -1"},
		{`[2, 1, 1, 2], "own": {"k": [1, 0, 0, 1]}`, `[0, 0, 0, 0]`, "all distances are 0"},
		{`[2, 1, 1, 2]`, `[1e300, 1e300, 1e300, 1e300]`, "largest eigenvalue"},
		{`[1, 0, 0, 1]`, `[1]`, `own matrix of key "k" has 1 numbers, want 2 × 2`},
		{`[1, 0, 0, 1]`, `[-4, 0, 0, 0]`, `shared + own matrix of key "k" is not positive semidefinite`},
	} {
		if _, err := metric.Parse([]byte(strings.Replace(good, test.old, test.new, 1))); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.new, err, test.want)
		}
	}
	if err := (Config{Metric: skewed}).Check([]string{"a", "c"}); err == nil || !strings.Contains(err.Error(), "the metric has 2 (a, b), the rows have 2 (a, c)") {
		t.Errorf("other columns: %v", err)
	}
	if _, err := (Config{Metric: skewed, Lags: 1}).Effective(); err == nil {
		t.Error("a metric for rows with lags is taken")
	}
}

// Variances and merged models of ridge are under the metric, too.
func TestVariancesAndMergesUnderAMetric(t *testing.T) {
	given := metricOf(t, metric.File{Columns: columnsOf(2), Center: metric.Numbers{0, 0}, Scale: metric.Numbers{1, 1}, Shared: metric.Numbers{4, 0, 0, 0.25}})
	config := Config{Algorithm: "ridge", Kernel: "gaussian:1.5", BlockSize: 8, MaxFeatures: 16, Metric: given}
	b, stretched := sparsely(1600), new(Batch)
	stretched.Reset(2)
	rows := new(Batch)
	rows.Reset(2)
	for i := range b.Len() {
		x := b.X(i)
		y := Label{Task: Regression, Value: float64(x[0] - 2*x[1])}
		rows.Append(x, y, 1)
		stretched.Append([]float64{2 * x[0], x[1] / 2}, y, 1)
	}
	under := newLearner(t, config)
	learn(under, rows.Slice(0, 1280), 100)
	base := under.State()
	identity := config
	identity.Metric = metricOf(t, metric.File{Columns: columnsOf(2), Center: metric.Numbers{0, 0}, Scale: metric.Numbers{1, 1}, Shared: metric.Numbers{1, 0, 0, 1}})
	plain := newLearner(t, identity)
	learn(plain, stretched.Slice(0, 1280), 100)
	variances := func(c Config, b *Batch) *PredictedBatch { // which exclude merging
		c.Variance = true
		l := newLearner(t, c)
		learn(l, b.Slice(0, 1280), 100)
		return l.Predict(b.Slice(0, 50))
	}
	got, want := variances(config, rows), variances(identity, stretched)
	for i := range 50 {
		if v, w := got.Uncertainty(i).Variance(0), want.Uncertainty(i).Variance(0); v != w {
			t.Errorf("row %d: variance %v, of the row stretched beforehand %v", i, v, w)
		}
	}
	l, o, from := restored(t, config, base), restored(t, config, base), restored(t, config, base)
	learn(l, rows.Slice(1280, 1440), 100)
	learn(o, rows.Slice(1440, 1600), 100)
	if err := l.Merge(o, from); err != nil {
		t.Error(err)
	}
	if err := l.Merge(plain, from); !errors.Is(err, ErrMerge) {
		t.Errorf("a model under another metric was merged: %v", err)
	}
}
