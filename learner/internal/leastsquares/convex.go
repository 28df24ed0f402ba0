package leastsquares

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// convexSteps is the maximum number of steps of Convex.
const convexSteps = 1000

// Convex returns the numbers p, not negative and 1 in sum, for which Σᵢⱼ pᵢ aᵢⱼ pⱼ is least, given a
// symmetric matrix a that is positive semidefinite. Each step moves some of p from where the gradient
// is greatest to where it is least, up to the minimum between them.
func Convex(a []float64) []float64 {
	n := int(math.Sqrt(float64(len(a))))
	p, gradient := make([]float64, n), make([]float64, n)
	for i := range p {
		p[i] = 1 / float64(n)
	}
	for range convexSteps {
		for i := range gradient {
			gradient[i] = vec.Dot(a[i*n:(i+1)*n], p)
		}
		to, from := 0, -1
		for i, g := range gradient {
			if g < gradient[to] {
				to = i
			}
			if p[i] > 0 && (from < 0 || g > gradient[from]) {
				from = i
			}
		}
		gain, bend := gradient[from]-gradient[to], a[to*n+to]-2*a[to*n+from]+a[from*n+from]
		if !(gain > 1e-9*math.Abs(gradient[to])) || !(bend > 0) {
			break
		}
		move := min(p[from], gain/bend)
		p[from], p[to] = p[from]-move, p[to]+move
	}
	return p
}
