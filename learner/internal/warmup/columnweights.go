package warmup

import (
	"math"

	"github.com/accrete-ml/accrete/internal/vec"
)

// sample is some rows of the warm-up and what they should be predicted as.
type sample struct {
	dim, targets int
	x            []float64 // scaled rows
	y            []float64 // rows × outputs, each column with mean 0
}

func (s sample) rows() int { return len(s.x) / s.dim }

// slice is the rows [from, to) of s, with the means of y taken off again.
func (s sample) slice(from, to int) sample {
	t := sample{dim: s.dim, targets: s.targets, x: s.x[from*s.dim : to*s.dim]}
	t.y = append(t.y, s.y[from*s.targets:to*s.targets]...)
	t.center()
	return t
}

func (s sample) center() {
	n := s.rows()
	for c := range s.targets {
		mean := 0.0
		for i := range n {
			mean += s.y[i*s.targets+c]
		}
		mean /= float64(n)
		for i := range n {
			s.y[i*s.targets+c] -= mean
		}
	}
}

// weighted returns the rows of s, each column times the square root of its weight.
func (s sample) weighted(columnWeights []float64) []float64 {
	z := make([]float64, len(s.x))
	roots := make([]float64, s.dim)
	for j, a := range columnWeights {
		roots[j] = math.Sqrt(a)
	}
	for i, v := range s.x {
		z[i] = v * roots[i%s.dim]
	}
	return z
}

// distances returns the squared distances of all pairs of rows of s, a lower
// triangle, where column j is weighted with the square root of metric[j].
func (s sample) distances(metric []float64) []float64 {
	n := s.rows()
	z := s.weighted(metric)
	d := make([]float64, n*n)
	vec.Products(d, z, n)
	norms := make([]float64, n)
	for i := range n {
		row := d[i*n : i*n+i+1]
		norms[i] = row[i]
		for j, p := range row {
			row[j] = max(0, norms[i]+norms[j]-2*p)
		}
	}
	return d
}

// median returns the median of the squared distances d of n rows that are not
// 0, or 1 if all are. Of many it takes some, evenly.
func median(d []float64, n int) float64 {
	const most = 1 << 16
	step := 1 + n*(n-1)/2/most
	squares := make([]float64, 0, most+1)
	at := 0
	for i := range n {
		for _, v := range d[i*n : i*n+i] {
			if at%step == 0 && v > 1e-12 {
				squares = append(squares, v)
			}
			at++
		}
	}
	if len(squares) == 0 {
		return 1
	}
	return Nth(squares, len(squares)/2)
}

const (
	minColumnWeight  = 0.03 // of a weight beside the mean of all: after a change of concept other columns may matter
	minRoundWeight   = 1e-3 // likewise, from one round to the next
	weightingTargets = 4
	weightingWork    = 1 << 26 // multiply-adds in a round
)

// weighting is a way to make a metric. A weak penalty and many rounds find two
// columns among thirty whose product is all that matters; they also trust noise
// more.
type weighting struct {
	rounds int
	ridge  float64 // of the kernel ridge regression that is differentiated
}

var weightings = []weighting{{3, 1e-3}, {8, 1e-5}}

// newColumnWeights returns the weight of each column in squared distances: the mean
// square of the derivative of a kernel ridge regression in that column (expected
// gradient outer product; recursive feature machine: Radhakrishnan, Beaglehole,
// Pandit and Belkin 2024), which is fitted again under the weights so far in
// each round. The weights have the mean 1.
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

// floored is the weights a, each at least metricFloor.
func floored(a []float64) []float64 {
	b := make([]float64, len(a))
	for j, v := range a {
		b[j] = max(minColumnWeight, v)
	}
	return b
}

// mixed is s with at most so many outputs. Where it has more they are mixed
// with random signs, which leaves the expected sum of squares of any linear
// function of them as it is but for a factor.
func (s sample) mixed(outputs int) sample {
	if s.targets <= outputs {
		return s
	}
	n := s.rows()
	signs := make([]float32, outputs*s.targets)
	vec.NewNormals(vec.Key("metric", uint64(s.targets), 0)).Fill(signs)
	t := sample{dim: s.dim, targets: outputs, x: s.x, y: make([]float64, n*outputs)}
	for i := range n {
		for c := range outputs {
			for k, v := range s.y[i*s.targets : (i+1)*s.targets] {
				if signs[c*s.targets+k] < 0 {
					v = -v
				}
				t.y[i*outputs+c] += v
			}
		}
	}
	return t
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
