package learner

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Whatever the values, labels and weights of examples are, up to 1e30 or infinite, the state can be
// restored and the predictions are finite.
func TestNoNumberMakesAStateThatCannotBeRestored(t *testing.T) {
	odd := []float64{math.Inf(1), math.Inf(-1), math.NaN(), 1e30, -1e30}
	for _, c := range []Config{
		{}, {Mixture: true}, {Algorithm: "ridge", Lags: 2}, {Algorithm: "dsg"}, {Targets: 2, Mixture: true, Intervals: 0.9},
	} {
		c.BlockSize, c.MaxFeatures, c.Task = 8, 32, Regression
		l := newLearner(t, c)
		var b Batch
		b.Reset(3)
		for i := range 1400 {
			x := []float64{math.Sin(float64(i)), math.Cos(float64(3 * i)), float64(i % 5)}
			y := Label{Task: Regression, Value: x[0] - x[1]}
			if c.Targets == 2 {
				y.More = []float64{x[2]}
			}
			weight := 1.0
			switch k := i / 5 % len(odd); i % 5 {
			case 1:
				x[i%3] = odd[k]
			case 2:
				y.Value = odd[k]
			case 3:
				weight = odd[k]
			}
			b.Append(x, y, weight)
		}
		for at := 0; at < b.Len(); {
			p := l.Predict(b.Slice(at, b.Len()))
			for _, v := range p.Values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%+v: a prediction is %v", c, v)
				}
			}
			at += p.Len()
			l.Learn(p)
			if at%100 < p.Len() || at == b.Len() {
				r, err := restore(c, l.State())
				if err != nil {
					t.Fatalf("%+v: after %d rows: %v", c, at, err)
				}
				sameState(t, fmt.Sprintf("%+v: after %d rows", c, at), r.State(), l.State())
			}
		}
		if got := l.Progress().Examples; got >= int64(b.Len()) {
			t.Errorf("%+v: %d examples of %d rows, some without a label", c, got, b.Len())
		}
	}
}

// What is set for an example belongs to it, whatever is set for others.
func TestExamplesKeepWhatIsSetForThem(t *testing.T) {
	var b Batch
	b.Reset(1)
	for i := range 3 {
		b.Append([]float64{float64(i)}, Label{}, 1)
		if i > 0 {
			b.SetTime(-1)
			b.SetTime(float64(100 * i))
		}
	}
	if b.time(0) == b.time(0) || b.time(1) != 100 || b.time(2) != 200 || len(b.times) != 3 {
		t.Errorf("times %v", b.times)
	}
	b.SetKept(1, []float64{7})
	b.Append([]float64{3}, Label{}, 1)
	if b.keptOf(0) != nil || b.keptOf(1)[0] != 7 || b.keptOf(3) != nil {
		t.Errorf("kept %v", b.kept)
	}
	b.SetKept(3, []float64{9})

	part := b.Slice(1, 2)
	if k := part.keptOf(0); k == nil || k[0] != 7 {
		t.Errorf("the slice has kept %v", k)
	}
	part.Append([]float64{5}, Label{}, 1)
	part.SetTime(500)
	part.SetKept(1, []float64{8})
	if part.time(1) != 500 || part.keptOf(1)[0] != 8 || b.time(2) != 200 || b.keptOf(2) != nil || b.keptOf(3)[0] != 9 {
		t.Errorf("after a slice has been extended it has times %v and kept %v, the batch %v and %v", part.times, part.kept, b.times, b.kept)
	}
}

// Sparse parts that are set for a slice are not those of the batch.
func TestSlicesHaveSparsePartsOfTheirOwn(t *testing.T) {
	var b Batch
	b.Reset(0)
	row := func(column uint32) (x Sparse) {
		x.Append(column, 1)
		return x
	}
	for i := range 3 {
		b.Append(nil, Label{}, 1)
		b.SetSparse(row(uint32(i)))
	}
	part := b.Slice(0, 2)
	part.Append(nil, Label{}, 1)
	part.SetSparse(row(9))
	if got := part.Sparse(2); got.Len() != 1 || got.Columns[0] != 9 || b.Sparse(2).Columns[0] != 2 {
		t.Errorf("%v of the slice, %v of the batch", got, b.Sparse(2))
	}
}

func TestASparsePartIsSetOnce(t *testing.T) {
	var b Batch
	var x Sparse
	x.Append(3, 1)
	b.Reset(0)
	b.Append(nil, Label{}, 1)
	b.SetSparse(x)
	defer func() {
		if recover() == nil {
			t.Error("a second sparse part of an example is accepted")
		}
	}()
	b.SetSparse(x)
}

