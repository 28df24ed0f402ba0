package optim

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

const (
	// blockTolerance and blockRounding: power iterations end when they grow by less than one part
	// in 10⁸ a step. What they then miss is assumed to be below one part in 10,000 of the norm, and
	// that part is added.
	blockTolerance = 1e-8
	blockRounding  = 1 + 1e-4
	blockSteps     = 300 // at most

	// The number of parts for an estimate, and the steps for each of them. Together they cost no
	// more than a few passes.
	blockParts     = 8
	blockPartSteps = 12
)

// scale returns Λ (38), like Scale. It is exact for one block of rows. For all blocks of rows, with
// one or all blocks of columns, it is exact to one part in 10,000 upwards. Otherwise it is an
// estimate.
func (b *blocks) scale(q, m int) float64 {
	top, norm := []float64(nil), 0.0
	for i, parts := range b.parts {
		s := 0.0
		for _, v := range parts[max(0, len(parts)-q):] {
			s += v
		}
		top = append(top, s)
		norm = max(norm, b.norms[i])
	}
	slices.Sort(top)
	n, p := len(b.Losses), len(b.Regularizers)
	if m == 1 {
		return top[n-1]
	}
	rows, columns := newSampler("scale rows", 0, n, m), newSampler("scale columns", 0, p, q)
	if m == n && (q == 1 || q == p) {
		scale := 0.0
		for j := range p / q {
			columns.order[0] = j
			scale = max(scale, b.spectral(rows.draw(), columns.order[:q], blockSteps))
		}
		return scale * blockRounding
	}
	bound := 0.0
	for _, v := range top[n-m:] {
		bound += v
	}
	scale := float64(m) * float64(q) / float64(p) * norm
	for range blockParts {
		scale = max(scale, b.spectral(rows.draw(), columns.draw(), blockPartSteps))
	}
	return min(scaleMargin*scale, bound)
}

// spectral returns ‖A_I^J‖₂² by at most the given number of power iterations.
func (b *blocks) spectral(rows, columns []int, most int) float64 {
	_, size := b.size()
	x, u := make([]float64, size), make([]float64, size)
	chosen := make([]bool, len(b.Regularizers))
	for _, j := range columns {
		chosen[j] = true
	}
	// The first vector is the sum of the rows, so that no row is orthogonal to it by
	// chance.
	var last float64
	for step := range most {
		clear(u)
		var square float64
		for _, i := range rows {
			for r := b.rowStart[i]; r < b.rowStart[i+1]; r++ {
				s := 1.0
				if step > 0 {
					s = b.dotChosen(r, x, chosen)
				}
				square += float64(s * s)
				b.addChosen(u, r, s, chosen)
			}
		}
		if step > 0 && square-last <= blockTolerance*square {
			return max(square, last)
		}
		if step > 0 {
			last = square
		}
		norm := math.Sqrt(vec.Dot(u, u))
		if norm == 0 {
			return last
		}
		for k := range u {
			x[k] = u[k] / norm
		}
	}
	return last
}

// dotChosen returns ⟨A_r, x⟩ over the chosen blocks of columns.
func (b *blocks) dotChosen(r int, x []float64, chosen []bool) float64 {
	s := 0.0
	for _, j := range b.A.Blocks(r) {
		if chosen[j] {
			s += b.A.Dot(r, j, block(x, b.columnStart, j))
		}
	}
	return s
}

// addChosen adds s A_r to u in the chosen blocks of columns.
func (b *blocks) addChosen(u []float64, r int, s float64, chosen []bool) {
	for _, j := range b.A.Blocks(r) {
		if chosen[j] {
			b.A.Add(block(u, b.columnStart, j), r, j, s)
		}
	}
}
