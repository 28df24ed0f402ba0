package optim

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

const (
	// powerTolerance and powerRounding: power iterations end when they grow by less than one part
	// in 10¹⁰ a step. In the problems of the tests, the result is then within one part in a million
	// of the norm, and that part is added.
	powerTolerance = 1e-10
	powerRounding  = 1 + 1e-6
	powerSteps     = 1000 // at most

	// scaleMargin is the factor of an estimate of Λ. On all data so far, steps diverge only with a
	// quarter of Λ, so that the estimate need not be a bound.
	scaleMargin = 1.2
	scaleParts  = 32      // number of parts drawn at random
	scaleArea   = 1 << 16 // maximum number of elements of such a part
)

// Scale returns Λ, the largest ‖B‖₂² of all parts B of a that have m rows and q columns (11), and
// reports whether it is exact. It is exact for one row, and for one column and all rows. For all of
// a it is exact to one part in a million upwards.
//
// Otherwise it is an estimate: 1.2 times mqR²/p of the paper, where R is the largest norm of a row,
// or 1.2 times the largest ‖B‖₂² of 32 parts drawn at random, whichever is larger. It never exceeds
// an upper bound of Λ, the sum of the m largest sums of q squares in a row.
func Scale(a matrix.Matrix, q, m int) (scale float64, exact bool) {
	n, p := a.Dims()
	row := make([]float64, p)
	top := make([]float64, n) // sums of the q greatest squares of each row
	norms, columns := 0.0, make([]float64, p)
	for i := range n {
		clear(row)
		a.Add(row, i, 1)
		var norm float64
		for j, v := range row {
			row[j] = float64(v * v)
			columns[j] += row[j]
			norm += row[j]
		}
		norms = max(norms, norm)
		top[i] = norm
		if q == 1 {
			top[i] = slices.Max(row)
		} else if q < p {
			slices.Sort(row)
			top[i] = 0
			for _, v := range row[p-q:] {
				top[i] += v
			}
		}
	}
	slices.Sort(top)
	switch {
	case m == 1:
		return top[n-1], true
	case m == n && q == 1:
		return slices.Max(columns), true
	case m == n && q == p:
		return spectral(a) * powerRounding, true
	}
	var bound float64
	for _, v := range top[n-m:] {
		bound += v
	}
	scale = float64(m) * float64(q) / float64(p) * norms
	if m*q <= scaleArea {
		rows, columns := newSampler("scale rows", 0, n, m), newSampler("scale columns", 0, p, q)
		for range scaleParts {
			scale = max(scale, spectral(part(a, rows.draw(), columns.draw())))
		}
	}
	return min(scaleMargin*scale, bound), false
}

// part returns the part of a with the given rows and columns.
func part(a matrix.Matrix, rows, columns []int) *matrix.Dense {
	_, p := a.Dims()
	elements, row := make([]float64, 0, len(rows)*len(columns)), make([]float64, p)
	for _, i := range rows {
		clear(row)
		a.Add(row, i, 1)
		for _, j := range columns {
			elements = append(elements, row[j])
		}
	}
	return matrix.NewDense(len(rows), len(columns), elements)
}

// spectral returns ‖A‖₂²: the Rayleigh quotient after power iterations from a vector that depends
// only on the number of columns.
func spectral(a matrix.Matrix) float64 {
	n, p := a.Dims()
	start := make([]float32, p)
	vec.NewNormals(vec.Key("spectral", uint64(p), 0)).Fill(start)
	x, z := make([]float64, p), make([]float64, n)
	for j, v := range start {
		x[j] = float64(v)
	}
	var last float64
	for range powerSteps {
		norm := math.Sqrt(vec.Dot(x, x))
		if norm == 0 {
			return 0
		}
		for j := range x {
			x[j] /= norm
		}
		matrix.Multiply(z, a, x)
		value := vec.Dot(z, z)
		if value-last <= powerTolerance*value {
			return max(value, last)
		}
		last = value
		matrix.MultiplyTransposed(x, a, z)
	}
	return last
}
