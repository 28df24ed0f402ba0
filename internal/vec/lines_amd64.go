//go:build !purego

package vec

// The loops over lines with vectors. They report whether there are vector instructions. They are
// not in isa because arguments of a function value escape to the heap.

func shiftVectors(n int, f, dst []float64) bool {
	switch active.width {
	case 16:
		linesShift512(n, &f[0], &dst[0])
	case 8:
		linesShift2(n, &f[0], &dst[0])
	}
	return active.width > 0
}

func sharesVectors(n int, e []float64) bool {
	switch active.width {
	case 16:
		linesShares512(n, &e[0])
	case 8:
		linesShares2(n, &e[0])
	}
	return active.width > 0
}

func gradientVectors(n int, g, share, divisor []float64, table *[7]float64, curvature []float64, factors []float32) bool {
	switch active.width {
	case 16:
		linesGradient512(n, &g[0], &share[0], &divisor[0], &table[0], &curvature[0], &factors[0])
	case 8:
		linesGradient2(n, &g[0], &share[0], &divisor[0], &table[0], &curvature[0], &factors[0])
	}
	return active.width > 0
}

func majorantVectors(n int, g, share []float64, table *[7]float64, curvature []float64) bool {
	if active.width > 0 {
		linesMajorant2(n, &g[0], &share[0], &table[0], &curvature[0])
	}
	return active.width > 0
}

func curvatureVectors(n int, d, curvature, share, dst []float64) bool {
	switch active.width {
	case 16:
		linesCurvature512(n, &d[0], &curvature[0], &share[0], &dst[0])
	case 8:
		linesCurvature2(n, &d[0], &curvature[0], &share[0], &dst[0])
	}
	return active.width > 0
}

func stepVectors(n int, f, d, shift, size []float64) bool {
	switch active.width {
	case 16:
		linesStep512(n, &f[0], &d[0], &shift[0], &size[0])
	case 8:
		linesStep2(n, &f[0], &d[0], &shift[0], &size[0])
	}
	return active.width > 0
}

func sumVectors(n int, x, sum []float64) bool {
	switch active.width {
	case 16:
		linesSum512(n, &x[0], &sum[0])
	case 8:
		linesSum2(n, &x[0], &sum[0])
	}
	return active.width > 0
}

func towardsVectors(to, from []float64, share float64) bool {
	switch active.width {
	case 16:
		towards512(len(to), share, &to[0], &from[0])
	case 8:
		towards2(len(to), share, &to[0], &from[0])
	}
	return active.width > 0
}

// mixVectors does not use AVX2 for fewer than 4 numbers, because AVX2 has no masks.
func mixVectors(dst []float32, coef, average, shares []float64, k, models, averages int) bool {
	a := &shares[0] // any valid address: without averages nothing is read from it
	if averages > 0 {
		a = &average[0]
	}
	switch rows := len(coef) / (models * k); {
	case active.width == 16:
		mixRows512(rows, k, models, averages, &coef[0], a, &shares[0], &dst[0])
	case active.width == 8 && k >= 4:
		mixRows2(rows, k, models, averages, &coef[0], a, &shares[0], &dst[0])
	default:
		return false
	}
	return true
}

// adagradVectors returns the number of first elements that it has processed. With AVX2, which has
// no masks, it leaves out the last ones.
func adagradVectors(coef, squares, z []float64, rate, slope float64) (done int) {
	switch n := len(z); {
	case active.width == 16 && n >= 4:
		adagrad512(n, rate, slope, &z[0], &squares[0], &coef[0])
		return n
	case active.width == 8 && n >= 4:
		adagrad2(n&^3, rate, slope, &z[0], &squares[0], &coef[0])
		return n &^ 3
	}
	return 0
}

// leavesVectors has the scores of a row in a vector, with AVX-512 as well.
func leavesVectors(k int, sums []float64, leaf, last []uint16, step, change, gradient, curvature []float64) bool {
	switch {
	case active.width == 0:
		return false
	case k == 2:
		leafSums2(len(leaf), &leaf[0], &last[0], &step[0], &change[0], &gradient[0], &curvature[0], &sums[0])
	case k == 4:
		leafSums4(len(leaf), &leaf[0], &last[0], &step[0], &change[0], &gradient[0], &curvature[0], &sums[0])
	default:
		return false
	}
	return true
}

func notAboveVectors(set []uint64, x []int32, threshold int32) bool {
	switch active.width {
	case 16:
		notAbove512(len(set), threshold, &x[0], &set[0])
	case 8:
		notAbove2(len(set), threshold, &x[0], &set[0])
	}
	return active.width > 0
}

// The following exist for AVX-512 only, because they need its masks.

func addSlotsVectors(f []float64, coef []float32, columns []uint32, values []float32, mask uint32) bool {
	if active.width != 16 {
		return false
	}
	addSlots512(len(columns), len(f), int(mask), &columns[0], &values[0], &coef[0], &f[0])
	return true
}

func stepSlotsVectors(coef, squares, largest []float32, columns []uint32, values []float32, g []float64, mask uint32, rate, bound float64) bool {
	if active.width != 16 {
		return false
	}
	sizes := [...]float64{rate, bound}
	stepSlots512(len(columns), len(g), int(mask), &columns[0], &values[0], &largest[0], &coef[0], &squares[0], &g[0], &sizes[0])
	return true
}

func dotsVectors(dst, x, w []float64) bool {
	if active.width != 16 {
		return false
	}
	eachDot512(len(dst), len(x), &x[0], &w[0], &dst[0])
	return true
}
