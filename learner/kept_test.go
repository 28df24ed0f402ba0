package learner

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

// keptStreams are those of every kind of prediction that can be kept.
var keptStreams = []stream{
	{"classes", Config{Algorithm: "newton", BlockSize: 8, MaxFeatures: 24}, 2, growing},
	{"one class at first", Config{Algorithm: "newton", BlockSize: 8, MaxFeatures: 24, Costs: "f1"}, 3, sided},
	{"targets", Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 24, Targets: 3, Variance: true, Intervals: 0.8}, 4, numerics},
	{"quantiles", Config{Algorithm: "all", Loss: "quantile:0.1,0.5,0.9", BlockSize: 8, MaxFeatures: 24}, 2, numeric},
	{"mixture", Config{Algorithm: "ridge", Task: Regression, BlockSize: 8, MaxFeatures: 8, Mixture: true, Intervals: 0.9}, 2, numeric},
	{"mixture of classes", Config{Algorithm: "newton", BlockSize: 8, MaxFeatures: 8, Mixture: true}, 2, growing},
}

// A label that comes at once, in a row of its own, teaches the same as one that comes with
// its row, and is graded the same.
func TestLabelsThatComeAtOnceTeachTheSame(t *testing.T) {
	for _, s := range keptStreams {
		rows, together, apart := s.rows(400), newLearner(t, s.config), newLearner(t, s.config)
		for from := 0; from < rows.Len(); {
			pass := together.Predict(rows.Slice(from, rows.Len()))
			together.Learn(pass)
			from += pass.Len()
		}
		for i := range rows.Len() {
			one := predictOnly(rows, i)
			pass := apart.Predict(one)
			kept := apart.Keep(pass, 0)
			apart.Learn(pass)
			learnLate(t, apart, rows, i, kept)
		}
		want, got := together.Progress(), apart.Progress()
		if !reflect.DeepEqual(want.Whole, got.Whole) || !reflect.DeepEqual(want.Intervals, got.Intervals) {
			t.Errorf("%s: graded as %+v %+v, want %+v %+v", s.name, got.Whole, got.Intervals, want.Whole, want.Intervals)
		}
		if !reflect.DeepEqual(together.Serving(), apart.Serving()) {
			t.Errorf("%s: another model", s.name)
		}
	}
}

// It does not matter where the batches end in which rows and late labels come.
func TestLateLabelsDependOnTheOrderAlone(t *testing.T) {
	const delay = 40
	for _, s := range keptStreams {
		var want State
		for _, size := range []int{1, 7, 100} {
			l, rows := newLearner(t, s.config), s.rows(300)
			kept := make([][]float64, rows.Len())
			var all []int // rows, and those with their label from rows.Len() on
			for i := range rows.Len() + delay {
				if i < rows.Len() {
					all = append(all, i)
				}
				if i >= delay && rows.Label(i-delay).Task != Auto {
					all = append(all, rows.Len()+i-delay)
				}
			}
			for some := range slices.Chunk(all, size) {
				b := new(Batch)
				b.Reset(rows.Dim())
				for _, k := range some {
					y := Label{}
					if k >= rows.Len() {
						y = rows.Label(k - rows.Len())
					}
					b.Append(rows.X(k%rows.Len()), y, rows.Weight(k%rows.Len()))
				}
				for from := 0; from < b.Len(); {
					rest := b.Slice(from, b.Len())
					pass := l.Predict(rest)
					for i := range pass.Len() {
						if k := some[from+i]; k < rows.Len() {
							kept[k] = l.Keep(pass, i)
						} else {
							rest.SetKept(i, kept[k-rows.Len()])
						}
					}
					l.Learn(pass)
					from += pass.Len()
				}
			}
			if size == 1 {
				want = l.State()
			} else if got := l.State(); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: another state with batches of %d", s.name, size)
			}
		}
	}
}

// predictOnly returns row i of b without its label.
func predictOnly(b *Batch, i int) *Batch {
	one := new(Batch)
	one.Reset(b.Dim())
	one.Append(b.X(i), Label{}, b.Weight(i))
	one.SetTypes(b.types)
	return one
}

