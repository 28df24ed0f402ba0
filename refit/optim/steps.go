package optim

import "math"

// stepSizes are those of DSPDC, and what the theorems promise of them.
type stepSizes struct {
	tau, sigma float64 // primal and dual
	theta      float64 // extrapolation of x

	// contraction bounds what remains after a step, in expectation, of the weighted
	// squared distance to the optimum (Theorem 1), or of the gap (Theorem 2).
	contraction float64
}

// newStepSizes returns those for q of p primal and m of n dual coordinates,
// Λ = scale, λ = l2 and γ = gamma, by Theorem 1 or 2: (21) to (25). τσ = nmq/(4pΛ).
func newStepSizes(n, p, m, q int, scale, l2, gamma float64, theorem int) stepSizes {
	nm, pq := float64(n)/float64(m), float64(p)/float64(q)
	c := math.Sqrt(scale / (l2 * gamma * float64(n)))
	w := float64(c * nm * pq)
	s := math.Sqrt(float64((nm-pq)*(nm-pq)) + float64(4*w*w))
	tau, sigma := nm-pq+s, pq-nm+s
	// The smaller of the two is the difference of numbers that may be close: it
	// follows from their product, 4w².
	if nm < pq {
		tau = 4 * w * w / sigma
	} else {
		sigma = 4 * w * w / tau
	}
	denominator := w + max(nm, pq)
	if theorem == 2 {
		denominator *= 2
	}
	return stepSizes{
		tau:         pq / l2 / tau,
		sigma:       nm * float64(n) / gamma / sigma,
		theta:       pq - pq/denominator,
		contraction: 1 - 1/denominator,
	}
}
