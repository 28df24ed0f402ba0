package windows

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

var events = flag.Int("events", 30_000, "rows of TestFeaturesAreThoseOfSlowSums")

// The columns of the rows of the tests.
const (
	keyColumn = iota
	timeColumn
	valueColumn
	otherColumn
	inputs
)

// layout has all features with half-lives of an hour and a day, and the count of another
// column as key.
func layout(maxKeys int) *Layout {
	all := []Feature{Count, Sum, Mean, Deviation, Distinct, Since}
	g := Group{Key: keyColumn, Time: timeColumn, Of: valueColumn, Distinct: otherColumn, HalfLives: []float64{3600, 86400}, Features: all, Lateness: 20000, MaxKeys: maxKeys}
	for i := range 2*5 + 1 {
		g.To = append(g.To, inputs+i)
	}
	second := Group{Key: otherColumn, Time: timeColumn, Of: -1, Distinct: -1, HalfLives: []float64{600}, Features: []Feature{Count}, To: []int{inputs + 11}, MaxKeys: maxKeys}
	return &Layout{Groups: []Group{g, second}}
}

const width = inputs + 12

// stream returns rows in about the order of their times, of which some are late, very late,
// far ahead, or lack something.
func stream(n int, seed uint64) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]float64, n)
	now := 1.7e9
	for i := range rows {
		now += r.ExpFloat64() * 40
		x := make([]float64, width)
		x[keyColumn], x[timeColumn] = float64(r.IntN(1+n/100)), math.Floor(now*1000)/1000
		x[valueColumn], x[otherColumn] = math.Exp(3*r.NormFloat64()), float64(r.IntN(60))
		switch r.IntN(40) {
		case 0:
			x[timeColumn] -= 3600 * r.ExpFloat64()
		case 1:
			x[timeColumn] -= 1e6
		case 2:
			x[timeColumn] += 2.3e9
		case 3:
			x[valueColumn] = math.NaN()
		case 4:
			x[otherColumn] = math.NaN()
		case 5:
			x[keyColumn] = math.NaN()
		case 6:
			x[timeColumn] = math.NaN()
		case 7:
			x[valueColumn] *= -10
		}
		rows[i] = x
	}
	return rows
}

// slow is the definition of the features: it keeps all rows of a key.
type slow struct {
	rows  []observed // that were added
	most  float64    // largest value so far
	held  *observed
	stale int
}

func (s *slow) newest() float64 {
	at := math.Inf(-1)
	for _, o := range s.rows {
		at = max(at, o.at)
	}
	return at
}

// features returns those of a row, and adds it.
func (s *slow) features(g *Group, o observed) (out []float64) {
	ahead := max(g.Lateness, slices.Max(g.HalfLives))
	if s.held != nil {
		if o.at >= s.held.at-ahead {
			s.rows = append(s.rows, *s.held)
		}
		s.held = nil
	}
	if !missing(o.value) {
		s.most = max(s.most, math.Abs(o.value))
	}
	newest := s.newest()
	now := max(o.at, newest)
	valued := math.Inf(-1)
	for _, r := range s.rows {
		if !missing(r.value) {
			valued = max(valued, r.at)
		}
	}
	for _, h := range g.HalfLives {
		var count, weight, sum, total float64
		last := map[float64]float64{}
		for _, r := range s.rows {
			w := math.Exp2((r.at - now) / h)
			count += w
			if !missing(r.value) {
				sum += w * r.value
				w = math.Exp2((r.at - valued) / h) // or all of them could underflow
				weight += w
				total += w * r.value
			}
			if !missing(r.other) {
				last[r.other] = max(last[r.other], r.at)
			}
		}
		mean := total / weight
		variance, distinct := 0.0, 0.0
		if weight == 0 {
			variance = math.NaN()
		}
		for _, r := range s.rows {
			if !missing(r.value) {
				variance += math.Exp2((r.at-valued)/h) / weight * (r.value - mean) * (r.value - mean)
			}
		}
		times := []float64{}
		for _, at := range last {
			times = append(times, at)
		}
		slices.Sort(times)
		for _, at := range times[max(0, len(times)-setSize):] {
			distinct += math.Exp2((at - now) / h)
		}
		for _, f := range g.Features {
			if f != Since {
				out = append(out, map[Feature]float64{Count: count, Sum: sum, Mean: mean, Deviation: math.Sqrt(variance), Distinct: distinct}[f])
			}
		}
	}
	if g.has(Since) {
		out = append(out, math.Log1p(now-newest))
		if len(s.rows) == 0 {
			out[len(out)-1] = math.NaN()
		}
	}
	switch {
	case len(s.rows) == 0 || o.at > newest+ahead:
		s.held, s.stale = &o, 0
	case o.at < newest-g.Lateness:
		if s.stale++; s.stale == staleRows {
			*s = slow{held: &o, most: s.most}
		}
	default:
		s.rows, s.stale = append(s.rows, o), 0
	}
	// What no longer weighs anything is left out, so that this is not too slow.
	if len(s.rows) > 400 {
		newest := s.newest()
		s.rows = slices.DeleteFunc(s.rows, func(r observed) bool { return r.at < newest-60*g.HalfLives[len(g.HalfLives)-1] })
	}
	return out
}

