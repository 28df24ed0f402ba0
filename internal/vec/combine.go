package vec

import "math"

// Columns is a matrix in panels of 8 columns, for Combine.
type Columns struct {
	n, dim int
	panels []float64 // [panels][n+8][8]: the last 8 rows of a panel hold the sums
}

// NewColumns packs the rows of x, which have dim numbers each.
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

// Combine sets dst, [8][dim], to the sums of the rows times their weights w, [n+8][8]. The last 8
// rows of w do not matter. The rows are added in order, starting from 0, and each product is
// rounded. Only one goroutine may use c at a time.
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

// AdaGrad takes a step of AdaGrad (Duchi, Hazan and Singer 2011) with the gradient slope × z.
// squares has the sums of the squared gradients. A coefficient does not change if its gradient is
// 0, or if its sum of squares is not above 0 because it underflows.
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

// TowardsRows is Towards for rows: to has rows of n numbers, and from has rows of stride numbers,
// of which the first n are used.
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

// MixRows computes each row of dst, [1+models+averages][k], from the coefficients of a row of coef,
// [models][k], and of average, [averages][k]. It copies all of these, rounded to float32, and puts
// their weighted sum before them. The weights are the shares. Each product is rounded, and products
// are added in order from +0.
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

// LeafScores are the numbers of scores that SumLeaves can sum together.
var LeafScores = [...]int{2, 4}

// SumLeaves adds the rows to the sums of their leaves, for k scores. change, gradient and curvature
// are [rows][k], step is [leaves][k] and sums is [leaves][2][k]. For each row i, first change[i] +=
// step[last[i]]. Then, in the sums of leaf[i], the first number of a score increases by gradient[i] +
// curvature[i]*change[i], with the product rounded, and the second by curvature[i]. leaf and last
// must be valid indices of sums and step: not all implementations check them.
func SumLeaves(k int, sums []float64, leaf, last []uint16, step, change, gradient, curvature []float64) {
	n := len(leaf)
	last, change, gradient, curvature = last[:n], change[:n*k], gradient[:n*k], curvature[:n*k]
	if n == 0 || leavesVectors(k, sums, leaf, last, step, change, gradient, curvature) {
		return
	}
	for i, at := range leaf {
		to, from, row := int(at)*2*k, int(last[i])*k, i*k
		for j := range k {
			change[row+j] += step[from+j]
			sums[to+j] += gradient[row+j] + float64(curvature[row+j]*change[row+j])
			sums[to+k+j] += curvature[row+j]
		}
	}
}

// NotAbove sets bit i%64 of set[i/64] to whether x[i] is not above the threshold. x has 64 numbers
// for each element of set.
func NotAbove(set []uint64, x []int32, threshold int32) {
	if len(x) != 64*len(set) {
		panic("vec: NotAbove of slices that do not fit together")
	}
	if len(set) == 0 || notAboveVectors(set, x, threshold) {
		return
	}
	for w := range set {
		bits := uint64(0)
		for i, v := range x[64*w : 64*w+64] {
			left := uint64(1)
			if v > threshold {
				left = 0
			}
			bits |= left << i
		}
		set[w] = bits
	}
}
