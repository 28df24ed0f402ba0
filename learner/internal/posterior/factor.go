// Package posterior computes the posterior variance of a Gaussian process with the kernel of a
// model. It uses Bayesian linear regression on random features of the kernel (Bishop 2006, section
// 3.3.2).
package posterior

import (
	"math"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
)

// MaxFeatures is the number of random features that are used here for a model that has many: time
// and memory for a row grow with its square. Chosen by trial, see docs/constants.md.
const MaxFeatures = 64

// Bytes bounds the memory, in bytes and beside the State, for a model of any algorithm. The most
// random features that are used are the 256 of algorithm ridge.
const Bytes = 2 * 513 * 513 * 8

// A Factor computes the leverages of rows. It must not be used by several goroutines at once.
type Factor struct {
	bank  *features.Bank
	lower []float64 // Cholesky factor of the equations: lower triangle, row-major

	phi []float32 // scratch
	z   []float64
}

// plan returns the block size and the number of blocks for a model with these options. fixed is the
// number of random features of a model that never has more, all of which are used; with 0, they are
// the first random features of its kernel.
func plan(o engine.Options, fixed int) (blockSize, blocks int) {
	if fixed > 0 {
		return o.BlockSize, fixed / o.BlockSize
	}
	size := min(o.BlockSize, MaxFeatures)
	return size, max(1, min(o.MaxFeatures, MaxFeatures)/size)
}

func newFactor(o engine.Options, f *warmup.Fit, width, blockSize, blocks int) *Factor {
	o.BlockSize = blockSize
	bank := f.Bank(o.FeatureMap(width))
	bank.Grow(blocks)
	return &Factor{bank: bank}
}

// n returns the number of unknowns of the equations.
func (f *Factor) n() int { return 2*f.count() + 1 }

func (f *Factor) count() int { return f.bank.Blocks() * f.bank.Map().BlockSize }

// Leverages appends to dst the leverage zᵀA⁻¹z of each scaled row of x, where z are its features
// and A is the matrix of the equations.
func (f *Factor) Leverages(dst []float64, x []float32, rows int) []float64 {
	n := f.n()
	f.phi = state.Extend(f.phi[:0], rows*(n-1))
	f.bank.Features(f.phi, 0, x)
	f.z = state.Extend(f.z[:0], n)
	scale := 1 / math.Sqrt(float64(f.count()))
	for i := range rows {
		for j, v := range f.phi[i*(n-1) : (i+1)*(n-1)] {
			f.z[j] = float64(v) * scale
		}
		f.z[n-1] = 1
		dst = append(dst, leverage(f.lower, f.z))
	}
	return dst
}

// leverage returns the leverage of z, and overwrites z with the solution of a triangular system
// whose factor is l.
func leverage(l, z []float64) float64 {
	sum, at := 0.0, 0
	for i := range z {
		z[i] = (z[i] - vec.Dot(l[at:at+i], z[:i])) / l[at+i]
		sum += float64(z[i] * z[i])
		at += i + 1
	}
	if sum < maxLeverage {
		return sum
	}
	return maxLeverage // also if sum is not a number
}

// maxLeverage is the leverage of a row about which nothing is known. It is about the largest that
// the penalties of the equations allow.
const maxLeverage = 1e9

// Save adds f to the serving part of a State. f is nil before the first fit.
func (f *Factor) Save(a *state.Arrays) {
	var lower []float64
	if f != nil {
		lower = f.lower
	}
	state.Put(a, name, 1, lower)
}

const name = "posterior"

// Take reads what Save wrote.
func Take(s *state.Reader) (lower []float64) {
	return state.Take[float64](s, name, state.AnySize, 1)
}

// Load returns the Factor for what Take has read. The other arguments describe the model: its
// options, its fit f, and the number of inputs that it sees. Load returns nil before the first fit,
// when f is nil.
func Load(s *state.Reader, lower []float64, o engine.Options, f *warmup.Fit, width int) *Factor {
	if f == nil {
		s.Require(len(lower) == 0, "%s: %d values without a fit", name, len(lower))
		return nil
	}
	n := int(math.Sqrt(float64(2 * len(lower))))
	count := (n - 1) / 2
	size := o.BlockSize
	if count <= MaxFeatures {
		size = min(size, MaxFeatures)
	}
	s.Require(n%2 == 1 && n*(n+1)/2 == len(lower) && count > 0 && count%size == 0, "%s: %d values are not the factor for blocks of %d random features", name, len(lower), o.BlockSize)
	for i, at := 0, 0; i < n && s.Err == nil; i++ {
		at += i
		s.Require(lower[at] > 0, "%s: an element of the diagonal is %v", name, lower[at])
		at++
	}
	if s.Err != nil {
		return nil
	}
	factor := newFactor(o, f, width, size, count/size)
	factor.lower = lower
	return factor
}
