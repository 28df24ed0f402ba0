package encode

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

type example struct {
	want   string
	typ    Type
	values func(i int) float64
}

// columns are those that plan chooses each encoder for: their type and the values of
// the first rows. Encoders with a type of their own come after the others.
var columns = append([]example{
	{"number", Numeric, func(i int) float64 { return float64(i) }},
	{"number", Boolean, func(i int) float64 { return float64(i % 2) }},
	{"imputed", Numeric, func(i int) float64 { return missingAt(i == 7, float64(i)) }},
	{"indicated", Numeric, func(i int) float64 { return missingAt(i%7 == 0, float64(i)) }},
	{"indicated", Boolean, func(i int) float64 { return missingAt(i%7 == 0, 1) }},
	{"absent", Numeric, func(int) float64 { return math.NaN() }},
	{"absent", Unknown, func(int) float64 { return math.NaN() }},
	{"one-hot", Category, func(i int) float64 { return missingAt(i%5 == 4, Key(uint64(i%5)<<40)) }},
	{"one-hot", Category, func(i int) float64 { return Key(uint64(i%maxOneHot) << 40) }},
	{"statistics", Category, func(i int) float64 { return Key(uint64(i%(maxOneHot+1)) << 40) }},
	{"statistics", Category, func(i int) float64 { return missingAt(i%9 == 0, Key(uint64(i)<<40)) }},
	{"decayed", Decayed(30), func(i int) float64 { return missingAt(i%9 == 0, Key(uint64(i%5)<<40)) }},
	{"one-hot", Pair, func(i int) float64 { return missingAt(i%5 == 4, Key(uint64(i%7)<<40)) }},
	{"statistics", Pair, func(i int) float64 { return missingAt(i%9 == 0, Key(uint64(i%40)<<40)) }},
	{"cycles", Time, func(i int) float64 { return missingAt(i%9 == 0, 1.7e9+1e4*float64(i)) }},
	{"text", Text, func(i int) float64 { return missingAt(i%9 == 0, 1/float64(i)) }},
	{"normal", Normal, func(i int) float64 { return math.Exp(float64(i % 19)) }},
	{"normal, indicated", Normal, func(i int) float64 { return missingAt(i%7 == 0, float64(i%3/2)) }},
	{"trend", Trend, func(i int) float64 { return missingAt(i%9 == 0, 1.7e9+1e4*float64(i)) }},
	{"cycles", Since, func(i int) float64 { return missingAt(i%9 == 0, 1.7e9+1e4*float64(i)) }},
	{"sourced", Source, func(i int) float64 { return missingAt(i%11 == 0, float64(i)) }},
	{"number", Window, func(i int) float64 { return float64(i) }},
	{"unseen", Text, func(i int) float64 { return missingAt(i%9 == 0, 1/float64(i)) }},
	{"grams", Gram, func(i int) float64 { return missingAt(i%9 == 0, Key(uint64(1+i%8)<<40)) }},
	{"unseen", Gram, func(i int) float64 { return missingAt(i%9 == 0, Key(uint64(i%5)<<40)) }},
	{"since", RecordKey, func(i int) float64 { return missingAt(i%11 == 0, Key(uint64(i%5)<<40)) }},
}, encoded()...)

func encoded() (all []example) {
	for _, t := range Encoded() {
		all = append(all,
			example{t.encoder().name, t, func(i int) float64 { return missingAt(i%9 == 0, math.Exp(float64(i%19))-9) }},
			example{"absent", t, func(int) float64 { return math.NaN() }},
		)
	}
	return all
}

func missingAt(missing bool, v float64) float64 {
	if missing {
		return math.NaN()
	}
	return v
}

const rows = 200

// table returns rows of all columns, their types, labels and weights.
func all(task target.Task) (x []float64, types []Type, labels []target.Label, weights []float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		for _, c := range columns {
			x = append(x, c.values(i))
		}
		y := target.Label{Task: task, Class: rng.IntN(3), Value: 1e3 * rng.NormFloat64()}
		if task == target.Regression {
			y.Class = 0
		}
		labels, weights = append(labels, y), append(weights, 0.5+rng.Float64())
	}
	for _, c := range columns {
		types = append(types, c.typ)
	}
	return x, types, labels, weights
}