func save(w *Windows) []byte {
	var a state.Arrays
	w.Save(&a)
	var b bytes.Buffer
	for _, array := range a {
		b.WriteString(array.Name)
		binary.Write(&b, binary.LittleEndian, array.Data)
	}
	return b.Bytes()
}

func reload(t *testing.T, w *Windows) *Windows {
	var a state.Arrays
	w.Save(&a)
	s := &state.Reader{In: a}
	back := Load(s, width)
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	return back
}

// The features are the sums over all earlier rows of the key, whatever the order of times,
// and also where the windows are saved and loaded in between.
func TestFeaturesAreThoseOfSlowSums(t *testing.T) {
	l := layout(MaxKeys)
	w := New(l)
	keys := []map[float64]*slow{{}, {}}
	compared := 0
	for n, x := range stream(*events, 7) {
		if n%(*events/5) == 17 {
			w = reload(t, w)
		}
		w.Observe(x)
		for i := range l.Groups {
			g := &l.Groups[i]
			key := x[g.Key]
			if missing(key) || missing(x[g.Time]) {
				for _, to := range g.To {
					if !missing(x[to]) {
						t.Fatalf("row %d has no key or time, and feature %v", n, x[to])
					}
				}
				continue
			}
			if keys[i][key] == nil {
				keys[i][key] = new(slow)
			}
			o := observed{at: x[g.Time], value: math.NaN(), other: math.NaN()}
			if g.Of >= 0 {
				o.value, o.other = x[g.Of], x[g.Distinct]
			}
			all := keys[i][key].features(g, o)
			for k, want := range all {
				got, tolerance := x[g.To[k]], 1e-9*max(1, math.Abs(want))
				if i == 0 && k%5 == 3 && k < 10 { // a deviation is the root of a difference
					tolerance = 1e-7 * max(1, keys[i][key].most)
				}
				if compared++; missing(want) != missing(got) || math.Abs(got-want) > tolerance {
					t.Fatalf("row %d, group %d, feature %d of %v: %v, want %v", n, i, k, g.Features, got, want)
				}
			}
		}
	}
	c := w.Counts()
	if compared < 5**events || c.Late == 0 || c.Stale == 0 || c.Dropped == 0 || c.NoKey == 0 {
		t.Errorf("compared %d features, counts %+v", compared, c)
	}
}

// Looking at a row gives it the features that adding it would, and changes nothing.
func TestLookingDoesNotAdd(t *testing.T) {
	w := New(layout(50)) // fewer than there are
	for n, x := range stream(5000, 3) {
		before := []byte(nil)
		if n%100 == 0 {
			before = save(w)
		}
		seen := slices.Clone(x)
		w.Look(seen)
		if before != nil && !bytes.Equal(save(w), before) {
			t.Fatalf("row %d: looking changes the windows", n)
		}
		w.Observe(x)
		for i := range x {
			if math.Float64bits(x[i]) != math.Float64bits(seen[i]) {
				t.Fatalf("row %d: column %d is %v, and looking gave %v", n, i, x[i], seen[i])
			}
		}
	}
}

// What is loaded goes on with the same bits.
func TestLoadGoesOnExactly(t *testing.T) {
	a, b := New(layout(100)), New(layout(100))
	for n, x := range stream(20000, 5) {
		y := slices.Clone(x)
		a.Observe(x)
		b.Observe(y)
		if n%1000 == 999 {
			if b = reload(t, b); !bytes.Equal(save(a), save(b)) {
				t.Fatalf("after row %d the windows differ", n)
			}
		}
	}
}

