package descent

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

// precond preconditions the gradient with the covariance of the features of a block
// on the mini-batch, (h·ΦᵀΦ/B + δ)⁻¹ Φᵀg/B, where h is the smoothness of the loss. The
// code published by the authors of doubly stochastic gradients does so, with δ = 10⁻⁷
// and batches of 16,384; their paper does not. The covariance of fewer rows is less
// reliable, and the gradients of later rows can grow from step to step: δ is raised as
// long as they do (Levenberg 1944).
type precond struct {
	damping float64 // δ times the rows of the mini-batch
	recent  float64 // running mean of the squared gradients
	least   float64 // minimum of recent, which rises slowly

	phi     []float32 // rows × features
	gram    []float64
	column  []float64
	scratch vec.Scratch
}

const (
	// precondRate is the step size in each block: half a Newton step, because blocks
	// do not see the steps in the others. Chosen by trial, see docs/constants.md.
	precondRate = 0.5

	// The damping starts at minDamping. It grows at a mini-batch after which the
	// running mean of the squared gradients, over about recentBatches, exceeds its
	// minimum by growthAlarm, and otherwise falls slowly. Chosen by trial.
	minDamping    = 0.1
	maxDamping    = 1e6
	dampingGrowth = 2
	dampingDecay  = 0.98
	growthAlarm   = 1.2
	recentBatches = 8
	minimumGrowth = 1.001 // of the minimum per mini-batch, so that it is forgotten

	// minDiagonal keeps the covariance positive definite in float64.
	minDiagonal = 1e-12
)

// adjust adapts the damping to the squared gradients of a mini-batch.
func (p *precond) adjust(squares float64) {
	if p.damping == 0 {
		p.damping, p.recent, p.least = minDamping, squares, squares
	}
	p.recent += float64((squares - p.recent) / recentBatches)
	p.least = min(p.recent, p.least*minimumGrowth)
	if p.recent > growthAlarm*p.least {
		p.damping = min(maxDamping, dampingGrowth*p.damping)
	} else {
		p.damping = max(minDamping, dampingDecay*p.damping)
	}
}

func (p *precond) Apply(s *Step, slope []float64) {
	n, k, rows := 2*s.BlockSize(), s.Head.Scores(), len(s.Shares)
	p.adjust(s.Squares)
	p.phi = state.Extend(p.phi[:0], rows*n)
	p.gram = state.Extend(p.gram[:0], n*n)
	p.column = state.Extend(p.column[:0], n)
	step := precondRate / float64(s.BlockSize()*(s.to-s.from))
	for b := s.from; b < s.to; b++ {
		s.Features.Features(p.phi, b, s.X)
		for i, share := range s.Shares {
			root := float32(math.Sqrt(share * s.Smoothness / float64(s.BlockSize()))) // features here have the norm √BlockSize
			for j := range p.phi[i*n : (i+1)*n] {
				p.phi[i*n+j] *= root
			}
		}
		clear(p.gram)
		vec.Gram(p.gram, p.phi, n, &p.scratch)
		for i := range n {
			p.gram[i*n+i] += max(p.damping/float64(rows)*s.Smoothness, minDiagonal)
		}
		part := slope[(b-s.from)*n*k : (b-s.from+1)*n*k]
		if !vec.Cholesky(p.gram, n) {
			clear(part)
			continue
		}
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

func (*precond) React()                  {}
func (*precond) Grow(int)                {}
func (*precond) Widen(*target.Head, int) {}

func (p *precond) Save(a *state.Arrays) {
	state.Put(a, "precond", 3, []float64{p.damping, p.recent, p.least})
}

func (p *precond) Load(s *state.Reader, _, _ int) {
	v := state.Take[float64](s, "precond", 1, 3)
	if s.Err == nil {
		p.damping, p.recent, p.least = v[0], v[1], v[2]
		s.Require(min(v[0], v[1], v[2]) >= 0 && v[0] <= maxDamping, "precond: scales are %v", v)
	}
}
