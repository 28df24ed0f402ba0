//go:build !purego

package vec

import "unsafe"

func sumAVX512(dst []float64, x, w, a []float32, dim, scores, rows int, s *Scratch) {
	panels := len(w) / (Panel * dim)
	if scores == 1 {
		sumOne512(panels, dim, &x[0], &w[0], &a[0], &dst[0])
		return
	}
	for p := 0; p < panels; p += perGroup {
		f := s.chains(2 * scores * Lanes)
		sum512(min(perGroup, panels-p), scores, dim, &x[0], &w[p*Panel*dim], &a[p*2*scores*Panel], s.sines(), &f[0])
		flush512(scores*Lanes, &f[0], &dst[0])
	}
}

func nonzeroAVX512(list []uint32, x []float32, dim int) int {
	return nonzero512(dim, &x[0], &list[0])
}

func sumSomeAVX512(dst []float64, x, w, a []float32, list []uint32, dim, scores int, s *Scratch) {
	panels := len(w) / (Panel * dim)
	for p := 0; p < panels; p += perGroup {
		f := s.chains(2 * scores * Lanes)
		sumSome512(min(perGroup, panels-p), scores, len(list), unsafe.SliceData(list), dim, &x[0], &w[p*Panel*dim], &a[p*2*scores*Panel], s.sines(), &f[0])
		flush512(scores*Lanes, &f[0], &dst[0])
	}
}

func featuresSomeAVX512(dst, x, w []float32, list []uint32, dim int) {
	featuresSome512(len(w)/(Panel*dim), len(list), unsafe.SliceData(list), dim, &x[0], &w[0], &dst[0])
}

func productSomeAVX512(t, x, w []float32, list []uint32, dim int) {
	productSome512(len(list), unsafe.SliceData(list), dim, &x[0], &w[0], &t[0])
}

func fewAVX512(t, w []float32, few rowCoordinates, dim int) {
	few512(len(t)/(Panel*Lanes), len(few), &few[0].at[0], dim, &w[0], &t[0])
}

func sumRowAVX512(dst []float64, x, w, coef []float32, dim, scores int, s *Scratch) {
	const side = 8 // number of groups that are processed together
	size, perFeature := Panel*dim, scores
	m, panels := len(coef)/(2*scores), len(w)/size
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
		for c := 0; c < scores; c += 16 {
			mask := uint32(1)<<min(16, scores-c) - 1
			a := &coef[2*g*Group*perFeature+c]
			if n == side {
				rowDots512(length, scores, mask, &s.rowFeatures[0], a, &s.rowSums[0])
			} else {
				rowDot512(length, scores, mask, &s.rowFeatures[0], a, &s.rowSums[0])
			}
			for i := range n {
				f := s.rowSums[32*i:]
				for o := range min(16, scores-c) {
					dst[(g+i)*scores+c+o] = float64(f[o]) + float64(f[16+o])
				}
			}
		}
		g += n
	}
}

func gradientAVX512(acc, x, w, g []float32, dim, scores int, s *Scratch) {
	f, rows := s.features(), len(x)/(Lanes*dim)
	if scores == 1 {
		for i := range rows {
			gradientOne512(len(w)/(Panel*dim), dim, &x[i*Lanes*dim], &w[0], &g[i*Lanes], s.sines(), &acc[0])
		}
		return
	}
	for p := range len(w) / (Panel * dim) {
		for i := range rows {
			features512(1, dim, &x[i*Lanes*dim], &w[p*Panel*dim], &f[i*2*Panel*Lanes])
		}
		spread512(rows, scores, &f[0], &g[0], &acc[p*2*scores*Panel*width])
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

func heldSumAVX512(dst []float64, f []float32, stride int, a []float32) {
	heldSum512(len(a)/(2*Panel*HeldColumns), stride, &f[0], &a[0], &dst[0])
}

func heldSumFewAVX512(dst []float64, f []float32, stride int, a []float32) {
	heldSumFew512(len(a)/(2*Panel*HeldColumns), stride, &f[0], &a[0], &dst[0])
}

func spreadSumAVX512(dst []float64, f, factors []float32, scores, stride int, _ *Scratch) {
	spreadSum512(len(f)/(2*Panel*Lanes), scores, stride, &f[0], &factors[0], &dst[0])
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

func productAVX512(t, x, w []float32, dim int) {
	product512(dim, &x[0], &w[0], &t[0])
}

func accumulateAVX512(dst []float64, f []float32) {
	if n := len(dst) &^ 7; n > 0 {
		widen512(n, &f[0], &dst[0])
		dst, f = dst[n:], f[n:]
	}
	accumulateGeneric(dst, f)
}

func sumPhasesAVX512(dst []float64, scale float32, t, a []float32, scores, rows int, s *Scratch) {
	const size = Panel * Lanes
	panels := len(t) / size
	for p := 0; p < panels; p += perGroup {
		f := s.chains(2 * scores * Lanes)
		sumPhases512(min(perGroup, panels-p), scores, scale, &t[p*size], &a[p*2*scores*Panel], s.sines(), &f[0])
		flush512(scores*Lanes, &f[0], &dst[0])
	}
}

func gradientPhasesAVX512(acc []float32, scale float32, t, g []float32, scores int, s *Scratch) {
	f := s.features()
	for p := range len(t) / (Panel * Lanes) {
		featuresPhases512(1, scale, &t[p*Panel*Lanes], &f[0])
		spread512(1, scores, &f[0], &g[0], &acc[p*2*scores*Panel*width])
	}
}

func featuresPhasesAVX512(dst []float32, scale float32, t []float32, s *Scratch) {
	featuresPhases512(len(t)/(Panel*Lanes), scale, &t[0], &dst[0])
}

// hadamardAVX512 multiplies by the signs during its first pass.
func hadamardAVX512(t []float32, signs []uint32) {
	n := len(signs)
	for h := 1; h < n || h == 1; {
		switch left := n / h; {
		case left == 1: // only if n is 1
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
