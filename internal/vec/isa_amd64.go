//go:build !purego

package vec

import (
	"math"

	"golang.org/x/sys/cpu"
)

//go:generate go -C gen run . -out ../kernel_amd64.s -stubs ../kernel_amd64.go -pkg vec

func native() (found []isa) {
	// Package cpu also checks that the operating system saves the registers.
	if x := cpu.X86; x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasBMI2 {
		found = append(found, isa{
			name: "avx512", sum: sumAVX512, sumRow: sumRowAVX512, gradient: gradientAVX512, addChains: addChainsAVX512, features: featuresAVX512,
			sumPhases: sumPhasesAVX512, gradientPhases: gradientPhasesAVX512, featuresPhases: featuresPhasesAVX512, hadamard: hadamardAVX512,
			heldSum: heldSumAVX512, heldSumFew: heldSumFewAVX512, spreadSum: spreadSumAVX512,
			nonzero: nonzeroAVX512, sumSome: sumSomeAVX512, featuresSome: featuresSomeAVX512, productSome: productSomeAVX512, few: fewAVX512,
			product: productAVX512, accumulate: accumulateAVX512,
			normals: normalsAVX512, packRows: packRowsAVX512, packFrequencies: packFrequenciesAVX512, transpose: transposeAVX512, peak: peak512, width: 16,
		})
	}
	if x := cpu.X86; x.HasAVX2 && x.HasFMA {
		found = append(found, isa{
			name: "avx2", sum: sumAVX2, gradient: gradientAVX2, addChains: addChainsAVX2, features: featuresAVX2,
			sumPhases: sumPhasesAVX2, gradientPhases: gradientPhasesAVX2, featuresPhases: featuresPhasesAVX2, hadamard: hadamardAVX2,
			heldSum: heldSumAVX2, heldSumFew: heldSumFewAVX2, spreadSum: spreadSumAVX2,
			nonzero: nonzeroAVX2, sumSome: sumSomeAVX2, featuresSome: featuresSomeAVX2, productSome: productSomeAVX2, few: fewAVX2,
			product: productAVX2, accumulate: accumulateAVX2,
			normals: normalsAVX2, transpose: transposeAVX2, peak: peak2, width: 8,
		})
	}
	return found
}

const perGroup = Group / Panel

// dotVectors adds to the lanes of Dot, for a length that is a multiple of 8. It reports whether
// there are vector instructions; if not, it does nothing. It is not in isa because arguments of a
// function value escape to the heap.
func dotVectors(lanes *[8]float64, x, y []float64) bool {
	switch active.width {
	case 16:
		dot512(len(x), &x[0], &y[0], &lanes[0])
	case 8:
		dot2(len(x), &x[0], &y[0], &lanes[0])
	default:
		return false
	}
	return true
}

// axpyVectors is Axpy for a length that is a multiple of 8. It reports whether there are vector
// instructions.
func axpyVectors(a float64, x, y []float64) bool {
	switch active.width {
	case 16:
		axpy512(len(x), a, &x[0], &y[0])
	case 8:
		axpy2(len(x), a, &x[0], &y[0])
	default:
		return false
	}
	return true
}

// panelVectors is panelGeneric. It reports whether there are vector instructions.
func panelVectors(k int, w, x, inverse []float64) bool {
	var r *float64
	if inverse != nil {
		r = &inverse[0]
	}
	switch active.width {
	case 16:
		panel512(k, &w[0], &x[0], r)
	case 8:
		panel2(k, &w[0], &x[0], r)
	default:
		return false
	}
	return true
}

// solveVectors is solveGeneric. It reports whether there are vector instructions.
func solveVectors(n int, l, b []float64) bool {
	switch active.width {
	case 16:
		solve512(n, &l[0], &b[0])
	case 8:
		solve2(n, l, b)
	default:
		return false
	}
	return true
}