func TestEveryEncoderIsPlanned(t *testing.T) {
	x, types, labels, _ := all(target.Classification)
	e := NewPlan(types, x, labels, target.Classification)
	seen := map[string]bool{}
	for j := range e.columns {
		name := e.columns[j].encoder().name
		seen[name] = true
		if name != columns[j].want {
			t.Errorf("column %d is encoded as %s, want %s", j, name, columns[j].want)
		}
	}
	e.Order()
	for j := range e.columns {
		name := e.columns[j].encoder().name
		if seen[name] = true; columns[j].want == "statistics" && name != "ordered" {
			t.Errorf("column %d is encoded as %s for trees", j, name)
		}
	}
	e = NewOpenPlan(types, x, labels, target.Classification)
	for j := range e.columns {
		name := e.columns[j].encoder().name
		seen[name] = true
		switch want := columns[j].want; {
		case want == "one-hot" && name != "open", want == "absent" && name != "awaited":
			t.Errorf("column %d is encoded as %s if there may be more values", j, name)
		}
	}
	x, labels = coding(800, target.Regression)
	seen[NewOpenPlan(make([]Type, 3), x, labels, target.Regression).columns[0].encoder().name] = true
	for _, enc := range encoders {
		if !seen[enc.name] {
			t.Errorf("no column is encoded as %s", enc.name)
		}
	}
}

// Every encoder turns any value, also one of another type, into as many finite numbers
// as it says; only numbers that are nowhere missing in the first rows stay missing.
func TestEncodedValuesAreFinite(t *testing.T) {
	for _, task := range []target.Task{target.Classification, target.Regression} {
		x, types, labels, weights := all(task)
		plan := NewPlan(types, x, labels, task)
		plan.Order()
		plan.open(types, x, labels)
		plan.setWidth()
		e := plan.Start()
		e.Rows(x, labels, weights)
		for _, v := range []float64{0, -1, 1e30, -1e30, 1e300, math.MaxFloat64, math.NaN(), math.Inf(1), maxKey, 0.5} {
			row := slices.Repeat([]float64{v}, len(types))
			for j := range e.columns {
				c := &e.columns[j]
				dst := make([]float64, c.encoder().width(c, &e.prior))
				if (len(dst) == 0) != (c.kind == asUnseen) {
					t.Fatalf("%s has %d columns", c.encoder().name, len(dst))
				}
				c.encoder().apply(c, dst, v, &e.prior)
				for _, out := range dst {
					passes := c.kind == asIs || (c.kind == asImputed || c.kind == asIndicated) && math.IsInf(v, 0)
					if !passes && (math.IsNaN(out) || math.IsInf(out, 0)) {
						t.Errorf("%s: %v is encoded as %v", c.encoder().name, v, dst)
					}
				}
			}
			e.Learn(row, &labels[0], 1)
			e.Bound()
		}
	}
}

// A row's encoding depends on the rows before it alone, and state that was saved and
// loaded goes on exactly.
func TestEncodingIsCausalAndLoadsExactly(t *testing.T) {
	for _, task := range []target.Task{target.Classification, target.Regression} {
		x, types, labels, weights := all(task)
		plan := NewPlan(types, x, labels, task)
		plan.Credit(x, labels)
		plan.Order()
		plan.open(types, x, labels)
		plan.setWidth()
		d := len(types)
		whole := plan.Start().Rows(x, labels, weights)
		const cut = 77
		half := plan.Start()
		first := half.Rows(x[:cut*d], labels[:cut], weights[:cut])
		loaded := reload(t, half, d)
		rest := loaded.Rows(x[cut*d:], labels[cut:], weights[cut:])
		if got := append(first, rest...); !same(got, whole) {
			t.Errorf("%v: rows after loading are encoded otherwise", task)
		}
	}
}

func reload(t *testing.T, e *Encoding, dim int) *Encoding {
	t.Helper()
	var a state.Arrays
	e.Save(&a)
	s := &state.Reader{In: a}
	loaded := Load(s, dim)
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	return loaded
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(v, w float64) bool { return v == w || v != v && w != w })
}

// The statistics are those of the definition, computed from all rows before, for each target with
// the weight of its prior mean.
func TestStatisticsAreTheirDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var x, weights []float64
	var labels []target.Label
	for range 500 {
		v := rng.IntN(40)
		x = append(x, float64(v))
		weights = append(weights, rng.Float64())
		labels = append(labels, target.RegressionLabel([]float64{rng.NormFloat64(), float64(v%7) + rng.NormFloat64()}))
	}
	for _, credit := range []bool{false, true} {
		plan, a := NewPlan([]Type{Category}, x, labels, target.Regression), []float64{10, 10}
		if credit {
			plan.Credit(x, labels)
			a = plan.columns[0].parameters
		}
		got := plan.Start().Rows(x, labels, weights)
		for i := range x {
			var n, total float64
			var sum, totalSum [2]float64
			for k := range i {
				total += weights[k]
				if x[k] == x[i] {
					n += weights[k]
				}
				for j := range 2 {
					y := weights[k] * labels[k].At(j)
					totalSum[j] += y
					if x[k] == x[i] {
						sum[j] += y
					}
				}
			}
			want := []float64{0, 0, math.Log((n + 1) / (total + 1))}
			for j := range 2 {
				p := 0.0
				if total > 0 {
					p = totalSum[j] / total
				}
				want[j] = (sum[j] + a[j]*p) / (n + a[j])
			}
			for k, w := range want {
				if math.Abs(got[3*i+k]-w) > 1e-12 {
					t.Fatalf("row %d, weights of the prior means %v: %v, want %v", i, a, got[3*i:3*i+3], want)
				}
			}
		}
	}
}

