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
// and batches of 16,384; their paper does not. Here δ is the penalty that leave-one-out
// chose on half as many rows as a mini-batch has by default, so that a step does not fit
// the noise of its rows. Should the iterate become much worse than its average on rows
// that are new to both, its steps fit noise nevertheless, and δ grows (Levenberg 1944).
type precond struct {
	damping  float64 // δ, relative to the penalty
	recent   float64 // running mean of the squared gradients
	averaged float64 // likewise, of the average's

	phi     []float32 // rows × features
	gram    []float64
	column  []float64
	scratch vec.Scratch
}

const (
	// precondRate is the step size in each block: half a Newton step, because blocks
	// do not see the steps in the others. Chosen by trial, see docs/constants.md.
	precondRate = 0.5

	// The damping is multiplied by dampingGrowth at a mini-batch after which the running mean of
	// the squared gradients of the iterate, over about recentBatches, exceeds that of the average
	// by the factor growthAlarm. Otherwise it falls towards 1, by dampingDecay. A change of the
	// stream does not raise it, because the average follows a change more slowly than the iterate.
	// Chosen by trial.
	maxDamping    = 1e6
	dampingGrowth = 2
	dampingDecay  = 0.9
	growthAlarm   = 2
	recentBatches = 8

	// minDiagonal keeps the covariance positive definite in float64.
	minDiagonal = 1e-12
)

// adjust adapts the damping to the squared gradients of a mini-batch, those of the
// iterate and of the average.
func (p *precond) adjust(iterate, average float64) {
	if p.damping == 0 {
		p.damping, p.recent, p.averaged = 1, iterate, average
	}
	p.recent += float64((iterate - p.recent) / recentBatches)
	p.averaged += float64((average - p.averaged) / recentBatches)
	if p.recent > growthAlarm*p.averaged {
		p.damping = min(maxDamping, dampingGrowth*p.damping)
	} else {
		p.damping = max(1, dampingDecay*p.damping)
	}
}

func (p *precond) Apply(s *Step, slope []float64) {
	p.adjust(s.Squares, s.Averaged)
	size := 2 * s.BlockSize() * s.Head.Scores()
	for b := s.from; b < s.to; b++ {
		p.block(s, b, slope[(b-s.from)*size:(b-s.from+1)*size])
	}
}

// block turns the gradient in a block into the step.
func (p *precond) block(s *Step, block int, slope []float64) {
	n, k, rows := 2*s.BlockSize(), s.Head.Scores(), len(s.Shares)
	p.phi = state.Extend(p.phi[:0], rows*n)
	p.gram = state.Extend(p.gram[:0], n*n)
	p.column = state.Extend(p.column[:0], n)
	s.Features.Features(p.phi, block, s.X)
	for i, share := range s.Shares {
		root := float32(math.Sqrt(share * s.Smoothness / float64(s.BlockSize()))) // features here have the norm √BlockSize
		for j := range p.phi[i*n : (i+1)*n] {
			p.phi[i*n+j] *= root
		}
	}
	clear(p.gram)
	vec.Gram(p.gram, p.phi, n, &p.scratch)
	for i := range n {
		p.gram[i*n+i] += max(p.damping*s.Lambda, minDiagonal)
	}
	if !vec.Cholesky(p.gram, n) {
		clear(slope)
		return
	}
	step := s.rate / float64(s.BlockSize()*(s.to-s.from))
	for c := range k {
		for i := range n {
			p.column[i] = slope[i*k+c]
		}
		vec.CholeskySolve(p.gram, n, p.column)
		for i, v := range p.column {
			slope[i*k+c] = -step * v
		}
	}
}

func (*precond) React()                  {}
func (*precond) Grow(int)                {}
func (*precond) Widen(*target.Head, int) {}

func (p *precond) Save(a *state.Arrays) {
	state.Put(a, "precond", 3, []float64{p.damping, p.recent, p.averaged})
}

func (p *precond) Load(s *state.Reader, _, _ int) {
	v := state.Take[float64](s, "precond", 1, 3)
	if s.Err == nil {
		p.damping, p.recent, p.averaged = v[0], v[1], v[2]
		s.Require(min(v[0], v[1], v[2]) >= 0 && v[0] <= maxDamping, "precond: scales are %v", v)
	}
}
