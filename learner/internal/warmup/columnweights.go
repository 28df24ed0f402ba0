package warmup

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

const (
	// minColumnWeight bounds a weight, relative to the mean: after a change of concept
	// other columns can matter. Chosen by trial, see docs/constants.md.
	minColumnWeight = 0.03

	// minRoundWeight bounds it from one round to the next, so that a column can come
	// back. Chosen by trial.
	minRoundWeight = 1e-3

	// weightingTargets is the number of targets that weights are computed for; more
	// are mixed. Chosen by trial.
	weightingTargets = 4

	// weightingWork bounds the multiply-adds of the derivatives in a round: of more
	// rows it takes some, evenly.
	weightingWork = 1 << 26
)

// weighting is a way to compute column weights. A weak penalty and many rounds find two
// columns among thirty whose product is all that matters, and fit noise more closely.
type weighting struct {
	rounds int
	ridge  float64 // of the kernel ridge regression that is differentiated
}

// weightings are those that are compared. Chosen by trial.
var weightings = []weighting{{3, 1e-3}, {8, 1e-5}}

// newColumnWeights returns the weight of each column in squared distances: the mean
// square of the derivative of a kernel ridge regression in that column, which is fitted
// again with the weights so far in each round (expected gradient outer product;
// recursive feature machine: Radhakrishnan, Beaglehole, Pandit and Belkin 2024). The
// kernel of this regression is Gaussian, whose derivative is simple, for models of every
// kernel. The weights have the mean 1.
func newColumnWeights(s sample, kind weighting) []float64 {
	s = s.mixed(weightingTargets)
	n, k := s.rows(), s.targets
	a := Ones(s.dim)
	factor := make([]float64, n*n)
	alpha := make([][]float64, k)
	slope := make([][]float64, k)
	for c := range k {
		alpha[c], slope[c] = make([]float64, n), make([]float64, s.dim)
	}
	step := 1 + n*n*s.dim*k/weightingWork
	for range kind.rounds {
		kernel := s.distances(a)
		width := float64(median(kernel, n) / 2) // the square of the kernel's width
		for i := range n {
			row := kernel[i*n : i*n+i+1]
			for j, d := range row {
				row[j] = -d / (2 * width)
			}
			vec.Exps(row, row)
			copy(factor[i*n:], row)
			factor[i*n+i] += float64(kind.ridge * float64(n))
		}
		if !vec.Cholesky(factor, n) {
			return Ones(s.dim)
		}
		for c := range k {
			for i := range n {
				alpha[c][i] = s.y[i*k+c]
			}
			vec.CholeskySolve(factor, n, alpha[c])
		}
		squares := make([]float64, s.dim)
		for i := 0; i < n; i += step {
			for c := range k {
				clear(slope[c])
				sum := 0.0
				for l := range n {
					v := float64(kernel[max(i, l)*n+min(i, l)] * alpha[c][l])
					sum += v
					vec.Axpy(v, s.x[l*s.dim:(l+1)*s.dim], slope[c])
				}
				vec.Axpy(-sum, s.x[i*s.dim:(i+1)*s.dim], slope[c])
				for j, v := range slope[c] {
					v *= a[j]
					squares[j] += float64(v * v)
				}
			}
		}
		mean := 0.0
		for _, v := range squares {
			mean += v / float64(s.dim)
		}
		if !(mean > 0) {
			return Ones(s.dim)
		}
		for j, v := range squares {
			a[j] = max(minRoundWeight, v/mean)
		}
	}
	return a
}

// floored returns the weights a, each at least minColumnWeight.
func floored(a []float64) []float64 {
	b := make([]float64, len(a))
	for j, v := range a {
		b[j] = max(minColumnWeight, v)
	}
	return b
}

func Ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// root returns the square roots of the weights, as multiples of their mean.
func root(a []float64) []float64 {
	b, mean := make([]float64, len(a)), 0.0
	for j, v := range a {
		b[j] = math.Sqrt(v)
		mean += b[j] / float64(len(a))
	}
	for j := range b {
		b[j] /= mean
	}
	return b
}
