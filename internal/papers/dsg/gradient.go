package dsg

import (
	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// A gradient is the function that doubly stochastic functional gradients learn (Dai et
// al. 2014, algorithms 1 and 2): each step adds a block of random features. The features
// of a block are normalised, so that each block is an unbiased estimate of the kernel.
type gradient struct {
	bank   *features.Bank
	scores int
	steps  int
	w      []float64 // coefficients of all features × scores
	mean   []float64 // coefficients of the mean of the iterates
	served []float32
	f      []float64 // scratch
	block  []float64 // scratch
}

func newGradient(dim, blockSize, scores int, scale float64, seed uint64) *gradient {
	m := features.Map{Kernel: kernel.Gaussian{Scale: scale}, Dim: dim, BlockSize: blockSize, Seed: seed}
	return &gradient{bank: features.NewBank(m), scores: scores, block: make([]float64, 2*blockSize*scores)}
}

// features returns the number of random features.
func (g *gradient) features() int { return len(g.w) / g.scores }

// step learns the rows of x with the given rate and penalty. slopes receives the predictions and
// replaces them by the derivatives of their losses.
func (g *gradient) step(x []float32, rows int, rate, penalty float64, slopes func(f []float64)) {
	g.f = g.predict(g.f, g.w, x, rows)
	slopes(g.f)
	for i := range g.w {
		g.w[i] *= 1 - rate*penalty
	}
	b := g.bank.Blocks()
	g.bank.Grow(b + 1)
	g.bank.Gradient(g.block, b, x, g.f, g.scores)
	factor := -rate / float64(rows*g.bank.Map().BlockSize)
	for _, d := range g.block {
		g.w = append(g.w, factor*d)
		g.mean = append(g.mean, 0)
	}
	g.steps++
	for i, w := range g.w {
		g.mean[i] += (w - g.mean[i]) / float64(g.steps)
	}
}

// predict sets dst to the function with coefficients w at the rows of x.
func (g *gradient) predict(dst, w []float64, x []float32, rows int) []float64 {
	if cap(dst) < rows*g.scores {
		dst = make([]float64, rows*g.scores)
	}
	dst = dst[:rows*g.scores]
	clear(dst)
	if len(w) == 0 {
		return dst
	}
	g.served = g.served[:0]
	for _, v := range w {
		g.served = append(g.served, float32(v))
	}
	g.bank.Sum(dst, x, g.served, g.scores)
	return dst
}

// topEigenvalue returns the largest eigenvalue of the Gaussian kernel matrix of the first rows of
// x, at most 512, divided by the number of these rows.
func topEigenvalue(x []float32, dim int, scale float64) float64 {
	n := min(512, len(x)/dim)
	k := make([]float64, n*n)
	for i := range n {
		for j := range n {
			k[i*n+j] = gaussian(squaredDistance(x, x, i, j, dim), scale) / float64(n)
		}
	}
	return vec.MaxEigenvalue(k, n)
}
