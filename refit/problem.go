package refit

import (
	"fmt"
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// A Problem is the objective P of the package's comment, and with it its dual
//
//	D(y) = -1/(2λ₂) ‖soft(-Aᵀy/n, λ₁)‖² - 1/n Σ φ_i*(y_i),
//
// which is never above P (Yu, Lin and Yang 2015, (1) and (7)). A row's weight is a
// factor of its φ.
type Problem struct {
	A       Matrix
	Targets []float64 // one a row
	Weights []float64 // one a row, 0 or more; nil for 1 each
	Loss    Loss
	L2      float64 // λ₂, more than 0
	L1      float64 // λ₁, 0 or more
}

func (p *Problem) validate() error {
	n, _ := p.A.Dims()
	switch {
	case p.Loss == nil:
		return fmt.Errorf("a problem without a loss")
	case len(p.Targets) != n:
		return fmt.Errorf("%d targets of %d rows", len(p.Targets), n)
	case !(p.L2 > 0) || math.IsInf(p.L2, 1):
		return fmt.Errorf("l2 is %v: want more than 0", p.L2)
	case !(p.L1 >= 0) || math.IsInf(p.L1, 1):
		return fmt.Errorf("l1 is %v: want 0 or more", p.L1)
	}
	for i, w := range p.Weights {
		if !(w >= 0) || math.IsInf(w, 1) || len(p.Weights) != n {
			return fmt.Errorf("the weight of row %d of %d is %v: want one for each of %d rows, 0 or more", i, len(p.Weights), w, n)
		}
	}
	for i, b := range p.Targets {
		switch p.Loss.(type) {
		case Square:
			if math.IsNaN(b) || math.IsInf(b, 0) {
				return fmt.Errorf("the target of row %d is %v", i, b)
			}
		default:
			if b != 1 && b != -1 {
				return fmt.Errorf("the target of row %d is %v: want -1 or 1 for the loss %v", i, b, p.Loss)
			}
		}
	}
	return nil
}

// Primal is P(x).
func (p *Problem) Primal(x []float64) float64 {
	z := make([]float64, len(p.Targets))
	multiply(z, p.A, x)
	return p.primal(x, z)
}

// primal is P(x), where z is Ax.
func (p *Problem) primal(x, z []float64) float64 {
	var s, norm float64
	for i := range p.Targets {
		s += p.value(i, z[i])
	}
	s /= float64(len(p.Targets))
	if p.L1 > 0 {
		for _, v := range x {
			norm += math.Abs(v)
		}
	}
	return s + float64(p.L2/2*vec.Dot(x, x)) + float64(p.L1*norm)
}

// Dual is D(y).
func (p *Problem) Dual(y []float64) float64 {
	_, cols := p.A.Dims()
	u := make([]float64, cols)
	multiplyTransposed(u, p.A, y)
	return p.dual(y, u)
}

// dual is D(y), where u is Aᵀy.
func (p *Problem) dual(y, u []float64) float64 {
	var s, g float64
	for i := range p.Targets {
		s += p.conjugate(i, y[i])
	}
	n := float64(len(p.Targets))
	for _, v := range u {
		v = soft(-v/n, p.L1)
		g += float64(v * v)
	}
	return -g/(2*p.L2) - s/n
}

// unit is that of relative gaps: P(0), or 1 if that is 0.
func (p *Problem) unit() float64 {
	var s float64
	for i := range p.Targets {
		s += p.value(i, 0)
	}
	if s == 0 {
		return 1
	}
	return s / float64(len(p.Targets))
}

// soft is v moved towards 0 by t, and not past it.
func soft(v, t float64) float64 {
	switch {
	case v > t:
		return v - t
	case v < -t:
		return v + t
	}
	return 0
}

// A Certificate bounds how far an x is from the optimum x* without knowing it,
// through a y: P(x*) is between Dual and Primal.
type Certificate struct {
	Primal, Dual float64
	Relative     float64 // Gap over P(0), or Gap if that is 0

	// Distance bounds ‖x-x*‖, because P is λ₂-strongly convex: √(2 Gap/λ₂). So
	// |f(z)-f*(z)| <= ‖z‖·Distance for the linear functions f of x and f* of x*.
	Distance float64
}

// Gap bounds P(x) - P(x*).
func (c Certificate) Gap() float64 { return c.Primal - c.Dual }

func (p *Problem) certificate(primal, dual float64) Certificate {
	gap := primal - dual
	return Certificate{primal, dual, gap / p.unit(), math.Sqrt(2 * max(0, gap) / p.L2)}
}

// Certify certifies any x, whatever it comes from, through y_i = t φ_i'(⟨A_i, x⟩)
// with the best t of 1, 1/2, 1/4 and so on, and returns that y too. The bound is
// true, but loose far from the optimum. With t = 1 alone it would be useless there:
// D falls with t² ‖Aᵀy‖²/λ₂.
func (p *Problem) Certify(x []float64) (Certificate, []float64) {
	n, cols := p.A.Dims()
	z, u := make([]float64, n), make([]float64, cols)
	multiply(z, p.A, x)
	primal := p.primal(x, z)
	for i := range p.Targets {
		z[i] = p.slope(i, z[i])
	}
	multiplyTransposed(u, p.A, z)
	dual := p.dual(z, u)
	for range 60 { // D is concave along y: once it falls, it goes on falling
		scale(z, 0.5)
		scale(u, 0.5)
		next := p.dual(z, u)
		if !(next > dual) {
			scale(z, 2)
			break
		}
		dual = next
	}
	return p.certificate(primal, dual), z
}

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}

// CertifyPair certifies x through y, which has one number a row.
func (p *Problem) CertifyPair(x, y []float64) Certificate {
	return p.certificate(p.Primal(x), p.Dual(y))
}
