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

	// weightingTargets is the number of targets that weights are computed for in the
	// Version First; more are mixed. Chosen by trial.
	weightingTargets = 4

	// weightingWork bounds the number of multiply-adds for the derivatives in a round. If the
	// derivatives in all rows would take more, only evenly spaced rows are used.
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

// newColumnWeights returns the weight of each column in squared distances: the mean square of the
// derivative of a kernel ridge regression with respect to that column. Each round fits the
// regression again, with the weights of the round before (expected gradient outer product;
// recursive feature machine: Radhakrishnan, Beaglehole, Pandit and Belkin 2024). The kernel of this
// regression is always Gaussian, because its derivative is simple, whatever the kernel of the model
// is. The weights have the mean 1.
func newColumnWeights(s sample, kind weighting) []float64 {
	if s.version == First {
		s = s.mixed(weightingTargets)
	}
	n, k := s.rows(), s.targets
	a := Ones(s.dim)
	factor := newMatrix(n)
	defer releaseMatrix(factor)
	alpha := make([][]float64, k)
	for c := range k {
		alpha[c] = make([]float64, n)
	}
	step := 1 + n*n*s.dim*k/weightingWork
	slopes := newSlopes(s)
	unseen, seen, counted := s.unseen()
	for range kind.rounds {
		kernel := s.distances(a)
		width := float64(s.median(kernel) / 2) // the square of the kernel's width
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
			releaseMatrix(kernel)
			return Ones(s.dim)
		}
		s.solve(alpha, factor)
		squares := make([]float64, s.dim)
		for i := 0; i < n; i += slopeRows * step {
			slopes.add(squares, i, step, kernel, alpha, a)
		}
		releaseMatrix(kernel)
		mean := 0.0
		for _, v := range squares {
			mean += v / float64(counted)
		}
		if !(mean > 0) {
			return Ones(s.dim)
		}
		for j, v := range squares {
			if a[j] = max(minRoundWeight, v/mean); unseen[j] {
				a[j] = float64(counted) / float64(seen) // the mean of the others
			}
		}
	}
	return a
}

// unseen reports for each column whether it is constant or hidden: the regression then cannot tell how
// much it matters. seen is the number of other columns. counted is the number by which the sum of
// their weights is divided to get the mean: it includes the constant columns from the version
// Eighteenth on. That makes minColumnWeight smaller, relative to the weights of the columns that vary.
// Before the version Sixteenth, no column is unseen.
func (s sample) unseen() (of []bool, seen, counted int) {
	of, seen, counted = make([]bool, s.dim), s.dim, s.dim
	if s.version < Sixteenth {
		return of, seen, counted
	}
	for j := range of {
		c := NewColumn(s.x[j:], s.dim)
		if c.top-c.bottom >= leastRange {
			continue
		}
		of[j] = true
		seen--
		if s.version < Eighteenth || c.top > c.bottom {
			counted--
		}
	}
	return of, seen, counted
}

// leastRange is a range of a scaled column that only columns which are constant or hidden do not
// reach.
const leastRange = 1e-4

// solve sets alpha to the solutions for the targets of s, with a factor.
func (s sample) solve(alpha [][]float64, factor []float64) {
	n, k := s.rows(), s.targets
	if k == 1 {
		copy(alpha[0], s.y)
		vec.CholeskySolve(factor, n, alpha[0])
		return
	}
	sides := make([]float64, n*targetsAtOnce)
	for from := 0; from < k; from += targetsAtOnce {
		some := alpha[from:min(k, from+targetsAtOnce)]
		for i := range n {
			copy(sides[i*targetsAtOnce:], s.y[i*k+from:i*k+from+len(some)])
			clear(sides[i*targetsAtOnce+len(some) : (i+1)*targetsAtOnce])
		}
		vec.CholeskySolves(factor, n, sides)
		for c, alpha := range some {
			for i := range alpha {
				alpha[i] = sides[i*targetsAtOnce+c]
			}
		}
	}
}

// slopeRows is the number of rows whose derivatives are computed together.
const slopeRows = 8

// slopes computes derivatives of a kernel ridge regression.
type slopes struct {
	sample
	columns *vec.Columns
	w       []float64 // [rows+slopeRows][slopeRows]: kernel times coefficient
	sum     []float64 // of w for each target, targets × slopeRows
	of      []float64 // targets × slopeRows × dim
}

func newSlopes(s sample) *slopes {
	return &slopes{s, vec.NewColumns(s.x, s.dim), make([]float64, (s.rows()+slopeRows)*slopeRows), make([]float64, s.targets*slopeRows), make([]float64, s.targets*slopeRows*s.dim)}
}

// add adds the squares of the derivatives, times a, in up to slopeRows of the rows from, from+step,
// ... to squares. The derivative in row i of a regression with the coefficients α is, up to a
// factor, Σ k(i,l) α_l (x_l - x_i).
func (s *slopes) add(squares []float64, from, step int, kernel []float64, alpha [][]float64, a []float64) {
	n, size := s.rows(), slopeRows*s.dim
	rows := min(slopeRows, (n-from+step-1)/step)
	for c, alpha := range alpha {
		sum := s.sum[c*slopeRows : (c+1)*slopeRows]
		clear(sum)
		if step == 1 && rows == slopeRows {
			s.weigh(sum, from, kernel, alpha)
		} else {
			for l, v := range alpha {
				w := s.w[l*slopeRows:][:rows]
				for r := range w {
					i := from + r*step
					w[r] = float64(kernel[max(i, l)*n+min(i, l)] * v)
					sum[r] += w[r]
				}
			}
		}
		s.columns.Combine(s.of[c*size:(c+1)*size], s.w)
	}
	for r := range rows {
		x := s.x[(from+r*step)*s.dim:][:s.dim]
		for c := range alpha {
			sum := s.sum[c*slopeRows+r]
			for j, v := range s.of[c*size+r*s.dim:][:s.dim] {
				v = (v - float64(sum*x[j])) * a[j]
				squares[j] += float64(v * v)
			}
		}
	}
}

// weigh sets w and adds to sum for slopeRows rows next to each other.
func (s *slopes) weigh(sum []float64, from int, kernel, alpha []float64) {
	n, end := s.rows(), from+slopeRows
	sums := *(*[slopeRows]float64)(sum)
	for l, v := range alpha[:end] {
		w := (*[slopeRows]float64)(s.w[l*slopeRows:])
		for r := range w {
			i := from + r
			w[r] = float64(kernel[max(i, l)*n+min(i, l)] * v)
			sums[r] += w[r]
		}
	}
	for l := end; l < n; l++ {
		k, w, v := (*[slopeRows]float64)(kernel[l*n+from:]), (*[slopeRows]float64)(s.w[l*slopeRows:]), alpha[l]
		for r, u := range k {
			u = float64(u * v)
			w[r] = u
			sums[r] += u
		}
	}
	copy(sum, sums[:])
}

// floored returns the weights a, each at least minColumnWeight.
func floored(a []float64) []float64 {
	b := make([]float64, len(a))
	for j, v := range a {
		b[j] = max(minColumnWeight, v)
	}
	return b
}

// Ones returns n ones.
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
