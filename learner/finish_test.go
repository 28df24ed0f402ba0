package learner

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestFinishLearnsEveryRow: each row of an incomplete mini-batch changes what is served after
// Finish, and not before; and the State goes on as if there had been none.
func TestFinishLearnsEveryRow(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		o := s.learnedOnce(t)
		from := o.passes[slices.IndexFunc(o.passes, func(p pass) bool { return p.at > 1400 })]
		rows := labelledRows(o.rows.Slice(from.at, o.rows.Len())).Slice(0, 3)
		before, after := s.finished(t, from.state, rows)
		if before.Pending() == 0 || after.Pending() != 0 {
			t.Fatalf("%d rows wait before Finish and %d after it, want some and none", before.Pending(), after.Pending())
		}
		sameState(t, "restored after Finish", restored(t, s.config, after).State(), before)
		sameState(t, "finished after a restore", restored(t, s.config, before).Finish(), after)
		predictsNumbers(t, after, o.rows)
		for i := range rows.Len() {
			var changed Batch
			changed.Reset(s.dim)
			for j := range rows.Len() {
				x := slices.Clone(rows.X(j))
				if i == j {
					x[0] += 3
				}
				changed.Append(x, rows.Label(j), rows.Weight(j))
			}
			waits, learned := s.finished(t, from.state, &changed)
			if !sameArrays(waits.Serving, before.Serving) {
				t.Errorf("row %d changes what is served before Finish", i)
			}
			if sameArrays(learned.Serving, after.Serving) {
				t.Errorf("row %d does not change what is served after Finish", i)
			}
		}
	})
}

// finished returns the States after rows that follow a State, before and after Finish.
func (s stream) finished(t *testing.T, from State, rows *Batch) (before, after State) {
	l := restored(t, s.config, from)
	learn(l, rows, rows.Len())
	return l.State(), l.Finish()
}

func sameArrays(a, b []Array) bool { return slices.EqualFunc(a, b, sameArray) }

// predictsNumbers checks that a State is that of a model with finite predictions.
func predictsNumbers(t *testing.T, s State, rows *Batch) {
	t.Helper()
	m, err := NewModel(s.Serving)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range m.Predict(rows.Slice(0, 10)).Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("a prediction is %v", v)
		}
	}
}

// TestFinishLearnsStatistics: a category that only a row of an incomplete mini-batch has is in
// the statistics after Finish.
func TestFinishLearnsStatistics(t *testing.T) {
	c := Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 16}
	finished := func(last uint64) (before, after State) {
		var b Batch
		b.Reset(1)
		for i := range 201 {
			k := uint64(i % 60)
			if i == 200 {
				k = last
			}
			b.Append([]float64{Category(k << 20)}, class(k%2 == 1), 1)
		}
		b.SetTypes([]ColumnType{CategoryColumn})
		l := newLearner(t, c)
		learn(l, &b, 201)
		return l.State(), l.Finish()
	}
	// Until one of them is learned, the model sees both of these categories alike.
	before, after := finished(1001)
	if otherBefore, other := finished(1003); !sameArrays(before.Serving, otherBefore.Serving) || sameArrays(after.Serving, other.Serving) {
		t.Error("the last row is in the statistics before Finish, or not after it")
	}
}

// TestFinishEndsTheWarmUp: where a file ends within the warm-up, the fit in progress takes
// effect; and from 64 rows on there is one.
func TestFinishEndsTheWarmUp(t *testing.T) {
	for _, a := range []string{"newton", "ridge", "dsg"} {
		c := Config{Algorithm: a, BlockSize: 8, MaxFeatures: 32, Mixture: a == "newton"}
		rows := labelledRows(stream{dim: 3, label: sided, config: c}.rows(1300))
		whole := newLearner(t, c)
		learn(whole, rows, 500)
		for _, n := range []int{1, 63, 64, 79, 150, 170, 1010} {
			l := newLearner(t, c)
			learn(l, rows.Slice(0, n), n)
			before, mixed := l.fit, linear(l.State())
			s := l.Finish()
			if n == 150 && c.Mixture && sameArray(linear(s), mixed) {
				t.Error("the linear members of the mixture have not learned the last rows")
			}
			if n >= 64 && (l.fit == nil || l.engine.Features() == 0) {
				t.Errorf("%s, %d rows: the model has no features", a, n)
			}
			if fitting := n < 80 && n >= 64 || n == 170 || n > 1000; (l.fit != before) != fitting {
				t.Errorf("%s, %d rows: there is another fit: %v, want %v", a, n, l.fit != before, fitting)
			}
			predictsNumbers(t, s, rows)
			if n != 79 && n != 1010 {
				continue
			}
			r := restored(t, c, s)
			learn(r, rows.Slice(n, rows.Len()), 500)
			sameState(t, fmt.Sprintf("%s, after %d rows and Finish", a, n), r.State(), whole.State())
		}
	}
}

