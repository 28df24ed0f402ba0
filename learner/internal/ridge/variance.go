package ridge

import (
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/leastsquares"
)

// Variance returns the variance of the label around its prediction, for each scaled row of x and
// each target: rows × targets. For each target it uses the member with the largest share. It
// returns nil if the equations have no solution.
func (r *ridge) Variance(x []float32) []float64 {
	n, rows, targets := r.n(), len(x)/r.Dim, r.Head.Targets()
	phi, z := make([]float32, rows*(n-1)), make([]float64, n)
	r.bank.Features(phi, 0, x)
	out := make([]float64, rows*targets)
	factor, inverse := make([]float64, n*n), make([]float64, n*n)
	for e := range r.members {
		m, parameters := &r.members[e], 0.0
		for j, u := range r.Head.Scales {
			if r.best(j) != e {
				continue
			}
			if parameters == 0 { // first target of this member
				if !m.Factorise(factor, r.penalty) {
					return nil
				}
				// The rows behind r.noise had a leverage as well when they were predicted. On
				// average it is the leverage of the number of parameters that the penalty leaves
				// effective: n - penalty·tr gram⁻¹.
				vec.InvertCholesky(inverse, factor, n)
				parameters = float64(n)
				for i := range n - 1 {
					row := inverse[i*n+i : (i+1)*n]
					parameters -= float64(r.penalty * vec.Dot(row, row))
				}
			}
			scatter := r.noise[j] / (1 + max(0, parameters)/max(1, m.Rows))
			scatter *= float64(u.Deviation * u.Deviation)
			for i := range rows {
				for l, v := range phi[i*(n-1) : (i+1)*(n-1)] {
					z[l] = float64(v) / r.norm()
				}
				z[n-1] = 1
				out[i*targets+j] = scatter * (1 + leastsquares.Leverage(factor, z))
			}
		}
	}
	return out
}
