package optim

import (
	"context"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// uneven returns a problem in which one row of 60 is ten times as long as the others, or
// weighs a hundred times as much.
func uneven(l loss.Dual, byWeight bool) *Problem {
	const n, columns = 60, 8
	p := newProblem(5, n, columns, l, 1e-2, 0)
	rows := p.A.(*matrix.Dense).Rows()
	if !byWeight {
		for j := range columns {
			rows[j] *= 10
		}
		p.A = matrix.NewDense(n, columns, rows)
		return p
	}
	p.Weights = make([]float64, n)
	for i := range p.Weights {
		p.Weights[i] = 1
	}
	p.Weights[0] = 100
	return p
}

// TestSamplingByNormIsFaster compares the steps to a small distance from the optimum with
// uniform sampling and with the theorem of Zhang and Xiao: uniform steps go by the
// longest row. One heavy row slows them down less, as its proximal map has its weight.
func TestSamplingByNormIsFaster(t *testing.T) {
	for _, l := range []loss.Dual{loss.Square{}, loss.Logistic{}, loss.SmoothedHinge{}} {
		for _, byWeight := range []bool{false, true} {
			p := uneven(l, byWeight)
			n, columns := p.A.Dims()
			best := solve(t, p, Config{Gap: 1e-13, Passes: 20000})
			steps := func(m method) (count int, decay float64) {
				before, after := 0.0, 0.0
				for ; count < 200000; count++ {
					if count%16 == 0 {
						x, y, _, _ := m.iterate()
						dx, dy := distance(x, best.X), distance(y, best.Y)
						after = dx*dx + dy*dy/float64(n)
						if before = max(before, after); after < 1e-10*before {
							break
						}
					}
					m.step()
				}
				return count, math.Log(before/after) / float64(count)
			}
			scale, _ := Scale(p.A, columns, 1)
			x, y, _ := Start{}.vectors(p)
			uniform, _ := steps(newDSPDC(p, Config{Primal: columns, Dual: 1, Scale: scale, Theorem: 1}, x, y))
			x, y, _ = Start{}.vectors(p)
			byNorm, decay := steps(newByNorm(p, Config{}, x, y))
			_, mean := rowNorms(p)
			_, _, _, contraction := byNormSteps(n, mean, p.L2, 1/l.Smoothness())
			t.Logf("%v, by weight %v: %d steps, uniform %d; 1-rate %.3g, theorem %.3g", l, byWeight, byNorm, uniform, decay, -math.Log(contraction))
			if !byWeight && 2*byNorm > uniform {
				t.Errorf("%v: %d steps, and %d with uniform sampling", l, byNorm, uniform)
			}
			if decay < -0.9*math.Log(contraction) {
				t.Errorf("%v, by weight %v: 1-rate is %v, the theorem has %v", l, byWeight, decay, -math.Log(contraction))
			}
		}
	}
}

// TestSamplingByNormReachesTheOptimum, with λ₁ and groups too.
func TestSamplingByNormReachesTheOptimum(t *testing.T) {
	for _, l1 := range []float64{0, 0.02} {
		p, forms := grouped(loss.Logistic{}, l1)
		want := solve(t, p, Config{Gap: 1e-12, Passes: 5000})
		for form, a := range forms {
			p.A = a
			s := solve(t, p, Config{ByNorm: true, Gap: 1e-11, Passes: 5000})
			if d := distance(s.X, want.X); !s.Reached || d > 1e-4 {
				t.Errorf("%s, λ₁ %v: off by %v, gap %v", form, l1, d, s.Gap())
			}
		}
	}
	p, _ := grouped(loss.Square{}, 0)
	for _, c := range []Config{{Dual: 2}, {Primal: 3}, {Shuffle: true}, {Method: SDCA}, {Method: SVRG}} {
		c.ByNorm = true
		if _, err := Solve(context.Background(), p, c, Start{}); err == nil {
			t.Errorf("no error for %+v", c)
		}
	}
}

func TestProbabilitiesAreThoseOfTheNorms(t *testing.T) {
	got := probabilities([]float64{0, 1, 3})
	for i, want := range []float64{1. / 6, 1./6 + 1./8, 1./6 + 3./8} {
		if math.Abs(got[i]-want) > 1e-15 {
			t.Errorf("row %d: %v, want %v", i, got[i], want)
		}
	}
	p := newProblem(5, 4, 2, loss.Square{}, 1, 0)
	p.Weights = []float64{1, 0, 2, 5}
	b := newByNorm(p, Config{}, make([]float64, 2), make([]float64, 4)).(*byNorm)
	const draws = 40000
	counts := make([]float64, 4)
	for range draws {
		counts[b.draw()]++
	}
	for i, c := range counts {
		want := b.probability[i] * draws
		if math.Abs(c-want) > 5*math.Sqrt(want) {
			t.Errorf("row %d is drawn %v times, want about %v", i, c, want)
		}
	}
}
