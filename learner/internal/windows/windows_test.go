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
	"github.com/accrete-ml/accrete/test/oracle/keyed"
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

// slow returns the definition of the features of g.
func slow(g *Group) *keyed.Table {
	of := keyed.Group{HalfLives: g.HalfLives, Lateness: g.Lateness, MaxKeys: g.MaxKeys}
	for _, f := range g.Features {
		of.Features = append(of.Features, f.String())
	}
	return keyed.New(of)
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
	l := layout(250) // fewer than there are
	w := New(l)
	tables := []*keyed.Table{slow(&l.Groups[0]), slow(&l.Groups[1])}
	compared, evicted := 0, int64(0) // before the last load
	for n, x := range stream(*events, 7) {
		if n%(*events/5) == 17 {
			evicted += w.Counts().Evicted
			w = reload(t, w)
		}
		w.Observe(x)
		for i := range l.Groups {
			g := &l.Groups[i]
			key, r := x[g.Key], keyed.Row{At: x[g.Time], Value: math.NaN(), Other: math.NaN()}
			if g.Of >= 0 {
				r.Value, r.Other = x[g.Of], x[g.Distinct]
			}
			for k, want := range tables[i].Add(key, r) {
				got, tolerance := x[g.To[k]], 1e-9*max(1, math.Abs(want))
				if i == 0 && k%5 == 3 && k < 10 { // a deviation is the root of a difference
					tolerance = 1e-7 * max(1, tables[i].Most(key))
				}
				if compared++; missing(want) != missing(got) || math.Abs(got-want) > tolerance {
					t.Fatalf("row %d, group %d, feature %d of %v: %v, want %v", n, i, k, g.Features, got, want)
				}
			}
		}
	}
	c := w.Counts()
	if compared < 5**events || c.Late == 0 || c.Stale == 0 || c.Dropped == 0 || c.NoKey == 0 || c.Evicted == 0 || evicted+c.Evicted != int64(tables[0].Evicted+tables[1].Evicted) {
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
