package optim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// long is whether to test at the full sizes, which takes about a minute.
var long = os.Getenv("ACCRETE_TEST_LONG") == "1"

// random returns n x p standard normal numbers, each row of the norm 1.
func random(r *rand.Rand, n, p int) []float64 {
	a := make([]float64, n*p)
	for i := range n {
		row, norm := a[i*p:(i+1)*p], 0.0
		for j := range row {
			row[j] = r.NormFloat64()
			norm += row[j] * row[j]
		}
		for j := range row {
			row[j] /= math.Sqrt(norm)
		}
	}
	return a
}

// losses are those that a Problem can have.
var losses = func() (all []loss.Dual) {
	for _, l := range loss.All {
		if l, ok := l.(loss.Dual); ok && l.Scores(2) == 1 {
			all = append(all, l)
		}
	}
	return all
}()

// targetsOf returns targets of loss l that a hidden x explains, with some noise.
func targetsOf(r *rand.Rand, l loss.Dual, a matrix.Matrix) []float64 {
	n, p := a.Dims()
	x, b := make([]float64, p), make([]float64, n)
	for j := range x {
		x[j] = r.NormFloat64()
	}
	matrix.Multiply(b, a, x)
	for i := range b {
		b[i] += 0.3 * r.NormFloat64()
		if l.Classifies() {
			b[i] = class(b[i])
		}
	}
	return b
}

// class returns 1 for positive numbers, and otherwise 0.
func class(v float64) float64 {
	if v > 0 {
		return 1
	}
	return 0
}

func newProblem(seed uint64, n, p int, l loss.Dual, l2, l1 float64) *Problem {
	r := rand.New(rand.NewPCG(seed, 1))
	a := matrix.NewDense(n, p, random(r, n, p))
	return &Problem{A: a, Targets: targetsOf(r, l, a), Loss: l, L2: l2, L1: l1}
}

// setting is a number of primal and of dual coordinates.
type setting struct{ q, m int }

// eachSetting calls f with every loss and with the settings of interest, at
// n=500 and p=80 in long tests.
func eachSetting(t *testing.T, f func(t *testing.T, p *Problem, q, m int)) {
	n, p := 60, 16
	if long {
		n, p = 500, 80
	}
	for _, l := range losses {
		for _, s := range []setting{{p, 1}, {1, 1}, {8, 10}, {p, n}, {1, n}} {
			for _, l2 := range []float64{1e-2, 1e-3} {
				if !long && l2 < 1e-2 && s.q < p {
					continue
				}
				t.Run(fmt.Sprintf("%v q=%d m=%d l2=%v", l, s.q, s.m, l2), func(t *testing.T) {
					f(t, newProblem(1, n, p, l, l2, 0), s.q, s.m)
				})
			}
		}
	}
}

func distance(x, y []float64) float64 {
	var s float64
	for i, v := range x {
		s += (v - y[i]) * (v - y[i])
	}
	return math.Sqrt(s)
}
