package dsg

import "math"

// A oneClass is a one-class support vector machine that has all rows at once (Schölkopf et al.
// 2001). With the kernel matrix K it solves
//
//	min over a of  ½ aᵀKa,   0 ≤ a_i ≤ 1/(νn),   Σ a_i = 1
//
// by steps in the two rows that violate the optimality conditions most (Platt 1998; Fan, Chen and
// Lin 2005, with the gradients alone), until the violation is at most 1e-4 of the threshold.
type oneClass struct {
	dim, rows int
	x         []float64
	scale     float64 // of the Gaussian kernel
	a         []float64
	rho       float64 // the threshold: a row with a lower value is novel
}

// newOneClass solves for rows of dim numbers.
func newOneClass(x []float64, dim int, scale, nu float64) *oneClass {
	n := len(x) / dim
	m := &oneClass{dim: dim, rows: n, x: x, scale: scale, a: make([]float64, n)}
	k := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			v := m.kernel(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim])
			k[i*n+j], k[j*n+i] = v, v
		}
	}
	most, left := 1/(nu*float64(n)), 1.0
	g := make([]float64, n)
	for i := 0; left > 0; i++ {
		m.a[i] = min(most, left)
		left -= m.a[i]
		for j := range g {
			g[j] += m.a[i] * k[i*n+j]
		}
	}
	for range 1000 * n {
		up, down := -1, -1
		for i, v := range g {
			if m.a[i] < most && (up < 0 || v < g[up]) {
				up = i
			}
			if m.a[i] > 0 && (down < 0 || v > g[down]) {
				down = i
			}
		}
		if up < 0 || g[down]-g[up] <= 1e-4*math.Abs(g[down]) {
			break
		}
		step := (g[down] - g[up]) / max(1e-12, k[up*n+up]+k[down*n+down]-2*k[up*n+down])
		step = min(step, most-m.a[up], m.a[down])
		m.a[up] += step
		m.a[down] -= step
		for j := range g {
			g[j] += step * (k[up*n+j] - k[down*n+j])
		}
	}
	m.rho = m.threshold(g, most)
	return m
}

// threshold returns ρ, which is the mean gradient at the rows whose a is strictly between its
// bounds. If there are none, it is halfway between the gradients of the rows at either bound.
func (m *oneClass) threshold(g []float64, most float64) float64 {
	sum, free, low, high := 0.0, 0, math.Inf(-1), math.Inf(1)
	for i, v := range g {
		switch {
		case m.a[i] <= 0:
			high = min(high, v)
		case m.a[i] >= most:
			low = max(low, v)
		default:
			sum += v
			free++
		}
	}
	switch {
	case free > 0:
		return sum / float64(free)
	case math.IsInf(high, 1):
		return low
	}
	return (low + high) / 2
}

func (m *oneClass) kernel(x, y []float64) float64 {
	d := 0.0
	for j, v := range x {
		d += (v - y[j]) * (v - y[j])
	}
	return math.Exp(-d / (2 * m.scale * m.scale))
}

// score returns ρ - f at a row. A higher score means that the row is more novel.
func (m *oneClass) score(x []float64) float64 {
	f := 0.0
	for i, a := range m.a {
		if a > 0 {
			f += a * m.kernel(x, m.x[i*m.dim:(i+1)*m.dim])
		}
	}
	return m.rho - f
}
