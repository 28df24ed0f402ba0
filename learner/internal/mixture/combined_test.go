package mixture

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/sparse"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// The shares of a combination are those with which the mean of the experts and its stacks are mixed,
// whatever the experts predict, in the unit of the labels and in that of the scores.
func TestCombinationsAreSumsOfExperts(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	h := target.NewHead(nil, target.Regression, 0, 1)
	for range 100 {
		m := New(h, Options{Combines: true})
		mean := 10 * r.NormFloat64()
		m.now.labels[1] = mean
		shares, rest := make([]float64, len(m.static)), 1.0
		m.staticAwake = m.staticAwake[:0]
		for i := range shares {
			m.staticAwake = append(m.staticAwake, i == 0 || r.IntN(4) > 0)
			if m.staticAwake[i] {
				shares[i] = rest * r.Float64()
				rest -= shares[i]
			}
		}
		shares[0] += rest
		for _, s := range m.now.combined.stacks {
			for i := range s.theta {
				s.theta[i] = r.NormFloat64()
			}
		}
		weights := make([]float64, len(outerPrior))
		losses := []float64{r.Float64(), r.Float64(), r.Float64()}
		m.now.combined.outer[0].Update(losses, m.outerAwake)
		m.now.combined.outer[0].Mix(weights, m.outerAwake)

		p, inner := make([]float64, len(shares)), 0.0
		for i := range p {
			p[i] = mean + r.NormFloat64()
			inner += shares[i] * p[i]
		}
		want := weights[0] * inner
		for s, stack := range m.now.combined.stacks {
			f := stack.theta[0] * (inner - mean)
			for i, awake := range m.staticAwake {
				if awake {
					f += stack.theta[1+i] * (p[i] - inner)
				}
			}
			want += weights[1+s] * (mean + f)
		}
		unit := target.Scale{Mean: 3 * r.NormFloat64(), Deviation: 0.1 + r.Float64()}
		added := m.combine(shares, 0)
		got, score := added, m.intercept(unit, shares, added)
		for i, v := range shares {
			if !m.staticAwake[i] && v != 0 {
				t.Fatalf("an expert without a prediction has the share %v", v)
			}
			got += v * p[i]
			score += v * ((p[i] - unit.Mean) / unit.Deviation)
		}
		if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("the combination predicts %v, want %v", got, want)
		}
		if of := unit.Mean + unit.Deviation*score; math.Abs(of-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("the score of the combination predicts %v, want %v", of, want)
		}
	}
}

// A combination that has gone astray is not used, and one that has learned nothing is the mean.
func TestCombinationsBeginAsTheMean(t *testing.T) {
	m := New(target.NewHead(nil, target.Regression, 0, 1), Options{Combines: true})
	m.staticAwake = slices.Repeat([]bool{true}, len(m.static))
	shares := slices.Repeat([]float64{1 / float64(len(m.static))}, len(m.static))
	want := slices.Clone(shares)
	for _, theta := range []float64{0, 1e5, math.NaN()} {
		for _, s := range m.now.combined.stacks {
			s.theta[1] = theta
		}
		if added := m.combine(shares, 0); added != 0 {
			t.Errorf("a factor of %v adds %v", theta, added)
		}
		for i, v := range shares {
			if !near(v, want[i]) {
				t.Errorf("a factor of %v: share %d is %v, want %v", theta, i, v, want[i])
			}
		}
	}
}

// What a scorer predicts is the combination also where the mean of the labels is no longer that of
// their unit.
func TestAScorerPredictsTheCombination(t *testing.T) {
	h := target.NewHead(nil, target.Regression, 0, 1)
	h.Scales = []target.Scale{{Mean: 2, Deviation: 4}}
	m := New(h, Options{Combines: true})
	m.factors = []float64{1}
	for i := range 2 * recentLabels {
		m.now.bounds[0].add(float64(i%101 - 50))
	}
	const mean, factor, score = 7, 1.5, 0.25
	m.now.labels[0], m.now.labels[1] = 1, mean
	for _, s := range m.now.combined.stacks {
		s.theta[0] = factor
	}
	weights := make([]float64, len(outerPrior))
	m.now.combined.outer[0].Mix(weights, m.outerAwake)
	m.setStatic(&h)
	engine := h.Scales[0].Mean + score*h.Scales[0].Deviation
	want := weights[0]*engine + (1-weights[0])*(mean+factor*(engine-mean))
	for _, limits := range [][]float64{m.Static.Limits, nil} {
		f := []float64{score}
		m.Static.Limits = limits
		m.Static.Apply(f, []float32{0}, []float32{0}, []float64{0}, func(int) sparse.Row { return sparse.Row{} })
		if got := h.Scales[0].Mean + f[0]*h.Scales[0].Deviation; math.Abs(got-want) > 1e-6 {
			t.Errorf("a scorer with the limits %v predicts %v, want %v", limits, got, want)
		}
	}
}