// One row with a wrong time changes nothing for the rows of its key that follow, but that
// it may have been counted itself.
func TestOneWrongTimeDoesNoHarm(t *testing.T) {
	for _, wrong := range []float64{4.07e9, 0, -1e9, maxTime, 1e300, math.Inf(-1)} {
		for at := range 6 {
			right, with := New(layout(10)), New(layout(10))
			for n := range 6 {
				x := make([]float64, width)
				x[keyColumn], x[timeColumn], x[valueColumn] = 1, 1.7e9+100*float64(n), float64(n)
				y := slices.Clone(x)
				if n == at {
					z := slices.Clone(x)
					z[timeColumn] = wrong
					with.Observe(z)
				}
				right.Observe(x)
				with.Observe(y)
				for i := range x {
					if math.Float64bits(x[i]) != math.Float64bits(y[i]) && (wrong > 1.7e9 || at > 1) {
						t.Fatalf("a time of %v before row %d: column %d of row %d is %v, without it %v", wrong, at, i, n, y[i], x[i])
					}
				}
			}
		}
	}
}

// A key whose time is ahead for good begins again.
func TestAKeyRecovers(t *testing.T) {
	w := New(layout(10))
	x := make([]float64, width)
	for n := range 20 {
		x[keyColumn], x[timeColumn], x[valueColumn] = 1, 1.7e9+1000*float64(n), 5
		if n < 3 {
			x[timeColumn] = 4.07e9
		}
		w.Observe(x)
	}
	if count := x[inputs]; !(count > 3) || w.Counts().Stale != 2*staleRows {
		t.Errorf("count %v, %+v", count, w.Counts())
	}
}

// There are never more keys than allowed, and those that were not seen for the longest time
// go first, whatever times they claim.
func TestKeysAreBounded(t *testing.T) {
	w := New(layout(100))
	x := make([]float64, width)
	for n := range 1000 {
		x[keyColumn], x[timeColumn] = float64(n), 4.07e9-float64(n)
		w.Observe(x)
		x[keyColumn], x[timeColumn] = 0, 1.7e9+float64(n)
		w.Observe(x)
	}
	if n := len(w.tables[0].slots); n != 100 || w.Counts().Evicted != 900 {
		t.Errorf("%d keys, %d evicted", n, w.Counts().Evicted)
	}
	if count := x[inputs]; !(count > 500) {
		t.Errorf("the key that was seen all the time has a count of %v", count)
	}
	now, most := w.Bytes()
	if now > most {
		t.Errorf("%d bytes, at most %d", now, most)
	}
}

// A state from anywhere is loaded or refused, and never panics.
func TestDamagedWindowsAreRefused(t *testing.T) {
	w := New(layout(100))
	for _, x := range stream(300, 9) {
		w.Observe(x)
	}
	r := rand.New(rand.NewPCG(1, 1))
	refused := 0
	for range 3000 {
		var a state.Arrays
		w.Save(&a)
		switch v := a[r.IntN(len(a))].Data.(type) {
		case []byte:
			v[r.IntN(len(v))] = byte(r.IntN(256))
		case []int64:
			v[r.IntN(len(v))] = []int64{-1, 0, 1, math.MaxInt64, math.MinInt64, 0x7ff8 << 48}[r.IntN(6)]
		case []float64:
			v[r.IntN(len(v))] = []float64{-1, 0, 0.5, math.Inf(1), math.NaN(), 1e300}[r.IntN(6)]
		}
		s := &state.Reader{In: a}
		back := Load(s, width)
		if s.End() != nil {
			refused++
			continue
		}
		for _, x := range stream(50, 10) {
			back.Observe(x)
			for _, v := range x {
				if math.IsInf(v, 0) {
					t.Fatalf("a feature is %v", v)
				}
			}
		}
	}
	if refused < 500 {
		t.Errorf("%d of 3000 refused", refused)
	}
}

func TestKnownKeysAllocateNothing(t *testing.T) {
	w, rows := New(layout(1000)), stream(2000, 1)
	for _, x := range rows {
		w.Observe(x)
	}
	n := 0
	if got := testing.AllocsPerRun(1000, func() {
		w.Observe(rows[n])
		n++
	}); got != 0 {
		t.Errorf("%v allocations a row", got)
	}
}

// BenchmarkObserve reports the time for a row, and for each of its features.
func BenchmarkObserve(b *testing.B) {
	l := layout(100_000)
	w, rows := New(l), stream(1_000_000, 1)
	for _, x := range rows {
		w.Observe(x)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		w.Observe(rows[n])
		if n++; n == len(rows) {
			n = 0
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(l.Groups[0].To)+1), "ns/feature")
}
