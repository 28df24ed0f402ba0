package history

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// Whether a trial succeeds does not depend on the unit of the weights, and equal weights are
// as good as none.
func TestTheUnitOfTheWeightsDoesNotDecide(t *testing.T) {
	for _, gain := range []float64{0.02, 0.2} {
		for _, unit := range []float64{1, 1000, 0.01} {
			rng := rand.New(rand.NewPCG(1, 1))
			var of trial
			n, sum, squares := 2048.0, 0.0, 0.0
			for range int(n) {
				d := rng.NormFloat64() - gain
				of.compare(3+d, 3, unit)
				sum, squares = sum+d, squares+d*d
			}
			mean := sum / n
			want := math.Sqrt((squares/n - mean*mean) / n)
			if got := math.Sqrt(of.squares) / of.compared; math.Abs(got/want-1) > 1e-6 || math.Abs(of.mean/mean-1) > 1e-6 {
				t.Errorf("weights of %v: %v ± %v, want %v ± %v", unit, of.mean, got, mean, want)
			}
			if got := of.better(); got != (gain == 0.2) {
				t.Errorf("weights of %v, losses less by %v: better is %v", unit, gain, got)
			}
		}
	}
}

// The alarms of a trial are none of the model before it takes over, and restoring keeps that.
func TestASuccessionIsNoDrift(t *testing.T) {
	config := learner.Config{BlockSize: 8, MaxFeatures: 16, Minibatch: 50, Kernel: "gaussian:2"}
	h, err := New("m", nil, config)
	if err != nil {
		t.Fatal(err)
	}
	l, err := learner.New(config)
	if err != nil {
		t.Fatal(err)
	}
	learn := func(l *learner.Learner, columns, turn int) {
		rng := rand.New(rand.NewPCG(1, 2))
		var b learner.Batch
		b.Reset(columns)
		for i := range 2000 {
			x := []float64{rng.NormFloat64(), 1}[:columns]
			y := learner.Label{Task: learner.Classification}
			if (x[0] > 0) == (i < turn) {
				y.Class = 1
			}
			b.Append(x, y, 1)
		}
		for at := 0; at < b.Len(); {
			p := l.Predict(b.Slice(at, b.Len()))
			at += p.Len()
			l.Learn(p)
		}
	}
	learn(h.Learner, 1, 2000)
	learn(l, 2, 1600)
	h.Schema = &decode.Schema{Columns: []string{"a", "b"}}
	h.adopted.columns, h.adopted.trial = 1, &trial{learner: l, columns: 2, rows: 2000}
	was := h.Progress()
	if got := l.Progress().Drifts; got == was.Drifts {
		t.Fatalf("the trial has raised %+v", got)
	}
	h.succeed(&Decided{Schema: h.Schema}, h.Learner.Progress())
	if got := h.Progress(); got.Drifts != was.Drifts || got.Step != was.Step || got.Examples != was.Examples {
		t.Errorf("%+v after a succession, were %+v", got, was)
	}
	s, err := h.Freeze(1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Thaw(s, config)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Progress().Drifts; got != was.Drifts {
		t.Errorf("restored: %+v, want %+v", got, was.Drifts)
	}
}
