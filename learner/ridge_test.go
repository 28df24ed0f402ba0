package learner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rival is the progressive error of ridge, and of the best of its members.
func rival(l *Learner, b *Batch) (mixture, best float64) {
	var wrong []float64
	rows := 0.0
	for b.Len() > 0 {
		p := l.Predict(b)
		if l.fit != nil {
			wrong = append(wrong, make([]float64, p.columns-len(wrong))...)
			for i := range p.Len() {
				for e := range wrong {
					if (p.f[i*p.columns+e] > 0) != (b.Label(i).Class == 1) {
						wrong[e]++
					}
				}
				rows++
			}
		}
		b = b.Slice(p.Len(), b.Len())
		l.Learn(p)
	}
	return wrong[0] / rows, slices.Min(wrong[1:]) / rows
}

// TestMixtureIsAsGoodAsItsBestMember, whichever that is: on streams that turn
// never, now and then, and all the time.
func TestMixtureIsAsGoodAsItsBestMember(t *testing.T) {
	t.Parallel()
	for _, turn := range []float64{0, 1. / 10_000, 1. / 2000} { // of a circle, with each row
		rng := rand.New(rand.NewPCG(1, 2))
		var b Batch
		b.Reset(2)
		for i := range 8000 {
			x := []float64{rng.NormFloat64(), rng.NormFloat64()}
			sin, cos := math.Sincos(2 * math.Pi * turn * float64(i))
			y := x[0]*cos+x[1]*sin > 0
			b.Append(x, class(y != (rng.Float64() < 0.05)), 1)
		}
		mixture, best := rival(newLearner(t, Config{Algorithm: "ridge", BlockSize: 8, MaxFeatures: 16}), &b)
		t.Logf("turn %.5f: %.4f, the best member %.4f", turn, mixture, best)
		if mixture > best+0.005 {
			t.Errorf("turn %v: error %v, the best member %v", turn, mixture, best)
		}
	}
}

// TestRidgeTracksDrift, and forgets nothing where there is none.
func TestRidgeTracksDrift(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		sign func(i int) bool
		most float64
	}{
		{"steady", func(int) bool { return true }, 0.12},
		{"turning every 2,000", func(i int) bool { return i/2000%2 == 0 }, 0.25},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		l := newLearner(t, Config{Algorithm: "ridge", BlockSize: 16, MaxFeatures: 32, Minibatch: 32, Kernel: "gaussian:1.5"})
		var b Batch
		b.Reset(2)
		for i := range 10_000 {
			x := []float64{rng.NormFloat64(), rng.NormFloat64()}
			b.Append(x, class((x[0]*x[1] > 0) == c.sign(i)), 1)
		}
		learn(l, &b, 256)
		if got := l.Progress().Whole.Model.Error; got > c.most {
			t.Errorf("%s: error %v, want %v", c.name, got, c.most)
		}
	}
}
