package dsg

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func quiet(string) {}

// The functional gradient with the exact kernel ends at the posterior mean (Dai et al.
// 2014, equation 9).
func TestFunctionalGradientEndsAtThePosteriorMean(t *testing.T) {
	p := newProcess(500, 40)
	want, _, err := p.exact()
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range p.functional() {
		if math.Abs(got-want[i]) > 1e-8 {
			t.Errorf("point %d: %v, want %v", i, got, want[i])
		}
	}
}

// The linear model on random features has nearly the posterior of the process.
func TestRandomFeaturesHaveNearlyThePosterior(t *testing.T) {
	p := newProcess(300, 40)
	mean, variance, err := p.exact()
	if err != nil {
		t.Fatal(err)
	}
	m, v, err := p.linear(512, 1)
	if err != nil {
		t.Fatal(err)
	}
	zero := make([]float64, p.at)
	if e := math.Sqrt(meanSquare(m, mean) / meanSquare(mean, zero)); e > 0.2 {
		t.Errorf("the mean has a relative error of %v", e)
	}
	if e := math.Sqrt(meanSquare(v, variance) / meanSquare(variance, zero)); e > 0.1 {
		t.Errorf("the variance has a relative error of %v", e)
	}
}

// Theorem 4 of Dai et al.: the error falls as 1/t. The step size that the paper prints
// for it diverges.
func TestErrorFallsAsOneOverT(t *testing.T) {
	all, err := rates(t.Context(), 64, 128, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		switch {
		case strings.Contains(s.Schedule, "printed") != s.Diverges:
			t.Errorf("step size %s: diverges: %v", s.Schedule, s.Diverges)
		case s.Schedule == "10" && !(s.Mean < -0.9):
			t.Errorf("step size %s: the error of the mean falls as t^%.2f, want -1", s.Schedule, s.Mean)
		}
	}
}

// rings returns two overlapping rings.
func rings() *Set {
	r := rand.New(rand.NewPCG(8, 8))
	s := &Set{Name: "rings", Dim: 2}
	draw := func(n int) (x []float32, y []float64) {
		for i := range n {
			radius, angle := 1+float64(i%2), 2*math.Pi*r.Float64()
			radius += 0.15 * r.NormFloat64()
			x = append(x, float32(radius*math.Cos(angle)), float32(radius*math.Sin(angle)))
			y = append(y, float64(2*(i%2)-1))
		}
		return x, y
	}
	s.Train, s.Y = draw(1500)
	s.Test, s.TestY = draw(500)
	return s
}

// Block coordinate descent has gone down in every step, and tells the rings apart after 60
// passes of 8 steps, with features of either kind.
func TestBlockCoordinateDescentGoesDown(t *testing.T) {
	s := rings()
	p := newProblem(s)
	for name, e := range map[string]*explicit{"random": newRandom(p, 64), "Nyström": newNystrom(p, 64)} {
		m := newRBCD(e)
		last := math.Inf(1)
		for range 60 {
			for i := range s.Y {
				m.learn(i)
			}
			value := m.penalty / 2 * dotSelf(m.w)
			for _, v := range m.margin {
				value += max(0, v) * max(0, v) / 2 / float64(len(m.margin))
			}
			if value > last+1e-12 {
				t.Fatalf("%s: the objective rises from %v to %v", name, last, value)
			}
			last = value
		}
		if e := wrong(m, s); e > 0.1 {
			t.Errorf("%s: error %v", name, e)
		}
	}
}

func dotSelf(x []float64) (s float64) {
	for _, v := range x {
		s += v * v
	}
	return s
}

// Every machine tells apart two overlapping rings better than any line, and the exact
// dual method best of all or nearly so.
func TestMachinesLearnRings(t *testing.T) {
	s := rings()
	ticks := 0.0
	clock := func() float64 { ticks++; return ticks }
	report, err := svms(t.Context(), s, clock, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range report.Methods {
		if most := 0.1; m.Features == 0 || !strings.Contains(m.Method, "RBCD") && (m.Error > most || m.InTime > most) {
			t.Errorf("%+v", m)
		}
	}
}

func TestCancellationEndsTheExperiments(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := DSG(ctx, Options{Clock: func() float64 { return 0 }, Progress: quiet}); err == nil {
		t.Error("the experiments ran to their end")
	}
}
