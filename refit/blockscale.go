package refit

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// scale is Λ (38) as Scale has it: exact for one block of rows, to one part in
// 10,000 upwards for all of them and one or all blocks of columns, and otherwise
// an estimate.
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
			scale = max(scale, b.spectral(rows.draw(), columns.order[:q], 300))
		}
		return scale * (1 + 1e-4)
	}
	bound := 0.0
	for _, v := range top[n-m:] {
		bound += v
	}
	scale := float64(m) * float64(q) / float64(p) * norm
	for range 8 {
		scale = max(scale, b.spectral(rows.draw(), columns.draw(), 12))
	}
	return min(1.2*scale, bound)
}

// spectral is ‖A_I^J‖₂² by power iterations, until it grows by less than one part
// in 10⁸ or after so many.
func (b *blocks) spectral(rows, columns []int, most int) float64 {
	x, u := make([]float64, b.column[len(b.Regularizers)]), make([]float64, b.column[len(b.Regularizers)])
	chosen := make([]bool, len(b.Regularizers))
	for _, j := range columns {
		chosen[j] = true
	}
	// The first vector is the rows' sum, which nothing of theirs is orthogonal to by chance.
	var last float64
	for step := range most {
		clear(u)
		var square float64
		for _, i := range rows {
			for r := b.row[i]; r < b.row[i+1]; r++ {
				s := 1.0
				if step > 0 {
					s = 0
					for _, j := range b.A.Blocks(r) {
						if chosen[j] {
							s += b.A.Dot(r, j, of(x, b.column, j))
						}
					}
				}
				square += float64(s * s)
				for _, j := range b.A.Blocks(r) {
					if chosen[j] {
						b.A.Add(of(u, b.column, j), r, j, s)
					}
				}
			}
		}
		if step > 0 && square-last <= 1e-8*square {
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