// A table stays within its bound, keeps the most frequent values, and does not depend
// on the order of its map or on having been saved.
func TestTableIsBounded(t *testing.T) {
	x := []float64{}
	for i := range maxOneHot + 1 {
		x = append(x, float64(i))
	}
	y := target.Label{Task: target.Classification}
	e := NewPlan([]Type{Category}, x, make([]target.Label, len(x)), target.Classification).Start()
	for i := range 3 * maxEntries {
		e.Learn([]float64{float64(i)}, &y, 1)
		if i%100 == 0 {
			e.Learn([]float64{1e6}, &y, 1)
		}
		if i%128 == 127 {
			e.Bound()
			if n := len(e.columns[0].table.keys); n > maxEntries {
				t.Fatalf("%d values after %d rows", n, i)
			}
		}
		if i == 2*maxEntries {
			e = reload(t, e, 1)
		}
	}
	e.Bound()
	if n, _ := e.columns[0].table.find(1e6); n != math.Ceil(3*maxEntries/100.) {
		t.Errorf("the most frequent value has a weight of %v", n)
	}
	if fmt.Sprint(e.Columns()[0].Values) != fmt.Sprint(len(e.columns[0].table.index)) {
		t.Error("keys and index differ")
	}
}

// The day, the week and the year are at the same place one period later.
func TestCyclesRepeat(t *testing.T) {
	e := NewPlan([]Type{Time}, []float64{0}, make([]target.Label, 1), target.Classification)
	a, b := make([]float64, e.Width()), make([]float64, e.Width())
	for i, period := range periods {
		e.Apply(a, []float64{1e9 + 1})
		e.Apply(b, []float64{1e9 + 1 + period})
		for k := 2 * i; k < 2*i+2; k++ {
			if math.Abs(a[k]-b[k]) > 1e-6 {
				t.Errorf("period %v: %v and %v", period, a, b)
			}
		}
	}
}

// Normal scores are those of the standard normal distribution at the quantiles, grow
// everywhere, and have no jump at the ends.
func TestNormalScoresFollowTheQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x := make([]float64, 1000)
	for i := range x {
		x[i] = math.Exp(2 * rng.NormFloat64())
	}
	e := NewPlan([]Type{Normal}, x, make([]target.Label, len(x)), target.Classification)
	at := func(v float64) float64 {
		dst := make([]float64, 1)
		e.Apply(dst, []float64{v})
		return dst[0]
	}
	last := math.Inf(-1)
	for z := -1.5; z <= 1.5; z += 0.25 {
		if got := at(math.Exp(2 * z)); math.Abs(got-z) > 0.15 || got <= last {
			t.Errorf("the score at %v is %v", z, got)
		} else {
			last = got
		}
	}
	knots := e.columns[0].parameters[:normalQuantiles]
	for _, end := range []float64{knots[0], knots[normalQuantiles-1]} {
		if d := at(end*(1+1e-9)) - at(end*(1-1e-9)); d <= 0 || d > 1e-6 {
			t.Errorf("the score grows by %v at %v", d, end)
		}
	}
	if far := at(1e30); far <= at(1e20) || far > 100 {
		t.Errorf("the score at 1e30 is %v", far)
	}
}

// The time since the last record of a key is that of the latest one before it.
func TestSinceIsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	const rows = 300
	var x []float64
	for i := range rows {
		x = append(x, 1e9+float64(60*i)+60*rng.NormFloat64(), float64(rng.IntN(40)))
	}
	labels, weights := make([]target.Label, rows), make([]float64, rows)
	e := NewPlan([]Type{Since, RecordKey}, x, labels, target.Classification).Start()
	w := e.Width()
	got := e.Rows(x, labels, weights)
	for i := range rows {
		latest := math.Inf(-1)
		for k := range i {
			if x[2*k+1] == x[2*i+1] {
				latest = max(latest, x[2*k])
			}
		}
		want := []float64{math.Log(1 + max(0, x[2*i]-latest)), 0}
		if math.IsInf(latest, -1) {
			want = []float64{0, 1}
		}
		for k, v := range want {
			if math.Abs(got[i*w+w-2+k]-v) > 1e-9 {
				t.Fatalf("row %d: %v, want %v", i, got[i*w+w-2:(i+1)*w], want)
			}
		}
	}
}
