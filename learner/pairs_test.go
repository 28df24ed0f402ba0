package learner

import (
	"math/rand/v2"
	"testing"
)

// pairRows returns rows of the indicators of four categories of six values, with the sum of two
// tables as their labels, each of two of the categories.
func pairRows(rows int) *Batch {
	rng := rand.New(rand.NewPCG(5, 6))
	const size = 6
	var tables [2][size][size]float64
	for p := range tables {
		for a := range size {
			for b := range size {
				tables[p][a][b] = rng.NormFloat64()
			}
		}
	}
	b := new(Batch)
	b.Reset(4 * size)
	for range rows {
		x, v := make([]float64, 4*size), [4]int{}
		for c := range v {
			v[c] = rng.IntN(size)
			x[c*size+v[c]] = 1
		}
		b.Append(x, Label{Task: Regression, Value: tables[0][v[0]][v[1]] + tables[1][v[2]][v[3]] + rng.NormFloat64()/2}, 1)
	}
	return b
}

// Trees of pairs lower the error where labels depend on pairs of categories. A Learner that is
// restored before or after they are planted, or after the forest was judged, continues to the
// same bits, which are pinned; and so it does without them, as before there were any.
func TestPairsOfCategoriesAreLearned(t *testing.T) {
	b, with := pairRows(4200), onTrial
	with.ForestPairs = true
	l, without := newLearner(t, with), newLearner(t, onTrial)
	restored, at := newLearner(t, with), 0
	for _, n := range []int{1200, 1300, 3000, 4200} {
		learn(l, b.Slice(at, n), 500)
		learn(without, b.Slice(at, n), 500)
		learn(restored, b.Slice(at, n), 333)
		if got, want := hash(restored.State()), hash(l.State()); got != want {
			t.Fatalf("row %d: restored, the state's hash is %s, want %s", n, got, want)
		}
		var err error
		if restored, err = restore(with, l.State()); err != nil {
			t.Fatalf("row %d: %v", n, err)
		}
		at = n
	}
	if got, want := hash(l.State()), "68819cd24673f7e6"; got != want {
		t.Errorf("the state's hash is %s, want %s", got, want)
	}
	if _, err := restore(onTrial, l.State()); err == nil {
		t.Error("a model without pairs was restored from the state of one with them")
	}
	if with, without := l.Progress().Latest.Model.Error, without.Progress().Latest.Model.Error; !(with < 0.9*without) {
		t.Errorf("the error of the last rows is %v, and %v without pairs", with, without)
	}
}
