package learner

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// What the rows of the warm-up do not have is learned when it comes: further values of a category,
// and columns that were empty. Before the sixteenth version it was not.
func TestWhatComesAfterTheWarmupIsLearned(t *testing.T) {
	const rows, late = 5000, 1500
	effect := func(v int) float64 { return 3 * float64(v*7%5-2) }
	for _, test := range []struct {
		name string
		typ  ColumnType // of the column that matters, once it has values
		next func(rng *rand.Rand, i int) (raw, y float64)
	}{
		{"further values of a category", CategoryColumn, func(rng *rand.Rand, i int) (raw, y float64) {
			v := rng.IntN(min(3+i/late*9, 21))
			return encode.Key(uint64(v+1) * 0x9e3779b97f4a7c15), effect(v)
		}},
		{"a category that was empty", CategoryColumn, func(rng *rand.Rand, i int) (raw, y float64) {
			v := rng.IntN(9)
			if raw, y = encode.Key(uint64(v+1)*0x9e3779b97f4a7c15), effect(v); i < late {
				raw = math.NaN()
			}
			return raw, y
		}},
		{"numbers that were missing", NumericColumn, func(rng *rand.Rand, i int) (raw, y float64) {
			if raw = rng.NormFloat64(); i < late {
				return math.NaN(), 6 * raw
			}
			return raw, 6 * raw
		}},
	} {
		rng := rand.New(rand.NewPCG(81, 82))
		b := &Batch{}
		b.Reset(3)
		known := []ColumnType{NumericColumn, NumericColumn, test.typ}
		first := rows // row with the first value
		for i := range rows {
			x := []float64{rng.NormFloat64(), rng.NormFloat64(), 0}
			raw, y := test.next(rng, i)
			if x[2] = raw; raw == raw {
				first = min(first, i)
			}
			b.Append(x, Label{Task: Regression, Value: y + x[0] + 0.3*rng.NormFloat64()}, 1)
		}
		of := map[warmup.Version]float64{}
		for _, version := range []warmup.Version{warmup.Fifteenth, warmup.Sixteenth} {
			c := Config{Task: Regression, Mixture: true, Warmup: int(version), MaxFeatures: 256}
			l, sum, squares := newLearner(t, c), 0.0, 0.0
			for at := 0; at < rows; {
				s := b.Slice(at, min(at+50, rows))
				if s.SetTypes(known); at+s.Len() <= first {
					s.SetTypes([]ColumnType{NumericColumn, NumericColumn, UnknownColumn})
				}
				p := l.Predict(s)
				for i := range p.Len() {
					if at+i >= rows-1500 {
						y := s.Label(i).Value
						sum, squares = sum+math.Pow(p.Scorer.Row(i)[0]-y, 2), squares+y*y
					}
				}
				at += p.Len()
				l.Learn(p)
				if at == late+300 || at == rows-500 {
					before, err := hash(l.State()), error(nil)
					if l, err = restore(c, l.State()); err != nil || hash(l.State()) != before {
						t.Fatalf("%s, version %d: restored, the state's hash is another one: %v", test.name, version, err)
					}
				}
			}
			of[version] = sum / squares
		}
		if was, is := of[warmup.Fifteenth], of[warmup.Sixteenth]; is > 0.1 || was < 4*is {
			t.Errorf("%s: the error of a scorer is %.3f, was %.3f", test.name, is, was)
		}
	}
}

// Values that come between the last fit of the warm-up and the row where it takes effect are learned
// with the rows that are learned again.
func TestValuesBeforeAFitTakesEffectAreLearned(t *testing.T) {
	rng := rand.New(rand.NewPCG(83, 84))
	b := &Batch{}
	b.Reset(2)
	last := warmup.EffectiveAt(warmup.LastCheckpoint)
	for i := range last {
		x := []float64{rng.NormFloat64(), math.NaN()}
		if i > warmup.LastCheckpoint+50 {
			x[1] = Category(uint64(i%7+1) * 0x9e3779b97f4a7c15)
		}
		b.Append(x, Label{Task: Regression, Value: x[0] + rng.NormFloat64()}, 1)
	}
	l := newLearner(t, Config{Task: Regression, Warmup: NewestWarmup, MaxFeatures: 256})
	for at := 0; at < last; at += 50 {
		s := b.Slice(at, at+50)
		if s.SetTypes([]ColumnType{NumericColumn, CategoryColumn}); at <= warmup.LastCheckpoint {
			s.SetTypes([]ColumnType{NumericColumn, UnknownColumn})
		}
		learn(l, s, 50)
	}
	if n := l.Columns()[1].Values; n != 7 {
		t.Errorf("there are statistics of %d values, want 7", n)
	}
}
