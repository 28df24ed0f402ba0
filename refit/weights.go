package refit

import "math"

// What a row's loss is, with its weight: w φ is w/γ-smooth, and its conjugate
// w φ*(y/w). Without Weights each row has the weight 1.

func (p *Problem) value(i int, z float64) float64 {
	v := p.Loss.Value(z, p.Targets[i])
	if p.Weights != nil {
		v *= p.Weights[i]
	}
	return v
}

func (p *Problem) slope(i int, z float64) float64 {
	v := p.Loss.Slope(z, p.Targets[i])
	if p.Weights != nil {
		v *= p.Weights[i]
	}
	return v
}

func (p *Problem) start(i int) float64 {
	v := p.Loss.Start(p.Targets[i])
	if p.Weights != nil {
		v *= p.Weights[i]
	}
	return v
}

func (p *Problem) conjugate(i int, y float64) float64 {
	if p.Weights == nil {
		return p.Loss.Conjugate(y, p.Targets[i])
	}
	w := p.Weights[i]
	switch {
	case w > 0:
		return float64(w * p.Loss.Conjugate(y/w, p.Targets[i]))
	case y == 0:
		return 0
	}
	return math.Inf(1)
}

// prox is the β that maximises sβ - wφ*(β/w) - r/2 (β-y)²: with β = wα, that is w
// times the α that maximises sα - φ*(α) - rw/2 (α-y/w)².
func (p *Problem) prox(i int, s, y, r float64) float64 {
	if p.Weights == nil {
		return p.Loss.Prox(s, y, p.Targets[i], r)
	}
	w := p.Weights[i]
	if w == 0 {
		return 0
	}
	return float64(w * p.Loss.Prox(s, y/w, p.Targets[i], float64(r*w)))
}

// gamma is the strong convexity of all conjugates.
func (p *Problem) gamma() float64 {
	most := 0.0
	for _, w := range p.Weights {
		most = max(most, w)
	}
	if most == 0 {
		most = 1
	}
	return p.Loss.Gamma() / most
}

// shares returns weights as multiples of their mean, or nil if all are alike.
func shares(weights []float64) []float64 {
	sum, alike := 0.0, true
	for _, w := range weights {
		sum += w
		alike = alike && w == weights[0]
	}
	if alike {
		return nil
	}
	mean := sum / float64(len(weights))
	all := make([]float64, len(weights))
	for i, w := range weights {
		all[i] = w / mean
	}
	return all
}
