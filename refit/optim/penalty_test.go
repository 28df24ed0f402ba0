package optim

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// grouped returns a problem whose columns are in groups of two but for the last one,
// which λ₁ leaves alone, with its matrix in every form.
func grouped(l loss.Dual, l1 float64) (p *Problem, forms map[string]matrix.Matrix) {
	const n, columns = 60, 13
	p = newProblem(7, n, columns, l, 1e-2, l1)
	p.Group, p.Exempt = 2, 1
	single := make([]float32, n*columns)
	elements := make([]float64, n*columns)
	dense := p.A.(*matrix.Dense)
	for i := range elements {
		single[i] = float32(dense.Rows()[i])
		elements[i] = float64(single[i])
	}
	identity := make([]float64, columns*columns)
	for j := range columns {
		identity[j*columns+j] = 1
	}
	p.A = matrix.NewDense(n, columns, elements)
	return p, map[string]matrix.Matrix{
		"dense": p.A, "float32": matrix.NewFloat32(n, columns, single, 1),
		"factored": matrix.NewFactored(matrix.NewDense(n, columns, elements), matrix.NewDense(columns, columns, identity)),
	}
}

// TestGroupsAreThoseOfTheBlockForm solves for groups of columns with every method and
// every form of the matrix, against the block form with the regulariser Group.
func TestGroupsAreThoseOfTheBlockForm(t *testing.T) {
	for _, l := range []loss.Dual{loss.Square{}, loss.Logistic{}, loss.SmoothedHinge{}} {
		p, forms := grouped(l, 0.02)
		b := &BlockProblem{A: NewColumns(p.A.(*matrix.Dense), 2, 2, 2, 2, 2, 2, 1)}
		for range 6 {
			b.Regularizers = append(b.Regularizers, Group{L2: p.L2, Norm: p.L1})
		}
		b.Regularizers = append(b.Regularizers, Elastic{L2: p.L2})
		for _, y := range p.Targets {
			b.Losses = append(b.Losses, Sum{Loss: l, Targets: []float64{y}})
		}
		want, err := SolveBlocks(context.Background(), b, Config{Gap: 1e-12, Passes: 5000}, Start{})
		if err != nil {
			t.Fatal(err)
		}
		for form, a := range forms {
			p.A = a
			for _, c := range []Config{{}, {Dual: 7}, {Method: SDCA}, {Method: SVRG}} {
				c.Gap, c.Passes = 1e-11, 20000
				s := solve(t, p, c)
				if d := distance(s.X, want.X); d > 1e-4 || math.Abs(s.Certificate.Primal-want.Certificate.Primal) > 1e-10 {
					t.Errorf("%v, %s, %s, m=%d: off by %v, P = %v, want %v", l, form, c.Method, c.Dual, d, s.Certificate.Primal, want.Certificate.Primal)
				}
				for j := 0; j < 12; j += 2 {
					if (s.X[j] == 0) != (s.X[j+1] == 0) {
						t.Errorf("%v, %s, %s: half of a group is 0: %v", l, form, c.Method, s.X)
					}
				}
			}
		}
	}
}

// TestCertificateOfGroupsIsNeverBelowTheTruth certifies points anywhere.
func TestCertificateOfGroupsIsNeverBelowTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, l := range []loss.Dual{loss.Square{}, loss.Logistic{}} {
		p, _ := grouped(l, 0.05)
		best := solve(t, p, Config{Gap: 1e-12, Passes: 5000})
		for range 200 {
			x := random(r, 1, 13)
			scale(x, math.Exp(2*r.NormFloat64()))
			c, _ := p.Certify(x)
			if c.Gap() < p.Primal(x)-best.Certificate.Primal-1e-12 {
				t.Errorf("%v: gap %v, truth %v", l, c.Gap(), p.Primal(x)-best.Certificate.Primal)
			}
		}
	}
}

func TestGroupsThatDoNotFitAreErrors(t *testing.T) {
	for _, set := range []func(p *Problem){
		func(p *Problem) { p.Group = 5 }, func(p *Problem) { p.Exempt = 14 }, func(p *Problem) { p.Exempt = -1 }, func(p *Problem) { p.Group = -2 },
	} {
		p, _ := grouped(loss.Square{}, 0.1)
		set(p)
		if p.Validate() == nil {
			t.Errorf("no error for groups of %d, %d exempt", p.Group, p.Exempt)
		}
	}
	p, _ := grouped(loss.Square{}, 0.1)
	if _, err := Solve(context.Background(), p, Config{Primal: 4}, Start{}); err == nil {
		t.Error("no error for a part of the columns")
	}
}
