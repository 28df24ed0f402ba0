package learner

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Two pairs of opposite clusters in 70 inputs: what a line cannot tell apart is
// learned with orthogonal frequencies, in other bits than with independent ones,
// and a Learner that is restored amid it goes on exactly, as its Model does.
func TestOrthogonalFrequenciesLearnAndRestore(t *testing.T) {
	t.Parallel()
	const dim, n = 70, 800
	r := rand.New(rand.NewPCG(1, 2))
	var b Batch
	b.Reset(dim)
	x := make([]float64, dim)
	for i := range n {
		side, class := float64(2*(i&1)-1), i>>1&1
		for j := range x {
			x[j] = r.NormFloat64()
			if j&1 == class {
				x[j] += side
			}
		}
		b.Append(x, Label{Task: Classification, Class: class}, 1)
	}
	independent := map[string]string{} // by algorithm: the hash of the state with independent frequencies
	for _, a := range []string{"dsg", "newton"} {
		l := newLearner(t, Config{Algorithm: a, Kernel: "gaussian:11", MaxFeatures: 256})
		learn(l, &b, 100)
		independent[a] = hash(l.State())
	}
	for _, by := range [][2]string{{"dsg", "sorf"}, {"newton", "sorf"}, {"dsg", "fastfood"}, {"dsg", "orthogonal"}, {"dsg", "qmc"}, {"dsg", "leverage"}, {"newton", "leverage"}} {
		algorithm := by[0]
		c := Config{Algorithm: algorithm, Sampling: by[1], Kernel: "gaussian:11", MaxFeatures: 256}
		l := newLearner(t, c)
		learn(l, b.Slice(0, 450), 100)
		m, err := NewModel(l.State().Serving)
		if err != nil {
			t.Fatal(err)
		}
		served, own := m.Predict(b.Slice(450, 460)), l.Predict(b.Slice(450, 460))
		if got, want := fmt.Sprint(served.Values), fmt.Sprint(own.Values); got != want {
			t.Errorf("%s: the model predicts %s, the learner %s", algorithm, got, want)
		}
		restored, err := restore(c, l.State())
		if err != nil {
			t.Fatal(err)
		}
		firstDifference(t, algorithm, learn(restored, b.Slice(450, n), 70), learn(l, b.Slice(450, n), 100))
		sameState(t, algorithm, restored.State(), l.State())
		if p := l.Progress().Recent.Model; p.Error > .25 {
			t.Errorf("%s: the recent error is %v", algorithm, p.Error)
		}
		if independent[algorithm] == hash(l.State()) {
			t.Errorf("%s: independent frequencies come to the same state", algorithm)
		}
		if _, err := restore(Config{Algorithm: algorithm, Kernel: "gaussian:11", MaxFeatures: 256}, l.State()); err == nil {
			t.Errorf("%s: restored under another sampling", algorithm)
		}
	}
}

func TestSamplingIsForManyInputs(t *testing.T) {
	for _, test := range []struct {
		sampling     string
		inputs, lags int
		ok           bool
	}{
		{"", 1, 0, true}, {"iid", 1, 0, true}, {"sorf", 63, 0, false}, {"sorf", 64, 0, true}, {"sorf", 31, 1, true},
	} {
		c, err := Config{Sampling: test.sampling, Lags: test.lags}.Effective()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Check(make([]string, test.inputs)); (err == nil) != test.ok || err != nil && !errors.Is(err, ErrInputs) {
			t.Errorf("%+v: %v", test, err)
		}
	}
	if _, err := (Config{Sampling: "sobol"}).Effective(); err == nil {
		t.Error("a sampling of no name is taken")
	}
}
