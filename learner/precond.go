package learner

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// precond solves with the covariance of a block's features on the mini-batch,
// as the code that the authors of doubly stochastic gradients have published
// does, and their paper does not: (h·ΦᵀΦ/B + δ)⁻¹ Φᵀg/B, where h is the
// loss's smoothness. Theirs has δ = 10⁻⁷ and batches of 16,384; ours grows as
// the mini-batch shrinks, because a covariance of few rows says little. Use it
// with mini-batches of at least four times the features of a block.
type precond struct {
	phi     []float32 // rows × features
	gram    []float64
	column  []float64
	scratch vec.Scratch
}

// precondRate is the step in each block: half a Newton step, which blocks that
// do not know of each other can take.
const precondRate = 0.5

func (p *precond) turn(d *descent, slope []float64, from, to int, _ float64) {
	n, k := 2*d.config.Width, d.head.sums()
	rows := len(d.shares)
	h := d.smoothness / float64(d.config.Width) // features here have the norm √width
	p.phi = extend(p.phi[:0], rows*n)
	p.gram = extend(p.gram[:0], n*n)
	p.column = extend(p.column[:0], n)
	for b := from; b < to; b++ {
		d.features.Features(p.phi, b, d.x)
		for i, share := range d.shares {
			root := float32(math.Sqrt(share * h))
			for j := range p.phi[i*n : (i+1)*n] {
				p.phi[i*n+j] *= root
			}
		}
		clear(p.gram)
		vec.Gram(p.gram, p.phi, n, &p.scratch)
		trace := 0.0
		for i := range n {
			trace += p.gram[i*n+i]
		}
		damp := max(0.5/float64(rows)*d.smoothness, 1e-7*trace/float64(n), 1e-12)
		for i := range n {
			p.gram[i*n+i] += damp
		}
		part := slope[(b-from)*n*k : (b-from+1)*n*k]
		if !vec.Cholesky(p.gram, n) {
			clear(part)
			continue
		}
		step := precondRate / float64(d.config.Width*(to-from))
		for c := range k {
			for i := range n {
				p.column[i] = part[i*k+c]
			}
			vec.CholeskySolve(p.gram, n, p.column)
			for i, v := range p.column {
				part[i*k+c] = -step * v
			}
		}
	}
}

func (*precond) grow(int)               {}
func (*precond) widen(*head, int)       {}
func (*precond) save(*arrays)           {}
func (*precond) load(*source, int, int) {}
