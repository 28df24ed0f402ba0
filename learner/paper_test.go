package learner

import (
	"math"
	"testing"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/descent"
)

// The tests in this file hold DSG to statements of Dai et al. 2014, each named
// with the place it stands at. A step there is of one example and one feature;
// here it is the mean over a mini-batch and over the frequencies of a block,
// with the features' norm in the coefficients.

// trained returns a regression learner just before a mini-batch ends, the rows
// of that mini-batch but for the last, and the last.
func trained(t *testing.T) (l *Learner, last *Batch) {
	t.Helper()
	s := streamOf("dsg", "regression")
	s.config.Lambda, s.config.Direction = 0.01, "rate"
	l = newLearner(t, s.config)
	rows := s.rows(3000)
	at := 0
	for ; l.fit == nil || stepsOf(l) < 5 || len(l.pending.Labels) < s.config.Minibatch-1 || rows.Label(at).Task == Auto; at++ {
		learn(l, rows.Slice(at, at+1), 1)
	}
	return l, rows.Slice(at, at+1)
}

// stepsOf returns how many steps of descent l has made.
func stepsOf(l *Learner) int64 { return resuming[int64](l, "descent.counters")[0] }

func blocksOf(l *Learner) int { return l.engine.Features() / l.config.BlockSize }

// effective returns the coefficients of the iterate, not as they are stored.
func effective(l *Learner) []float64 {
	w := resuming[float64](l, "u")
	for i := range w {
		w[i] *= resuming[float64](l, "descent.scalars")[0]
	}
	return w
}

// effectiveAverage returns those of its average.
func effectiveAverage(l *Learner) []float64 {
	u, v, s := resuming[float64](l, "u"), resuming[float64](l, "v"), resuming[float64](l, "descent.scalars")
	for i := range v {
		v[i] = s[1] * (v[i] + s[2]*u[i])
	}
	return v
}

// block returns the frequencies of block b of l, drawn from its seed alone.
func block(l *Learner, b int) []float32 {
	w := make([]float32, l.config.BlockSize*l.dim)
	features.Map{Kernel: l.fit.Kernel, Dim: l.dim, BlockSize: l.config.BlockSize, Seed: l.config.Seed}.Frequencies(w, b)
	return w
}

// phi returns the unnormalised features of x, a cosine and a sine for each frequency.
func phi(w, x []float32) []float64 {
	var out []float64
	for ; len(w) > 0; w = w[len(x):] {
		angle := 0.0
		for i, v := range x {
			angle += float64(w[i]) * float64(v)
		}
		out = append(out, math.Cos(angle), math.Sin(angle))
	}
	return out
}

// Algorithm 1: α_i = -γ_i l'(f(x_i), y_i) φ_ω(x_i), where ω is drawn with seed i.
func TestAlgorithm1AddsTheFeaturesOfANewSeed(t *testing.T) {
	l, last := trained(t)
	from := blocksOf(l)
	p := l.Predict(last)
	x := append(append([]float32{}, l.pending.X...), p.x...)
	y := append(append([]Label{}, l.pending.Labels...), last.Label(0))
	weights := append(append([]float64{}, l.pending.Weights...), last.Weight(0))
	f := append(append([]float64{}, l.pending.Scores...), p.f...)
	rate := descent.StepSize{First: 1 / (l.fit.TopEigenvalue + 1/float64(len(y)) + 1/float64(l.config.BlockSize)), Lambda: l.config.Lambda}.Rate(stepsOf(l) + 1)
	l.Learn(p)
	if blocksOf(l) != from+1 {
		t.Fatalf("%d blocks after a step, before it %d", blocksOf(l), from)
	}
	w := block(l, from)
	want, total := make([]float64, 2*l.config.BlockSize), 0.0
	for i := range y {
		total += weights[i]
		for j, v := range phi(w, x[i*l.dim:(i+1)*l.dim]) {
			want[j] -= rate * weights[i] * (f[2*i] - l.head.Target(y[i], 0)) * v / float64(l.config.BlockSize)
		}
	}
	got := effective(l)[2*l.config.BlockSize*from:]
	for j := range want {
		if want[j] /= total; math.Abs(got[j]-want[j]) > 1e-6*(1+math.Abs(want[j])) {
			t.Errorf("coefficient %d of the new block is %v, want %v", j, got[j], want[j])
		}
	}
}

// Algorithm 1, the last line of its loop: α_j ← (1-γ_i ν) α_j for every earlier j.
func TestAlgorithm1ShrinksEarlierCoefficients(t *testing.T) {
	l, last := trained(t)
	before := effective(l)
	rate := descent.NewStepSize(1, l.fit.TopEigenvalue, l.config.Minibatch, l.config.BlockSize, l.config.Lambda).Rate(stepsOf(l) + 1)
	l.Learn(l.Predict(last))
	after := effective(l)
	for j, a := range before {
		if want := (1 - rate*l.config.Lambda) * a; math.Abs(after[j]-want) > 1e-15*(1+math.Abs(want)) {
			t.Errorf("coefficient %d: got %v, want %v", j, after[j], want)
		}
	}
}

// Algorithm 2: f(x) = Σ α_i φ_ω_i(x), where ω_i is drawn again with seed i.
func TestAlgorithm2PredictsFromSeedsAndCoefficients(t *testing.T) {
	l, last := trained(t)
	p := l.Predict(last)
	coef := [][]float64{effective(l), effectiveAverage(l)}
	for column, intercept := range resuming[float64](l, "intercepts") {
		want := intercept
		for b := range blocksOf(l) {
			for j, v := range phi(block(l, b), p.x) {
				want += v * float64(float32(coef[column][2*l.config.BlockSize*b+j]))
			}
		}
		if math.Abs(p.f[column]-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("column %d: f = %v, want %v", column, p.f[column], want)
		}
	}
}

// Theorem 4 takes γ_t = θ/t with θν in (1, 2) or a positive integer. Ours tends
// to that with θν = 1, from a first step that is stable.
func TestTheorem4RateTendsToOneOverTime(t *testing.T) {
	s := descent.NewStepSize(0.25, 0.6, 128, 32, 1e-3)
	for _, step := range []int64{1e8, 1e10} {
		if theta := s.Rate(step) * float64(step) * s.Lambda; math.Abs(theta-1) > 1e-3 {
			t.Errorf("step %d: θν = %v, want 1", step, theta)
		}
	}
	if first := s.Rate(1); first > s.First || first < 0.99*s.First {
		t.Errorf("first step %v, want about %v", first, s.First)
	}
}

// Section 1: "our approach allows the number of random features, and hence the
// flexibility of the function class to grow with the number of data points" —
// here up to a cap, from which on all of them are refined.
func TestFeaturesGrowWithTheDataUpToTheCap(t *testing.T) {
	s := streamOf("dsg", "binary")
	l := newLearner(t, s.config)
	rows := s.rows(2600)
	most := s.config.MaxFeatures / s.config.BlockSize
	for at := range rows.Len() {
		learn(l, rows.Slice(at, at+1), 1)
		if l.fit == nil {
			continue
		}
		if want := min(int(stepsOf(l)), most); blocksOf(l) != want {
			t.Fatalf("row %d: %d blocks after %d mini-batches, want %d", at, blocksOf(l), stepsOf(l), want)
		}
	}
	if l.steps() <= int64(most) {
		t.Fatalf("%d mini-batches do not reach the cap of %d", l.steps(), most)
	}
}
