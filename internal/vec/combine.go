package vec

import "math"

// Columns is a matrix in panels of 8 columns, for Combine.
type Columns struct {
	n, dim int
	panels []float64 // [panels][n+8][8]: the last rows are the sums
}

// NewColumns packs the rows of x, of dim numbers each.
func NewColumns(x []float64, dim int) *Columns {
	c := &Columns{n: len(x) / dim, dim: dim}
	size := (c.n + strip) * strip
	c.panels = make([]float64, Panels(dim, strip)*size)
	for i, v := range x {
		row, j := i/dim, i%dim
		c.panels[j/strip*size+row*strip+j%strip] = v
	}
	return c
}

// Combine sets dst, [8][dim], to the sums of the rows times their weights w, [n+8][8], of
// which the last 8 rows do not matter: in order from 0, each product rounded. Only one
// goroutine may use c at a time.
func (c *Columns) Combine(dst, w []float64) {
	if len(dst) != strip*c.dim || len(w) != (c.n+strip)*strip {
		panic("vec: Combine of slices that do not fit together")
	}
	size := (c.n + strip) * strip
	for j := 0; j < c.dim; j += strip {
		x := c.panels[j/strip*size:][:size]
		t := x[c.n*strip:]
		clear(t)
		eliminate(w, x, c.n, nil)
		for r := range strip {
			for l := range min(strip, c.dim-j) {
				dst[r*c.dim+j+l] = -t[r*strip+l]
			}
		}
	}
}

// Towards computes to[i] += share * (from[i]-to[i]), with the product rounded.
func Towards(to, from []float64, share float64) {
	from = from[:len(to)]
	if len(to) >= 4 && towardsVectors(to, from, share) {
		return
	}
	for i, v := range from {
		to[i] += float64(share * (v - to[i]))
	}
}

// AdaGrad takes the step of AdaGrad (Duchi, Hazan and Singer 2011) with the gradient slope × z:
// squares has the sums of the squared gradients. A coefficient whose gradient is 0, or whose
// sum is so small that it is not a number above 0, stays as it is.
func AdaGrad(coef, squares, z []float64, rate, slope float64) {
	coef, squares = coef[:len(z)], squares[:len(z)]
	done := adagradVectors(coef, squares, z, rate, slope)
	coef, squares = coef[done:], squares[done:]
	for i, v := range z[done:] {
		g := slope * v
		if sum := squares[i] + float64(g*g); g != 0 && sum > 0 {
			squares[i] = sum
			coef[i] -= rate * g / math.Sqrt(sum)
		}
	}
}

// TowardsRows is Towards for the first n numbers of each row of stride numbers of from, and
// rows of n numbers.
func TowardsRows(to, from []float64, n, stride int, share float64) {
	if n < 1 || stride < n || len(to)%n != 0 || len(from) != len(to)/n*stride {
		panic("vec: TowardsRows of slices that do not fit together")
	}
	for ; len(to) > 0; to, from = to[n:], from[stride:] {
		if n >= 8 {
			Towards(to[:n], from, share)
			continue
		}
		row := from[:n]
		for i, v := range to[:n] {
			to[i] += float64(share * (row[i] - v))
		}
	}
}

// MixRows sets each row of dst, [1+models+averages][k], to the coefficients of coef,
// [models][k], and of average, [averages][k], rounded to float32, and, before them, to
// their sum over these models, each product with its share rounded, in order from +0.
func MixRows(dst []float32, coef, average, shares []float64, k, models, averages int) {
	own, n := models*k, (1+models+averages)*k
	if k < 1 || models < 1 || averages < 0 || len(dst)%n != 0 || len(shares) != n-k || len(coef) != len(dst)/n*own || len(average) != len(dst)/n*averages*k {
		panic("vec: MixRows of slices that do not fit together")
	}
	if len(dst) == 0 || k > 2 && mixVectors(dst, coef, average, shares, k, models, averages) {
		return
	}
	if k == 1 {
		mixSingles(dst, coef, average, shares[:own], shares[own:])
		return
	}
	for len(dst) > 0 {
		to := dst[:n]
		for j := range to[:k] {
			sum := 0.0
			for c := j; c < own; c += k {
				sum += float64(shares[c] * coef[c])
				to[k+c] = float32(coef[c])
			}
			for c := j; c < averages*k; c += k {
				sum += float64(shares[own+c] * average[c])
				to[k+own+c] = float32(average[c])
			}
			to[j] = float32(sum)
		}
		dst, coef, average = dst[n:], coef[own:], average[averages*k:]
	}
}

// mixSingles is MixRows for k = 1.
func mixSingles(dst []float32, coef, average, own, averaged []float64) {
	n := 1 + len(own) + len(averaged)
	for ; len(dst) >= n; dst, coef, average = dst[n:], coef[len(own):], average[len(averaged):] {
		sum, to, x := 0.0, dst[1:n], coef[:len(own)]
		for c, share := range own {
			sum += float64(share * x[c])
			to[c] = float32(x[c])
		}
		to, x = to[len(own):], average[:len(averaged)]
		for c, share := range averaged {
			sum += float64(share * x[c])
			to[c] = float32(x[c])
		}
		dst[0] = float32(sum)
	}
}

// Pair is numbers of two scores.
type Pair [2]float64

// LeafSums are those of the rows of a leaf, for two scores.
type LeafSums struct{ Slope, Hessian Pair }

// SumLeaves adds the rows to the sums of their leaves: of row i first change[i] += step[last[i]],
// and then, in the sums of leaf[i], the slope += gradient[i] + curvature[i]*change[i], with the
// product rounded, and the Hessian += curvature[i]. The leaves must be those of sums and of step:
// not all implementations check them.
func SumLeaves(sums []LeafSums, leaf, last []uint16, step, change, gradient, curvature []Pair) {
	n := len(leaf)
	last, change, gradient, curvature = last[:n], change[:n], gradient[:n], curvature[:n]
	if n == 0 || leavesVectors(sums, leaf, last, step, change, gradient, curvature) {
		return
	}
	for i, at := range leaf {
		s, d, now, c, g := &sums[at], &step[last[i]], &change[i], &curvature[i], &gradient[i]
		for j := range now {
			now[j] += d[j]
			s.Slope[j] += g[j] + float64(c[j]*now[j])
			s.Hessian[j] += c[j]
		}
	}
}