// panics calls f, and fails the test unless it panics with a text that contains want.
func panics(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "learner: ") || !strings.Contains(got, want) {
			t.Errorf("panics with %q, want a text with %q", got, want)
		}
	}()
	f()
}

func TestNothingIsSetBeforeTheFirstExample(t *testing.T) {
	var x Sparse
	x.Append(3, 1)
	for want, set := range map[string]func(b *Batch){
		"SetKey needs":     func(b *Batch) { b.SetKey("k") },
		"SetTime needs":    func(b *Batch) { b.SetTime(1) },
		"SetSparse needs":  func(b *Batch) { b.SetSparse(x) },
		"SetWindows needs": func(b *Batch) { b.SetWindows(new(Windows)) },
		"SetKept of":       func(b *Batch) { b.SetKept(0, nil) },
	} {
		b := new(Batch)
		b.Reset(1)
		panics(t, want, func() { set(b) })
		b.Append([]float64{1}, Label{}, 1)
		set(b)
		b.Reset(1)
		panics(t, want, func() { set(b) })
	}
}

// A batch that is filled again has other rows than those that were predicted.
func TestABatchIsNotResetBeforeLearn(t *testing.T) {
	for _, again := range []int{0, 2} {
		l := newLearner(t, Config{BlockSize: 8, MaxFeatures: 16})
		var b Batch
		fill := func(n int) {
			b.Reset(1)
			for i := range n {
				b.Append([]float64{float64(i)}, Label{Task: Regression, Value: float64(i)}, 1)
			}
		}
		fill(2)
		p := l.Predict(&b)
		fill(again)
		panics(t, "Reset before Learn", func() { l.Learn(p) })
	}
}

// The first label is of the configured task.
func TestLabelsOfAnotherTaskAreNamed(t *testing.T) {
	for _, other := range []Task{Classification, Novelty} {
		l := newLearner(t, Config{Task: Regression, BlockSize: 8, MaxFeatures: 16})
		var b Batch
		b.Reset(1)
		b.Append([]float64{1}, Label{Task: other}, 1)
		p := l.Predict(&b)
		panics(t, fmt.Sprintf("the label's task is %v, the model's is regression", other), func() { l.Learn(p) })
	}
}

// A number without a task is no task, neither of a model nor of its first label.
func TestATaskThatDoesNotExistIsNoLabel(t *testing.T) {
	for _, other := range []Task{-1, Novelty + 1} {
		if other.String() != "invalid" {
			t.Errorf("task %d is named %v", int(other), other)
		}
		l := newLearner(t, Config{BlockSize: 8, MaxFeatures: 16})
		var b Batch
		b.Reset(1)
		b.Append([]float64{1}, Label{Task: other}, 1)
		p := l.Predict(&b)
		panics(t, "the label's task is invalid", func() { l.Learn(p) })
	}
}

// Predict may return fewer rows than the Batch has. Who reads more of them does not get what is left
// in memory from earlier rows.
func TestThereAreNoRowsBeyondTheLast(t *testing.T) {
	beyond := func(what string, row func(i int) []float64, n int) {
		t.Helper()
		row(n - 1)
		defer func() {
			t.Helper()
			if recover() == nil {
				t.Errorf("%s has a row after the last of %d", what, n)
			}
		}()
		row(n)
	}
	l := newLearner(t, Config{BlockSize: 8, MaxFeatures: 16})
	learn(l, waves(100), 100)
	var b Batch
	unlabelled := func(n int) *Batch {
		b.Reset(2)
		for range n {
			b.Append([]float64{1, 2}, Label{}, 1)
		}
		return &b
	}
	l.Predict(unlabelled(9))
	p := l.Predict(unlabelled(2))
	beyond("a PredictedBatch", p.Row, p.Len())
	beyond("a Batch", b.X, b.Len())
}

// A batch that was not Reset says so, where it is filled and where it is predicted.
func TestABatchThatWasNotResetSaysSo(t *testing.T) {
	panics(t, "call Reset with the number of inputs", func() { new(Batch).Append([]float64{1}, Label{}, 1) })
	l, err := New(Config{Task: Classification})
	if err != nil {
		t.Fatal(err)
	}
	panics(t, "call its Reset with the number of inputs, and Append", func() { l.Predict(new(Batch)) })
}