// solve2 is solveGeneric for eight rows at once.
func solve2(n int, l, b []float64) {
	var sums [8][8]float64 // of the products of each row, by lane of Dot
	most := n &^ 7
	for i := 0; i < most; i += 8 {
		if clear(sums[:]); i > 0 {
			rowDots2(i, n, &l[i*n], &b[0], &sums[0][0])
		}
		x := (*[8]float64)(b[i:])
		for r := range x {
			row, a := (*[8]float64)(l[(i+r)*n+i:]), &sums[r]
			for j, v := range x[:r] {
				a[j] += float64(row[j] * v)
			}
			x[r] = (x[r] - (((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])))) / row[r]
		}
	}
	for i := most; i < n; i++ {
		r := l[i*n : i*n+i+1]
		b[i] = (b[i] - Dot(r[:i], b)) / r[i]
	}
	for i := n - 1; i >= most; i-- {
		r := l[i*n : i*n+i+1]
		b[i] /= r[i]
		Axpy(-b[i], r[:i], b)
	}
	for i := most - 8; i >= 0; i -= 8 {
		x := (*[8]float64)(b[i:])
		for r := 7; r >= 0; r-- {
			row := (*[8]float64)(l[(i+r)*n+i:])
			x[r] /= row[r]
			for j, v := range row[:r] {
				x[j] -= float64(v * x[r])
			}
		}
		if i > 0 {
			lessRows2(i, n, &l[i*n], &x[0], &b[0])
		}
	}
}

// squaresVectors adds the squares of the first rows to sums, and returns how many rows it has
// added.
func squaresVectors(sums *[8][strip]float64, x []float64, rows int) int {
	n := rows &^ 7
	if active.width < 8 || n == 0 {
		return 0
	}
	squares2(n, &x[0], &sums[0][0])
	return n
}

// solvesVectors is solvesGeneric. It reports whether there are vector instructions.
func solvesVectors(n int, l, b []float64) bool {
	switch active.width {
	case 16:
		solves512(n, &l[0], &b[0])
	case 8:
		solves2(n, &l[0], &b[0])
		solves2(n, &l[0], &b[4])
	default:
		return false
	}
	return true
}

// expTable holds the constants of exp512 and exp2: all bits except the sign, the largest magnitude
// that they accept, 1/ln 2, ln 2 in two parts, 1, the series, and 2^52 + 1023.
var expTable = func() (t [19]float64) {
	copy(t[:], []float64{math.Float64frombits(1<<63 - 1), 707, 1 / math.Ln2, ln2High, ln2Low, 1})
	copy(t[6:], expSeries[:])
	t[18] = 1<<52 + 1023
	return t
}()

// expVectors sets the first numbers of dst to Exp of the numbers of x, and returns how many it has
// set.
func expVectors(dst, x []float64) int {
	n := len(x) &^ 7
	switch {
	case n == 0:
		return 0
	case active.width == 16:
		return exp512(n, &x[0], &dst[0], &expTable[0])
	case active.width == 8:
		return exp2(n, &x[0], &dst[0], &expTable[0])
	}
	return 0
}

// logTable holds the constants of logs512: the smallest and the largest number that it accepts, √2,
// 1/2, 1, 2, ln 2 in two parts, and the series.
var logTable = func() (t [19]float64) {
	copy(t[:], []float64{0x1p-1022, math.MaxFloat64, math.Sqrt2, 0.5, 1, 2, ln2High, ln2Low})
	copy(t[8:], logSeries[:])
	return t
}()

// logVectors sets the first numbers of dst to Log of the numbers of x, and returns how many it has
// set.
func logVectors(dst, x []float64) int {
	if active.width != 16 || len(x) == 0 {
		return 0
	}
	return logs512(len(x), &x[0], &dst[0], &logTable[0])
}

// rotateVectors is rotate for a length that is a multiple of 8. It reports whether there are vector
// instructions.
func rotateVectors(x, y []float64, c, s float64) bool {
	switch active.width {
	case 16:
		rotate512(len(x), c, s, &x[0], &y[0])
	case 8:
		rotate2(len(x), c, s, &x[0], &y[0])
	default:
		return false
	}
	return true
}
