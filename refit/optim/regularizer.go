package optim

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// A Regularizer is the function g_j of one block. It is strongly convex.
type Regularizer interface {
	Value(x []float64) float64     // at an x where it is finite
	Conjugate(v []float64) float64 // the maximum over x of ⟨v,x⟩ - g(x)

	// Prox sets x to the α that minimises ⟨c,α⟩ + g(α) + inverseTau/2 ‖α-x‖² (44).
	// inverseTau is 0 or more.
	Prox(x, c []float64, inverseTau float64)

	Lambda() float64 // the strong convexity
}

// Elastic is L2/2 ‖x‖² + L1 ‖x‖₁.
type Elastic struct{ L2, L1 float64 }

func (g Elastic) Lambda() float64 { return g.L2 }

func (g Elastic) Value(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += math.Abs(v)
	}
	return float64(g.L2/2*vec.Dot(x, x)) + float64(g.L1*s)
}

func (g Elastic) Conjugate(v []float64) float64 {
	s := 0.0
	for _, w := range v {
		w = soft(w, g.L1)
		s += float64(w * w)
	}
	return s / (2 * g.L2)
}

func (g Elastic) Prox(x, c []float64, inverseTau float64) {
	for k, v := range x {
		x[k] = soft(float64(inverseTau*v)-c[k], g.L1) / (g.L2 + inverseTau)
	}
}

// Group is L2/2 ‖x‖² + Norm ‖x‖, which sets whole blocks to 0 (Yuan and Lin 2006).
type Group struct{ L2, Norm float64 }

func (g Group) Lambda() float64 { return g.L2 }

func (g Group) Value(x []float64) float64 {
	return float64(g.L2/2*vec.Dot(x, x)) + float64(g.Norm*norm(x))
}

func (g Group) Conjugate(v []float64) float64 {
	s := soft(norm(v), g.Norm)
	return s * s / (2 * g.L2)
}

func (g Group) Prox(x, c []float64, inverseTau float64) {
	for k, v := range x {
		x[k] = float64(inverseTau*v) - c[k]
	}
	length := norm(x)
	keep := 0.0
	if length > 0 {
		keep = soft(length, g.Norm) / length / (g.L2 + inverseTau)
	}
	for k := range x {
		x[k] *= keep
	}
}

// norm returns ‖x‖ without overflow.
func norm(x []float64) float64 {
	var unit float64
	for _, v := range x {
		unit = max(unit, math.Abs(v))
	}
	if unit == 0 {
		return 0
	}
	var s float64
	for _, v := range x {
		s += float64((v / unit) * (v / unit))
	}
	return float64(unit * math.Sqrt(s))
}
