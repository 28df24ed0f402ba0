package learner

import (
	"slices"
	"testing"
)

// TestNextSharesTheFeaturesThatAreTheSame: the model of a later state has the random features
// of the model before it, until a checkpoint of the warm-up chooses another kernel. Whatever it
// shares, it predicts like a model that shares nothing, and so does the one before.
func TestNextSharesTheFeaturesThatAreTheSame(t *testing.T) {
	l := newLearner(t, Config{Algorithm: "cdsg", BlockSize: 8, MaxFeatures: 32})
	rows := waves(1000)
	var before *Model
	var kept []float64 // predictions of before
	shared, made := 0, 0
	for from := 0; from < rows.Len(); from += 50 {
		learn(l, rows.Slice(from, from+50), 50)
		alone := modelOf(t, l.Serving())
		next := alone
		if before != nil {
			var err error
			if next, err = before.Next(l.Serving()); err != nil {
				t.Fatal(err)
			}
		}
		want := alone.Predict(rows).Values
		if got := next.Predict(rows).Values; !slices.Equal(got, want) {
			t.Fatalf("%d rows: other predictions than those of a model that shares nothing", from+50)
		}
		if before != nil && before.bank != nil {
			same := before.bank.Blocks() == alone.bank.Blocks() && before.bank.Map().Kernel == alone.bank.Map().Kernel
			if (next.bank == before.bank) != same {
				t.Errorf("%d rows: random features that are shared: %v, that are the same: %v", from+50, next.bank == before.bank, same)
			}
			if same {
				shared++
			} else {
				made++
			}
			if got := before.Predict(rows).Values; !slices.Equal(got, kept) {
				t.Errorf("%d rows: the model before predicts something else", from+50)
			}
		}
		before, kept = next, want
	}
	if shared == 0 || made == 0 {
		t.Errorf("%d models share their random features and %d do not, want some of both", shared, made)
	}
}

// TestNextOfAPrunedModel: a selection of random features is not mistaken for the same number
// of blocks of one feature.
func TestNextOfAPrunedModel(t *testing.T) {
	all, few := prunedModel(t, Config{Algorithm: "ridge", Kernel: "gaussian:0.5", BlockSize: 1, MaxFeatures: 48})
	fewer := newLearner(t, Config{Algorithm: "ridge", Kernel: "gaussian:0.5", BlockSize: 1, MaxFeatures: few.bank.Blocks()})
	rows := waves(600)
	learn(fewer, rows, 50)
	if b := modelOf(t, fewer.Serving()).bank; few.bank.Blocks() == 0 || b.Blocks() != few.bank.Blocks() || !b.Map().Equal(few.bank.Map()) {
		t.Fatalf("%d random features of %v, want %d of %v", b.Blocks(), b.Map(), few.bank.Blocks(), few.bank.Map())
	}
	for name, m := range map[string]*Model{"all": all, "few": few} {
		for _, arrays := range [][]Array{all.Serving(), few.Serving(), fewer.Serving()} {
			alone := modelOf(t, arrays)
			next, err := m.Next(arrays)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := next.Predict(rows).Values, alone.Predict(rows).Values; !slices.Equal(got, want) {
				t.Errorf("after %s: other predictions than those of a model that shares nothing", name)
			}
		}
	}
}

func modelOf(t *testing.T, arrays []Array) *Model {
	t.Helper()
	m, err := NewModel(arrays)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
