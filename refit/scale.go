package refit

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Scale returns Λ, which is the greatest ‖B‖₂² of the q x m parts B of a (Yu, Lin
// and Yang 2015, (11)), and whether it is exact. It is for one row and any q, for
// one column and all rows, and for all of a, to one part in a million upwards.
//
// Otherwise it is an estimate: the greater of 1.2 times the paper's, mqR²/p with
// R the greatest norm of a row, and 1.2 times the greatest ‖B‖₂² of 32 parts
// drawn at random; but never more than what Λ is certain to be below: the sum of
// the m greatest sums of q squares in a row, and ‖A‖₂².
func Scale(a Matrix, q, m int) (scale float64, exact bool) {
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
		return spectral(a, nil, nil) * (1 + 1e-6), true
	}
	var bound float64
	for _, v := range top[n-m:] {
		bound += v
	}
	scale = float64(m) * float64(q) / float64(p) * norms
	if m*q <= 1<<16 {
		rows, cols := newSampler("scale rows", 0, n, m), newSampler("scale columns", 0, p, q)
		for range 32 {
			scale = max(scale, spectral(a, rows.draw(), cols.draw()))
		}
	}
	return min(1.2*scale, bound), false
}

// spectral is ‖B‖₂², where B is the part of a that has these rows and columns,
// or all of it: the quotient of Rayleigh after power iterations from a vector
// that is always the same, until it grows by less than one part in 10¹⁰, or
// after 1000.
func spectral(a Matrix, rows, cols []int) float64 {
	n, p := a.Dims()
	b := a
	if rows != nil {
		part := make([]float64, 0, len(rows)*len(cols))
		row := make([]float64, p)
		for _, i := range rows {
			clear(row)
			a.Add(row, i, 1)
			for _, j := range cols {
				part = append(part, row[j])
			}
		}
		n, p = len(rows), len(cols)
		b = NewDense(n, p, part)
	}
	start := make([]float32, p)
	vec.NewNormals(vec.Key("spectral", uint64(p), 0)).Fill(start)
	x, z := make([]float64, p), make([]float64, n)
	for j, v := range start {
		x[j] = float64(v)
	}
	var last float64
	for range 1000 {
		norm := math.Sqrt(vec.Dot(x, x))
		if norm == 0 {
			return 0
		}
		for j := range x {
			x[j] /= norm
		}
		multiply(z, b, x)
		value := vec.Dot(z, z)
		if value-last <= 1e-10*value {
			return max(value, last)
		}
		last = value
		multiplyTransposed(x, b, z)
	}
	return last
}
