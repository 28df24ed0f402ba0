package optim

import (
	"math"
	"slices"
)

// The loss of a row with its weight: w φ is w/γ-smooth, and its conjugate is
// w φ*(y/w). Without Weights each row has the weight 1.

func (p *Problem) value(i int, z []float64) float64 {
	v := p.Loss.Value(z, p.Targets[i])
	if p.Weights != nil {
		v *= p.Weights[i]
	}
	return v
}

// gradient sets dst to φ_i'(z). They may be the same slice.
func (p *Problem) gradient(dst, z []float64, i int) {
	p.Loss.Grad(dst, z, p.Targets[i])
	if p.Weights != nil {
		dst[0] *= p.Weights[i]
	}
}

// start sets y to the start of the dual variable of row i.
func (p *Problem) start(y []float64, i int) {
	p.Loss.DualStart(y, p.Targets[i])
	if p.Weights != nil {
		y[0] *= p.Weights[i]
	}
}

// conjugate returns φ_i*(y). It overwrites at, which has the length 1.
func (p *Problem) conjugate(at []float64, i int, y float64) float64 {
	if p.Weights == nil {
		at[0] = y
		return p.Loss.Conjugate(at, p.Targets[i])
	}
	w := p.Weights[i]
	switch {
	case w > 0:
		at[0] = y / w
		return float64(w * p.Loss.Conjugate(at, p.Targets[i]))
	case y == 0:
		return 0
	}
	return math.Inf(1)
}

// prox sets y to the β that maximises sβ - wφ*(β/w) - r/2 (β-y)²: with β = wα, that
// is w times the α that maximises sα - φ*(α) - rw/2 (α-y/w)².
func (p *Problem) prox(y, s []float64, i int, r float64) {
	if p.Weights == nil {
		p.Loss.Prox(y, s, p.Targets[i], r)
		return
	}
	w := p.Weights[i]
	if w == 0 {
		y[0] = 0
		return
	}
	y[0] /= w
	p.Loss.Prox(y, s, p.Targets[i], float64(r*w))
	y[0] *= w
}

// gamma returns the strong convexity that all conjugates have.
func (p *Problem) gamma() float64 {
	most := 0.0
	if len(p.Weights) > 0 {
		most = slices.Max(p.Weights)
	}
	if most == 0 {
		most = 1
	}
	return 1 / p.Loss.Smoothness() / most
}
