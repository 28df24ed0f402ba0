package optim

import "math"

// A Certificate bounds the distance of an x from the optimum x*, which need not be known, by means
// of a dual vector y: P(x*) is between Dual and Primal.
type Certificate struct {
	Primal, Dual float64
	Relative     float64 // Gap relative to P(0), or Gap itself if P(0) is 0

	// Distance bounds ‖x-x*‖ by √(2 Gap/λ₂), because P is λ₂-strongly convex. So
	// |f(z)-f*(z)| ≤ ‖z‖·Distance for the linear functions f of x and f* of x*.
	Distance float64
}

// Gap bounds P(x) - P(x*).
func (c Certificate) Gap() float64 { return c.Primal - c.Dual }

func newCertificate(primal, dual, unit, convexity float64) Certificate {
	gap := primal - dual
	return Certificate{primal, dual, gap / unit, math.Sqrt(2 * max(0, gap) / convexity)}
}

// CertifyBy certifies x by the value of D at any y.
func (p *Problem) CertifyBy(x []float64, dual float64) Certificate {
	return p.certificate(p.Primal(x), dual)
}

func (p *Problem) certificate(primal, dual float64) Certificate {
	return newCertificate(primal, dual, p.GapUnit(), p.L2)
}

// mostHalvings is enough for any slope: 2⁻⁶⁰ is 0 to a float64 beside 1.
const mostHalvings = 60

// Certify certifies any x by y_i = t φ_i'(⟨A_i, x⟩) with the best t of 1, 1/2, 1/4 and so on, and
// also returns that y. The bound holds everywhere, but it is loose far from the optimum. With t = 1
// alone it would be useless there, because D falls with t² ‖Aᵀy‖²/λ₂.
func (p *Problem) Certify(x []float64) (Certificate, []float64) {
	n, columns := p.A.Dims()
	z, u := make([]float64, n), make([]float64, columns)
	p.multiply(z, x)
	primal := p.primal(x, z)
	for i := range p.Targets {
		p.gradient(z[i:i+1], z[i:i+1], i)
	}
	p.multiplyTransposed(u, z)
	dual := p.dual(z, u)
	for range mostHalvings { // D is concave along y: once it falls, it keeps falling
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
