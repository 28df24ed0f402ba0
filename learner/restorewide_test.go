package learner

import (
	"math/rand/v2"
	"testing"
)

// As long as all labels of wide rows are equal, linear members take no step. They do not predict
// until they have taken one, whether or not their Learner has been restored in between.
func TestWideRowsOfOneLabelAreRestored(t *testing.T) {
	const dim = 300
	c := Config{Task: Regression, Mixture: true}
	r := rand.New(rand.NewPCG(3, 4))
	b := &Batch{}
	b.Reset(dim)
	x := make([]float64, dim)
	for i := range 260 {
		for j := range x {
			x[j] = r.NormFloat64()
		}
		y := 5.
		if i >= 200 {
			y += x[0]
		}
		b.Append(x, Label{Task: Regression, Value: y}, 1)
	}
	l := newLearner(t, c)
	learn(l, b.Slice(0, 180), 500)
	restored, err := restore(c, l.State())
	if err != nil {
		t.Fatal(err)
	}
	for at := 180; at < b.Len(); at += 20 {
		learn(l, b.Slice(at, at+20), 500)
		learn(restored, b.Slice(at, at+20), 500)
		if got, want := hash(restored.State()), hash(l.State()); got != want {
			t.Fatalf("row %d: restored, the state's hash is %s, want %s", at+20, got, want)
		}
	}
}
