package learner

import (
	"fmt"
	"math"
	"reflect"
	"testing"
)

// windowed returns n rows of a key, a time and a value, with the count, the mean and the time
// since the last row of the key in three more columns. The label is that of the key.
func windowed(n int) *Batch {
	layout := &Windows{Groups: []WindowGroup{{
		Key: 0, Time: 1, Of: 2, Distinct: -1, HalfLives: []float64{1000},
		Features: []WindowFeature{WindowCount, WindowMean, WindowSince}, To: []int{3, 4, 5}, Lateness: 1000, MaxKeys: 10,
	}}}
	types := []ColumnType{SourceColumn, SourceColumn, NumericColumn, WindowColumn, WindowColumn, WindowColumn}
	b := new(Batch)
	b.Reset(6)
	for i := range n {
		key, value := float64(i*i%29), math.Sin(float64(i*i))
		b.Append([]float64{key, 1.7e9 + 40*float64(i), value, math.NaN(), math.NaN(), math.NaN()}, Label{Task: Classification, Class: (i * i % 29) % 2}, 1)
		b.SetTypes(types)
		b.SetWindows(layout)
	}
	return b
}

// learnObserved learns b in batches of that many rows, and restores the Learner in between.
func learnObserved(t *testing.T, rows int, b *Batch) *Learner {
	l, err := New(Config{MaxFeatures: 256, Minibatch: 32})
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < b.Len(); from += rows {
		part := b.Slice(from, min(b.Len(), from+rows))
		l.Observe(part)
		for at := 0; at < part.Len(); {
			p := l.Predict(part.Slice(at, part.Len()))
			at += p.Len()
			l.Learn(p)
		}
		if l, err = Restore(l.config, l.State()); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// The state does not depend on how the rows are cut into batches, and a Model gives the
// predictions of the Learner, whether it observes rows or looks at one.
func TestWindowsDependOnTheOrderAlone(t *testing.T) {
	const n = 300
	l := learnObserved(t, 110, windowed(n))
	if other := learnObserved(t, 77, windowed(n)); !reflect.DeepEqual(fmt.Sprint(l.State()), fmt.Sprint(other.State())) {
		t.Error("the state depends on the batches")
	}
	rest := windowed(n+50).Slice(n, n+50)
	seen := windowed(n+50).Slice(n, n+50)
	alone := windowed(n+1).Slice(n, n+1)
	observing, err := NewModel(l.Serving())
	if err != nil {
		t.Fatal(err)
	}
	looking, err := NewModel(l.Serving())
	if err != nil {
		t.Fatal(err)
	}
	l.Observe(rest)
	observing.Observe(seen)
	if fmt.Sprint(rest.x) != fmt.Sprint(seen.x) {
		t.Fatal("a Model and its Learner set other statistics")
	}
	for range 2 {
		alone.x[3] = 99
		looked := looking.Predict(alone)
		if want, got := l.Predict(rest).Row(0), looked.Row(0); !reflect.DeepEqual(got, want) {
			t.Errorf("looking predicts %v, the learner %v", got, want)
		}
	}
	again, err := NewModel(looking.Serving())
	if err != nil {
		t.Fatal(err)
	}
	if want, got := looking.Predict(alone).Values, again.Predict(alone).Values; !reflect.DeepEqual(got, want) || again.Windows().Keys != 10 {
		t.Errorf("a model from its own arrays predicts %v, want %v", got, want)
	}
	if s := looking.Windows(); s.Keys != 10 || s.Bytes > s.MaxBytes {
		t.Errorf("%+v", s)
	}
}

func TestWindowsNeedObserve(t *testing.T) {
	l, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("rows were predicted without their windows")
		}
	}()
	l.Predict(windowed(3))
}
