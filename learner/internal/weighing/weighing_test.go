package weighing

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// The rows that are kept have the wanted shares of each class, and stand for all rows of
// their class, also after the classes have changed places. A second account is kept here, as
// sums over all rows of the weight that each of them has left.
func TestRowsKeptHaveTheShares(t *testing.T) {
	for _, text := range []string{"balanced", `{"a":3,"b":1,"c":1}`, `{"a":1,"b":1}`} {
		shares, err := ParseShares(text)
		if err != nil {
			t.Fatal(err)
		}
		rules := New(shares, 0, 7)
		b, rng := rules.Balance(), rand.New(rand.NewPCG(1, 0))
		names, of := []string{"a", "b", "c"}, [3]float64{1, 1, 1}
		if shares.of != nil {
			of = [3]float64{shares.of["a"], shares.of["b"], shares.of["c"]}
		}
		const rows = 240_000
		var sums, kept, standing, seen [3]float64
		forget := math.Exp(-1. / 20_000)
		for i := range rows {
			share := [3]float64{0.93, 0.06, 0.01}
			if i >= rows/2 {
				share = [3]float64{0.06, 0.93, 0.01}
			}
			class, u := 0, rng.Float64()
			for u >= share[class] && class < 2 {
				u -= share[class]
				class++
			}
			for k := range sums {
				sums[k] *= forget
			}
			sums[class]++
			least, most, own := math.Inf(1), 0.0, 0.0
			for k, n := range sums {
				if n >= 10 && of[k] > 0 {
					least, most = min(least, of[k]/n), max(most, of[k]/n)
					if k == class {
						own = of[k] / n
					}
				}
			}
			q := 1.0
			if own > 0 {
				q = max(0.01, own/most)
			}
			f := b.Row(class, names, false)
			if f.Thinned {
				if q == 1 {
					t.Fatalf("%s: row %d of class %d is thinned, of %v", text, i, class, sums)
				}
			} else if math.Abs(f.Rows*q-1) > 1e-3 || f.Relative > 1 || f.Relative*most > 1.01*max(0.01*most, least)/q {
				t.Fatalf("%s: row %d of class %d stands for %v rows, %v of the most, want for %v", text, i, class, f.Rows, f.Relative, 1/q)
			}
			if i > rows/4 && i < rows/2 || i > 3*rows/4 {
				seen[class]++
				if !f.Thinned {
					kept[class]++
					standing[class] += f.Rows
				}
			}
		}
		for k := range kept {
			if math.Abs(standing[k]/seen[k]-1) > 0.05 {
				t.Errorf("%s: the rows of class %d that were kept stand for %v rows, of %v", text, k, standing[k], seen[k])
			}
			if first := kept[0] / of[0]; of[k] > 0 && math.Abs(kept[k]/of[k]/first-1) > 0.15 {
				t.Errorf("%s: kept are %v, want shares of %v", text, kept, of)
			}
			if of[k] == 0 && kept[k] != seen[k] {
				t.Errorf("%s: %v of %v rows of a class without a share were kept", text, kept[k], seen[k])
			}
		}
		if c := b.Chances(); c.Rows != rows || c.Thinned < rows/2 {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

// No class is so rare that the others are thinned for it to less than one row in a hundred,
// and none that has vanished, so that all rows are learned again.
func TestThinningIsBounded(t *testing.T) {
	rules := New(&Shares{}, 0, 1)
	b := rules.Balance()
	for i := range 400_000 {
		f := b.Row(min(1, max(0, i%1000-998)), nil, false)
		if !f.Thinned && f.Rows > 100 {
			t.Fatalf("row %d stands for %v rows", i, f.Rows)
		}
	}
	if c := b.Chances(); c.Thinned < 375_000 || c.Least != 0.01 {
		t.Errorf("%+v", c)
	}
	for range 400_000 {
		b.Row(0, nil, false)
	}
	for i := range 1000 {
		if f := b.Row(0, nil, false); f != (Fate{Rows: 1, Relative: 1}) {
			t.Fatalf("row %d after the other class has vanished: %+v", i, f)
		}
	}
}

// What is kept depends on the seed and the rows alone, and on both.
func TestSeedDecides(t *testing.T) {
	kept := func(seed uint64) (all []bool) {
		rules := New(&Shares{}, 0, seed)
		for i := range 3000 {
			all = append(all, rules.Balance().Row(min(1, i%10), nil, i < 100).Thinned)
		}
		return all
	}
	if !reflect.DeepEqual(kept(1), kept(1)) || reflect.DeepEqual(kept(1), kept(2)) {
		t.Error("want the same rows with the same seed, and others with another one")
	}
}

// oracle does what a Clock does, from all times so far.
type oracle struct {
	halfLife float64
	now      float64
	times    []float64 // that are ahead
	lead     int       // by how many they outnumber the others
}

func (o *oracle) weight(time float64) float64 {
	if time != time {
		return 1
	}
	if time <= o.now+o.halfLife {
		o.now = max(o.now, time)
		if o.lead > 0 {
			o.lead--
		}
	} else {
		o.times = append(o.times, time)
		o.lead++
	}
	if o.lead == 8 {
		o.now, o.lead = slices.Min(o.times), 0
	}
	if o.lead == 0 {
		o.times = nil
	}
	return math.Pow(0.5, min(20, max(0, o.now-time)/o.halfLife))
}

// Weights halve with each half-life behind the latest time, and single times that are wrong
// matter only to their own rows.
func TestWeightsHalve(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for _, halfLife := range []float64{0.5, 3600, 1e9} {
		rules, o := New(nil, halfLife, 1), &oracle{halfLife: halfLife, now: math.Inf(-1)}
		at, sum, timed := 1.7e9, 0.0, 0
		for i := range 20_000 {
			at += halfLife * rng.Float64() / 100
			time := at
			switch rng.IntN(10) {
			case 0:
				time -= halfLife * rng.ExpFloat64()
			case 1:
				time = []float64{math.NaN(), 4e9 + 9*halfLife, 0, math.Inf(1), -1e300}[rng.IntN(5)]
				if math.Abs(time) > 1e13 {
					time = math.NaN()
				}
			}
			if i%5000 > 4990 {
				at += 3 * halfLife // a pause
			}
			want := o.weight(time)
			rules.Clock().See(time)
			got := rules.Clock().Weight(time)
			if math.Abs(got-want) > 1e-9 || got < 1./(1<<20) {
				t.Fatalf("half-life %v: row %d, at %v, has the weight %v, want %v", halfLife, i, time, got, want)
			}
			if time == time {
				sum, timed = sum+want, timed+1
			}
		}
		if a := rules.Clock().Ages(); a.Now != o.now || int(a.Rows) != timed || a.Rows+a.Untimed != 20_000 || math.Abs(a.Mean()-sum/float64(timed)) > 1e-9 {
			t.Errorf("half-life %v: %+v, want now %v, %d rows and %v", halfLife, a, o.now, timed, sum/float64(timed))
		}
	}
}

// A copy, and what Load reads, go on alike; impossible states are refused.
func TestRulesAreRestored(t *testing.T) {
	r := New(&Shares{}, 10, 1)
	step := func(r *Rules, i int) (Fate, float64) {
		r.Clock().See(float64(i))
		return r.Balance().Row(min(1, i%30), nil, false), r.Clock().Weight(float64(i - i%7))
	}
	for i := range 5000 {
		step(&r, i)
	}
	var a state.Arrays
	r.Save(&a)
	copied, loaded := New(&Shares{}, 10, 1), New(&Shares{}, 10, 1)
	copied.Set(&r)
	s := &state.Reader{In: a}
	if loaded.Load(s, 5000, 2); s.End() != nil {
		t.Fatal(s.End())
	}
	for i := 5000; i < 9000; i++ {
		f, w := step(&r, i)
		for what, o := range map[string]*Rules{"copied": &copied, "loaded": &loaded} {
			if g, v := step(o, i); g != f || v != w {
				t.Fatalf("%s: row %d: %v and %v, want %v and %v", what, i, g, v, f, w)
			}
		}
	}
	for k, of := range a {
		for _, bad := range []float64{-1, 1e120} {
			broken := append(state.Arrays{}, a...)
			switch data := of.Data.(type) {
			case []float64:
				data = append([]float64{}, data...)
				data[0] = bad
				broken[k].Data = data
			case []int64:
				data = append([]int64{}, data...)
				data[1] = int64(bad / 1e20 * 1e10)
				if bad < 0 {
					data[1] = -1
				}
				broken[k].Data = data
			}
			if of.Name == "age" && bad == -1 {
				continue // a time before 1970
			}
			s, o := &state.Reader{In: broken}, New(&Shares{}, 10, 1)
			if o.Load(s, 5000, 2); s.Err == nil {
				t.Errorf("%s with %v is accepted", of.Name, bad)
			}
		}
	}
}

func TestSharesAreChecked(t *testing.T) {
	for _, text := range []string{"", "half", "[]", "{}", `{"a":1}`, `{"a":1,"b":0}`, `{"a":1,"b":-1}`, `{"a":1,"b":"x"}`, `{"a":1,"b":null}`, `{"a":1,"a":2}`, `{"":1,"b":2}`, `{"a":1,"b":2} x`, `{"a":1,"b":1e300}`, `{"a":1,`} {
		if _, err := ParseShares(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
