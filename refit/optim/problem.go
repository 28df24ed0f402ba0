package optim

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// A Problem is the objective P of the package comment, together with its dual
//
//	D(y) = -1/(2λ₂) ‖soft(-Aᵀy/n, λ₁)‖² - 1/n Σ φ_i*(y_i),
//
// which is never above P ((1) and (7)). The weight of a row is a factor of its φ.
type Problem struct {
	A       matrix.Matrix
	Targets []float64 // targets of the rows: a class, 0 or 1, or a number, as Loss takes it
	Weights []float64 // weights of the rows, 0 or more; nil for 1 each
	Loss    loss.Dual // loss of one score
	L2      float64   // λ₂, more than 0
	L1      float64   // λ₁, 0 or more

	// Group is the number of consecutive columns whose norm λ₁ penalises, instead of their
	// magnitudes (Yuan and Lin 2006); 0 stands for 1. λ₁ does not penalise the last Exempt columns.
	Group, Exempt int
}

// Validate returns an error if a field of p is not valid.
func (p *Problem) Validate() error {
	n, _ := p.A.Dims()
	switch {
	case p.Loss == nil:
		return fmt.Errorf("problem without a loss")
	case p.Loss.Scores(2) != 1:
		return fmt.Errorf("the loss %v has more than one score", p.Loss)
	case len(p.Targets) != n:
		return fmt.Errorf("%d targets for %d rows", len(p.Targets), n)
	case !(p.L2 > 0) || math.IsInf(p.L2, 1):
		return fmt.Errorf("l2 is %v: want more than 0", p.L2)
	case !(p.L1 >= 0) || math.IsInf(p.L1, 1):
		return fmt.Errorf("l1 is %v: want 0 or more", p.L1)
	case p.Weights != nil && len(p.Weights) != n:
		return fmt.Errorf("%d weights for %d rows", len(p.Weights), n)
	}
	if err := p.validateGroups(); err != nil {
		return err
	}
	for i, w := range p.Weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("the weight of row %d is %v: want 0 or more", i, w)
		}
	}
	for i, b := range p.Targets {
		switch {
		case p.Loss.Classifies() && b != 0 && b != 1:
			return fmt.Errorf("the target of row %d is %v: want the class 0 or 1 for the loss %v", i, b, p.Loss)
		case math.IsNaN(b) || math.IsInf(b, 0):
			return fmt.Errorf("the target of row %d is %v", i, b)
		}
	}
	return nil
}

// Primal returns P(x).
func (p *Problem) Primal(x []float64) float64 {
	z := make([]float64, len(p.Targets))
	p.multiply(z, x)
	return p.primal(x, z)
}

// primal returns P(x), given z = Ax.
func (p *Problem) primal(x, z []float64) float64 {
	var s, norm float64
	for i := range p.Targets {
		s += p.value(i, z[i:i+1])
	}
	s /= float64(len(p.Targets))
	if p.L1 > 0 {
		norm = p.l1Norm(x)
	}
	return s + float64(p.L2/2*vec.Dot(x, x)) + float64(p.L1*norm)
}

// dual returns D(y), given u = Aᵀy.
func (p *Problem) dual(y, u []float64) float64 {
	var s, g float64
	var at [1]float64
	for i, v := range y {
		s += p.conjugate(at[:], i, v)
	}
	n := float64(len(p.Targets))
	if p.byColumn() {
		for _, v := range u {
			v = soft(-v/n, p.L1)
			g += float64(v * v)
		}
	} else {
		moved := make([]float64, len(u))
		for j, v := range u {
			moved[j] = -v / n
		}
		p.threshold(moved, p.L1)
		g = vec.Dot(moved, moved)
	}
	return -g/(2*p.L2) - s/n
}

// GapUnit returns P(0), of which relative gaps are multiples, or 1 if P(0) is 0.
func (p *Problem) GapUnit() float64 {
	var s float64
	var at [1]float64
	for i := range p.Targets {
		s += p.value(i, at[:])
	}
	if s == 0 {
		return 1
	}
	return s / float64(len(p.Targets))
}

func (p *Problem) size() (rows, columns int)           { return p.A.Dims() }
func (p *Problem) multiply(dst, x []float64)           { matrix.Multiply(dst, p.A, x) }
func (p *Problem) multiplyTransposed(dst, y []float64) { matrix.MultiplyTransposed(dst, p.A, y) }
func (p *Problem) convexity() float64                  { return p.L2 }

// soft moves v towards 0 by t, but not past it: soft thresholding.
func soft(v, t float64) float64 {
	switch {
	case v > t:
		return v - t
	case v < -t:
		return v + t
	}
	return 0
}
