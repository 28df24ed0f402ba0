//go:build !purego

package vec

import (
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go -C gen run . -out ../kernel_amd64.s -stubs ../kernel_amd64.go -pkg vec

func native() (found []isa) {
	// Package cpu also checks that the operating system saves the registers.
	if x := cpu.X86; x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasBMI2 {
		found = append(found, isa{
			name: "avx512", sum: sumAVX512, sumRow: sumRowAVX512, gradient: gradientAVX512, addChains: addChainsAVX512, features: featuresAVX512,
			sumPhases: sumPhasesAVX512, gradientPhases: gradientPhasesAVX512, featuresPhases: featuresPhasesAVX512, hadamard: hadamardAVX512,
			product: productAVX512, accumulate: accumulateAVX512,
			normals: normalsAVX512, packRows: packRowsAVX512, packFrequencies: packFrequenciesAVX512, transpose: transposeAVX512, peak: peak512, width: 16,
		})
	}
	if x := cpu.X86; x.HasAVX2 && x.HasFMA {
		found = append(found, isa{
			name: "avx2", sum: sumAVX2, gradient: gradientAVX2, addChains: addChainsAVX2, features: featuresAVX2,
			sumPhases: sumPhasesAVX2, gradientPhases: gradientPhasesAVX2, featuresPhases: featuresPhasesAVX2, hadamard: hadamardAVX2,
			product: productAVX2, accumulate: accumulateAVX2,
			normals: normalsAVX2, peak: peak2, width: 8,
		})
	}
	return found
}

const perGroup = Group / Panel

func sumAVX512(dst []float64, x, w, a []float32, dim, outputs, rows int, s *Scratch) {
	panels := len(w) / (Panel * dim)
	if outputs == 1 {
		sumOne512(panels, dim, &x[0], &w[0], &a[0], &dst[0])
		return
	}
	for p := 0; p < panels; p += perGroup {
		f := s.chains(2 * outputs * Lanes)
		sum512(min(perGroup, panels-p), outputs, dim, &x[0], &w[p*Panel*dim], &a[p*2*outputs*Panel], s.sines(), &f[0])
		flush512(outputs*Lanes, &f[0], &dst[0])
	}
}

func sumRowAVX512(dst []float64, x, w, coef []float32, dim, outputs int, s *Scratch) {
	const side = 8 // groups whose chains run side by side
	size, perFeature := Panel*dim, outputs
	m, panels := len(coef)/(2*outputs), len(w)/size
	for g := 0; g*Group < m; {
		n, length := 1, min(Group, m-g*Group)
		if (g+side)*Group <= m {
			n = side
		}
		for i := range n {
			p := (g + i) * perGroup
			f := &s.rowFeatures[2*Group*i]
			if p+perGroup <= panels {
				rowGroup512(dim, &x[0], &w[p*size], f)
			} else {
				rowPanels512(panels-p, dim, &x[0], &w[p*size], f)
			}
		}
		for c := 0; c < outputs; c += 16 {
			mask := uint32(1)<<min(16, outputs-c) - 1
			a := &coef[2*g*Group*perFeature+c]
			if n == side {
				rowDots512(length, outputs, mask, &s.rowFeatures[0], a, &s.rowSums[0])
			} else {
				rowDot512(length, outputs, mask, &s.rowFeatures[0], a, &s.rowSums[0])
			}
			for i := range n {
				f := s.rowSums[32*i:]
				for o := range min(16, outputs-c) {
					dst[(g+i)*outputs+c+o] = float64(f[o]) + float64(f[16+o])
				}
			}
		}
		g += n
	}
}

func gradientAVX512(acc, x, w, g []float32, dim, outputs int, s *Scratch) {
	f, rows := s.features(), len(x)/(Lanes*dim)
	if outputs == 1 {
		for i := range rows {
			gradientOne512(len(w)/(Panel*dim), dim, &x[i*Lanes*dim], &w[0], &g[i*Lanes], s.sines(), &acc[0])
		}
		return
	}
	for p := range len(w) / (Panel * dim) {
		for i := range rows {
			features512(1, dim, &x[i*Lanes*dim], &w[p*Panel*dim], &f[i*2*Panel*Lanes])
		}
		spread512(rows, outputs, &f[0], &g[0], &acc[p*2*outputs*Panel*width])
	}
}

func addChainsAVX512(dst []float64, acc []float32) {
	if n := len(dst) &^ 7; n > 0 {
		lanes512(n, &acc[0], &dst[0])
		dst, acc = dst[n:], acc[n*width:]
	}
	addChainsGeneric(dst, acc)
}

func featuresAVX512(dst, x, w []float32, dim int, s *Scratch) {
	features512(len(w)/(Panel*dim), dim, &x[0], &w[0], &dst[0])
}

func sumAVX2(dst []float64, x, w, a []float32, dim, outputs, rows int, s *Scratch) {
	panels := len(w) / (Panel * dim)
	for p := 0; p < panels; p += perGroup {
		f, n := s.chains(2*outputs*Lanes), min(perGroup, panels-p)
		if outputs == 1 {
			sumOne2(n, dim, &x[0], &w[p*Panel*dim], &a[p*2*Panel], &f[0])
		} else {
			sum2(n, outputs, dim, &x[0], &w[p*Panel*dim], &a[p*2*outputs*Panel], s.sines(), &f[0])
		}
		flush2(outputs*Lanes, &f[0], &dst[0])
	}
}

func gradientAVX2(acc, x, w, g []float32, dim, outputs int, s *Scratch) {
	f, rows := s.features(), len(x)/(Lanes*dim)
	if outputs == 1 {
		for i := range rows {
			gradientOne2(len(w)/(Panel*dim), dim, &x[i*Lanes*dim], &w[0], &g[i*Lanes], s.sines(), &acc[0])
		}
		return
	}
	for p := range len(w) / (Panel * dim) {
		for i := range rows {
			features2(1, dim, &x[i*Lanes*dim], &w[p*Panel*dim], &f[i*2*Panel*Lanes])
		}
		spread2(rows, outputs, &f[0], &g[0], &acc[p*2*outputs*Panel*width])
	}
}

func addChainsAVX2(dst []float64, acc []float32) { lanes2(len(dst), &acc[0], &dst[0]) }

func featuresAVX2(dst, x, w []float32, dim int, s *Scratch) {
	features2(len(w)/(Panel*dim), dim, &x[0], &w[0], &dst[0])
}

func normalsAVX512(n *Normals, dst []float32) {
	normals512(len(dst)/refill, &n.key[0], &dst[0])
}

func packRowsAVX512(dst, x []float32, dim int) {
	_, _ = dst[(dim-1)*Lanes+15], x[16*dim-1]
	packRows512(dim, &x[0], &dst[0])
}

func packFrequenciesAVX512(dst, w []float32, dim int) {
	_, _ = dst[(dim-1)*Panel+3], w[4*dim-1]
	packFrequencies512(dim, &w[0], &dst[0])
}

func transposeAVX512(dst, w []float32, dim int) {
	_, _ = dst[(dim-1)*Panel+3], w[4*dim-1]
	transpose512(dim, &w[0], &dst[0])
}

// normalsAVX2 takes its words from the standard library: eight lanes leave no room
// for the state of ChaCha, and the library has vector code of its own.
func normalsAVX2(n *Normals, dst []float32) {
	var words [refill/2 + 4]uint64
	var z [refill + 8]float32
	for ; len(dst) > 0; dst = dst[refill:] {
		for i := range words[:refill/2] {
			words[i] = n.words.Uint64()
		}
		boxMuller2(len(z)/16, (*uint32)(unsafe.Pointer(&words)), &z[0])
		copy(dst[:refill], z[:])
	}
}

func productAVX512(t *[Panel][Lanes]float32, x, w []float32, dim int) {
	product512(dim, &x[0], &w[0], &t[0][0])
}

func accumulateAVX512(dst []float64, f []float32) {
	if n := len(dst) &^ 7; n > 0 {
		widen512(n, &f[0], &dst[0])
		dst, f = dst[n:], f[n:]
	}
	accumulateGeneric(dst, f)
}

func productAVX2(t *[Panel][Lanes]float32, x, w []float32, dim int) {
	product2(dim, &x[0], &w[0], &t[0][0])
}

func accumulateAVX2(dst []float64, f []float32) {
	if n := len(dst) &^ 3; n > 0 {
		widen2(n, &f[0], &dst[0])
		dst, f = dst[n:], f[n:]
	}
	accumulateGeneric(dst, f)
}

// dotVectors adds to the lanes of Dot, for a length that is a multiple of 8, and
// reports whether there are vector instructions to do so. It is not in isa because
// arguments of a function value escape to the heap.
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

// axpyVectors is Axpy for a multiple of 8; it reports whether there are vectors.
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

// panelVectors is panelGeneric; it reports whether there are vectors.
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

// expTable holds the constants of exp512 and exp2: all bits but the sign, their
// limit, 1/ln 2, ln 2 in two pieces, 1, the series, and 2^52 + 1023.
var expTable = func() (t [19]float64) {
	copy(t[:], []float64{math.Float64frombits(1<<63 - 1), 707, 1 / math.Ln2, ln2High, ln2Low, 1})
	copy(t[6:], expSeries[:])
	t[18] = 1<<52 + 1023
	return t
}()

// expVectors sets the first numbers of dst to Exp of those of x, and returns
// how many.
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

// rotateVectors is rotate for a multiple of 8; it reports whether there are
// vectors.
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

func sumPhasesAVX512(dst []float64, scale float32, t, a []float32, outputs, rows int, s *Scratch) {
	const size = Panel * Lanes
	panels := len(t) / size
	for p := 0; p < panels; p += perGroup {
		f := s.chains(2 * outputs * Lanes)
		sumPhases512(min(perGroup, panels-p), outputs, scale, &t[p*size], &a[p*2*outputs*Panel], s.sines(), &f[0])
		flush512(outputs*Lanes, &f[0], &dst[0])
	}
}

func gradientPhasesAVX512(acc []float32, scale float32, t, g []float32, outputs int, s *Scratch) {
	f := s.features()
	for p := range len(t) / (Panel * Lanes) {
		featuresPhases512(1, scale, &t[p*Panel*Lanes], &f[0])
		spread512(1, outputs, &f[0], &g[0], &acc[p*2*outputs*Panel*width])
	}
}

func featuresPhasesAVX512(dst []float32, scale float32, t []float32, s *Scratch) {
	featuresPhases512(len(t)/(Panel*Lanes), scale, &t[0], &dst[0])
}

// hadamardAVX512 multiplies by the signs in its first pass.
func hadamardAVX512(t []float32, signs []uint32) {
	n := len(signs)
	for h := 1; h < n || h == 1; {
		switch left := n / h; {
		case left == 1: // and so n is 1
			hadamardGeneric(t, signs)
			return
		case left == 2 && h == 1:
			signedHadamard2x512(n/2, 1, &t[0], &signs[0])
			h *= 2
		case left == 2:
			hadamard2x512(n/(2*h), h, &t[0])
			h *= 2
		case (left == 4 || left == 16) && h == 1:
			signedHadamard4x512(n/4, 1, &t[0], &signs[0])
			h *= 4
		case left == 4 || left == 16:
			hadamard4x512(n/(4*h), h, &t[0])
			h *= 4
		case h == 1:
			signedHadamard8x512(n/8, 1, &t[0], &signs[0])
			h *= 8
		default:
			hadamard8x512(n/(8*h), h, &t[0])
			h *= 8
		}
	}
}

func sumPhasesAVX2(dst []float64, scale float32, t, a []float32, outputs, rows int, s *Scratch) {
	const size = Panel * Lanes
	panels := len(t) / size
	for p := 0; p < panels; p += perGroup {
		f := s.chains(2 * outputs * Lanes)
		sumPhases2(min(perGroup, panels-p), outputs, scale, &t[p*size], &a[p*2*outputs*Panel], s.sines(), &f[0])
		flush2(outputs*Lanes, &f[0], &dst[0])
	}
}

func gradientPhasesAVX2(acc []float32, scale float32, t, g []float32, outputs int, s *Scratch) {
	f := s.features()
	for p := range len(t) / (Panel * Lanes) {
		featuresPhases2(1, scale, &t[p*Panel*Lanes], &f[0])
		spread2(1, outputs, &f[0], &g[0], &acc[p*2*outputs*Panel*width])
	}
}

func featuresPhasesAVX2(dst []float32, scale float32, t []float32, s *Scratch) {
	featuresPhases2(len(t)/(Panel*Lanes), scale, &t[0], &dst[0])
}

// hadamardAVX2 is hadamardAVX512 with shorter vectors.
func hadamardAVX2(t []float32, signs []uint32) {
	n := len(signs)
	for h := 1; h < n || h == 1; {
		switch left := n / h; {
		case left == 1: // and so n is 1
			hadamardGeneric(t, signs)
			return
		case left == 2 && h == 1:
			signedHadamard2x2(n/2, 1, &t[0], &signs[0])
			h *= 2
		case left == 2:
			hadamard2x2(n/(2*h), h, &t[0])
			h *= 2
		case (left == 4 || left == 16) && h == 1:
			signedHadamard4x2(n/4, 1, &t[0], &signs[0])
			h *= 4
		case left == 4 || left == 16:
			hadamard4x2(n/(4*h), h, &t[0])
			h *= 4
		case h == 1:
			signedHadamard8x2(n/8, 1, &t[0], &signs[0])
			h *= 8
		default:
			hadamard8x2(n/(8*h), h, &t[0])
			h *= 8
		}
	}
}