// learnLate learns row i of b, of which a prediction was kept.
func learnLate(t *testing.T, l *Learner, b *Batch, i int, kept []float64) *PredictedBatch {
	t.Helper()
	if err := l.CheckKept(kept); err != nil {
		t.Fatal(err)
	}
	pass := l.Predict(b.Slice(i, i+1))
	pass.batch.SetKept(0, kept)
	l.Learn(pass)
	return pass
}

// What is graded is the prediction that was made when the row came, with the classes that
// were known then, and not the better one that the model would make when its label comes.
func TestThePredictionOfThenIsGraded(t *testing.T) {
	const delay = 150
	s := keptStreams[0]
	l, rows := newLearner(t, s.config), s.rows(900)
	var kept [][]float64
	var then [][]float64 // probabilities
	graded, sum, total, wrong := int64(0), 0.0, 0.0, 0.0
	for i := range rows.Len() + delay {
		if i < rows.Len() {
			pass := l.Predict(predictOnly(rows, i))
			kept, then = append(kept, l.Keep(pass, 0)), append(then, slices.Clone(pass.Row(0)))
			l.Learn(pass)
		}
		if i < delay {
			continue
		}
		at := i - delay
		y, weight := rows.Label(at), rows.Weight(at)
		pass := learnLate(t, l, rows, at, kept[at])
		if y.Task == Auto {
			continue
		}
		if len(then[at]) == 0 {
			if _, ok := pass.Loss(0); ok {
				t.Fatalf("row %d is graded, and nothing was predicted", at)
			}
			continue
		}
		loss := 52 * math.Ln2 // of a class that was not known
		if y.Class < len(then[at]) {
			loss = -math.Log(max(then[at][y.Class], 1e-300))
		}
		if got, ok := pass.Loss(0); !ok || math.Abs(got-loss) > 1e-9*(1+loss) {
			t.Fatalf("row %d: loss %v, %v, want %v of %v for class %d", at, got, ok, loss, then[at], y.Class)
		}
		if of, row := pass.Graded(0); !slices.Equal(of.Row(row), then[at]) {
			t.Fatalf("row %d: %v is graded, %v was predicted", at, of.Row(row), then[at])
		}
		graded, sum, total = graded+1, sum+weight*loss, total+weight
		if Best(then[at]) != y.Class {
			wrong += weight
		}
	}
	p := l.Progress().Whole
	if p.Rows != graded || math.Abs(p.Model.Loss-sum/total) > 1e-9*sum/total || math.Abs(p.Model.Error-wrong/total) > 1e-9 {
		t.Errorf("%d rows with loss %v and error %v, want %v with %v and %v", p.Rows, p.Model.Loss, p.Model.Error, graded, sum/total, wrong/total)
	}
}

// A kept prediction that no model like this one has made is refused.
func TestCheckKeptRefusesDamage(t *testing.T) {
	for _, s := range keptStreams {
		l, rows := newLearner(t, s.config), s.rows(200)
		for i := range rows.Len() - 1 {
			l.Learn(l.Predict(rows.Slice(i, i+1)))
		}
		pass := l.Predict(predictOnly(rows, rows.Len()-1))
		kept := l.Keep(pass, 0)
		l.Learn(pass)
		if err := l.CheckKept(kept); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		for i, damaged := range [][]float64{nil, {1}, kept[:len(kept)-1], append(slices.Clone(kept), 0), with(kept, keptSize, 9), with(kept, keptScores, 0), with(kept, keptClasses, 99), with(kept, keptServed, 2), with(kept, keptSize, -1), with(kept, keptClasses, math.Inf(-1))} {
			if err := l.CheckKept(damaged); err == nil {
				t.Errorf("%s: damage %d is accepted: %v", s.name, i, damaged)
			}
		}
	}
}

func with(b []float64, i int, v float64) []float64 {
	b = slices.Clone(b)
	b[i] = v
	return b
}