// Where a file ends within the warm-up with far more rows than the latest fit had, a fit of all rows
// takes effect, but not in models from before the twentieth version. One in progress takes effect in
// any model.
func TestFinishFitsAllRows(t *testing.T) {
	c := Config{Warmup: NewestWarmup, BlockSize: 8, MaxFeatures: 32, Mixture: true}
	rows := labelledRows(stream{dim: 3, label: sided, config: c}.rows(1500))
	for n, want := range map[int]bool{127: false, 128: true, 255: true, 383: false, 384: true, 599: false, 600: true, 999: true} {
		for _, c.Warmup = range []int{NewestWarmup, 19} {
			l := newLearner(t, c)
			learn(l, rows.Slice(0, n), n)
			before, state := l.fit, l.State()
			s := l.Finish()
			if fits := l.fit != before; fits != (want && c.Warmup == NewestWarmup) {
				t.Errorf("version %d, %d rows: there is another fit: %v", c.Warmup, n, fits)
			}
			sameState(t, "finished after a restore", restored(t, c, state).Finish(), s)
			predictsNumbers(t, s, rows)
		}
	}
	for _, n := range []int{64, 300, 450, 1100, 1249} { // fits are in progress
		l := newLearner(t, c)
		learn(l, rows.Slice(0, n), n)
		before := l.fit
		if l.Finish(); l.fit == before {
			t.Errorf("%d rows: the fit in progress takes no effect", n)
		}
	}
}

// A file whose first rows are all of one class has no fit at the first checkpoint, and with little
// effort none before row 256.
func TestFinishFitsWhatNoCheckpointCould(t *testing.T) {
	second := func(i int, _ []float64) Label { return class(i >= 100) }
	for _, c := range []Config{{Effort: 16}, {Warmup: NewestWarmup}, {Warmup: NewestWarmup, Effort: 16}} {
		c.BlockSize, c.MaxFeatures = 8, 32
		for _, n := range []int{120, 200} {
			l := newLearner(t, c)
			learn(l, labelledRows(stream{dim: 3, label: second, config: c}.rows(n)), n)
			if l.fit != nil {
				t.Fatal("there was a fit before the end")
			}
			if l.Finish(); l.fit == nil || l.engine.Features() == 0 {
				t.Errorf("version %d, %d rows: the model has no features", c.Warmup, n)
			}
		}
	}
}

// linear returns the array of a State with the linear members of its mixture.
func linear(s State) Array {
	if i := slices.IndexFunc(s.Serving, func(a Array) bool { return a.Name == "mixture.linear" }); i >= 0 {
		return s.Serving[i]
	}
	return Array{}
}

// TestFinishOnceAndForAll: a second Finish returns what is served, and rows are refused.
func TestFinishOnceAndForAll(t *testing.T) {
	c := Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 16}
	rows := labelledRows(stream{dim: 3, label: sided}.rows(200))
	l := newLearner(t, c)
	learn(l, rows.Slice(0, 170), 170)
	first := l.Finish()
	if !sameArrays(l.Finish().Serving, first.Serving) {
		t.Error("a second Finish changes what is served")
	}
	defer func() {
		if recover() == nil {
			t.Error("Learn after Finish does not panic")
		}
	}()
	learn(l, rows.Slice(170, 171), 1)
}

// TestFinishedStateThatIsDamagedIsRefused: a State may come from anywhere.
func TestFinishedStateThatIsDamagedIsRefused(t *testing.T) {
	c := Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 16}
	l := newLearner(t, c)
	learn(l, labelledRows(stream{dim: 3, label: sided}.rows(200)), 200)
	s := l.Finish()
	if !strings.HasPrefix(s.Resuming[0].Name, openPrefix) {
		t.Fatal("no row waited")
	}
	for what, change := range map[string]func(a []Array) []Array{
		"an array is missing": func(a []Array) []Array { return slices.Delete(a, 2, 3) },
		"a name is missing": func(a []Array) []Array {
			a[0].Data = a[0].Data.([]byte)[6:]
			return a
		},
		"no names": func(a []Array) []Array { a[0].Data = []byte{}; return a },
		"numbers":  func(a []Array) []Array { a[0].Data = []int64{1}; return a },
		"nothing":  func(a []Array) []Array { return a[:1] },
		"too many": func(a []Array) []Array { a[0].Data = []byte(strings.Repeat("a\n", 1000)); return a },
	} {
		if _, err := Restore(c, State{s.Serving, change(slices.Clone(s.Resuming))}); err == nil {
			t.Errorf("%s: restored", what)
		}
	}
}
