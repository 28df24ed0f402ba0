package refit

import "math"

// Steps are the sizes of DSPDC's steps, and what the theorems promise of them.
type Steps struct {
	Tau, Sigma float64 // primal and dual
	Theta      float64 // extrapolation of x

	// Contraction bounds what a step leaves, in expectation, of the weighted
	// squared distance to the optimum (Theorem 1), or of the gap (Theorem 2).
	Contraction float64
}

// NewSteps returns the steps for q of p primal and m of n dual coordinates,
// Λ = scale, λ = l2 and γ = gamma: those of Theorem 2 if gap, and of Theorem 1
// otherwise (Yu, Lin and Yang 2015, (21) to (25)). τσ = nmq/(4pΛ).
func NewSteps(n, p, m, q int, scale, l2, gamma float64, gap bool) Steps {
	nm, pq := float64(n)/float64(m), float64(p)/float64(q)
	c := math.Sqrt(scale / (l2 * gamma * float64(n)))
	w := float64(c * nm * pq)
	s := math.Sqrt(float64((nm-pq)*(nm-pq)) + float64(4*w*w))
	tau, sigma := nm-pq+s, pq-nm+s
	// The smaller of the two is the difference of numbers that may be near: it
	// follows from their product, 4w².
	if nm < pq {
		tau = 4 * w * w / sigma
	} else {
		sigma = 4 * w * w / tau
	}
	den := w + max(nm, pq)
	if gap {
		den *= 2
	}
	return Steps{
		Tau:         pq / l2 / tau,
		Sigma:       nm * float64(n) / gamma / sigma,
		Theta:       pq - pq/den,
		Contraction: 1 - 1/den,
	}
}
