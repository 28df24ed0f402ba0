//go:build !purego

package vec

import "unsafe"

func sumAVX2(dst []float64, x, w, a []float32, dim, scores, rows int, s *Scratch) {
	panels := len(w) / (Panel * dim)
	for p := 0; p < panels; p += perGroup {
		f, n := s.chains(2*scores*Lanes), min(perGroup, panels-p)
		if scores == 1 {
			sumOne2(n, dim, &x[0], &w[p*Panel*dim], &a[p*2*Panel], &f[0])
		} else {
			sum2(n, scores, dim, &x[0], &w[p*Panel*dim], &a[p*2*scores*Panel], s.sines(), &f[0])
		}
		flush2(scores*Lanes, &f[0], &dst[0])
	}
}

func nonzeroAVX2(list []uint32, x []float32, dim int) int { return nonzero2(dim, &x[0], &list[0]) }

func sumSomeAVX2(dst []float64, x, w, a []float32, list []uint32, dim, scores int, s *Scratch) {
	panels := len(w) / (Panel * dim)
	for p := 0; p < panels; p += perGroup {
		f := s.chains(2 * scores * Lanes)
		sumSome2(min(perGroup, panels-p), scores, len(list), unsafe.SliceData(list), dim, &x[0], &w[p*Panel*dim], &a[p*2*scores*Panel], s.sines(), &f[0])
		flush2(scores*Lanes, &f[0], &dst[0])
	}
}

func featuresSomeAVX2(dst, x, w []float32, list []uint32, dim int) {
	featuresSome2(len(w)/(Panel*dim), len(list), unsafe.SliceData(list), dim, &x[0], &w[0], &dst[0])
}

func productSomeAVX2(t, x, w []float32, list []uint32, dim int) {
	productSome2(len(list), unsafe.SliceData(list), dim, &x[0], &w[0], &t[0])
}

func fewAVX2(t, w []float32, few rowCoordinates, dim int) {
	few2(len(t)/(Panel*Lanes), len(few), &few[0].at[0], dim, &w[0], &t[0])
}

func gradientAVX2(acc, x, w, g []float32, dim, scores int, s *Scratch) {
	f, rows := s.features(), len(x)/(Lanes*dim)
	if scores == 1 {
		for i := range rows {
			gradientOne2(len(w)/(Panel*dim), dim, &x[i*Lanes*dim], &w[0], &g[i*Lanes], s.sines(), &acc[0])
		}
		return
	}
	for p := range len(w) / (Panel * dim) {
		for i := range rows {
			features2(1, dim, &x[i*Lanes*dim], &w[p*Panel*dim], &f[i*2*Panel*Lanes])
		}
		spread2(rows, scores, &f[0], &g[0], &acc[p*2*scores*Panel*width])
	}
}

func addChainsAVX2(dst []float64, acc []float32) { lanes2(len(dst), &acc[0], &dst[0]) }

func featuresAVX2(dst, x, w []float32, dim int, s *Scratch) {
	features2(len(w)/(Panel*dim), dim, &x[0], &w[0], &dst[0])
}

func heldSumAVX2(dst []float64, f []float32, stride int, a []float32) {
	heldSum2(len(a)/(2*Panel*HeldColumns), stride, &f[0], &a[0], &dst[0])
}

func heldSumFewAVX2(dst []float64, f []float32, stride int, a []float32) {
	heldSumFew2(len(a)/(2*Panel*HeldColumns), stride, &f[0], &a[0], &dst[0])
}

func spreadSumAVX2(dst []float64, f, factors []float32, scores, stride int, _ *Scratch) {
	spreadSum2(len(f)/(2*Panel*Lanes), scores, stride, &f[0], &factors[0], &dst[0])
}

// normalsAVX2 takes its words from the standard library, which has vector code of its own. With
// eight lanes there would be no room for the state of ChaCha.
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

func transposeAVX2(dst, w []float32, dim int) {
	_, _ = dst[(dim-1)*Panel+3], w[4*dim-1]
	if dim < 8 {
		for i, v := range w[:4*dim] {
			dst[i%dim*Panel+i/dim] = v
		}
		return
	}
	transpose2(dim, &w[0], &dst[0])
}

func productAVX2(t, x, w []float32, dim int) {
	product2(dim, &x[0], &w[0], &t[0])
}

func accumulateAVX2(dst []float64, f []float32) {
	if n := len(dst) &^ 3; n > 0 {
		widen2(n, &f[0], &dst[0])
		dst, f = dst[n:], f[n:]
	}
	accumulateGeneric(dst, f)
}

func sumPhasesAVX2(dst []float64, scale float32, t, a []float32, scores, rows int, s *Scratch) {
	const size = Panel * Lanes
	panels := len(t) / size
	for p := 0; p < panels; p += perGroup {
		f := s.chains(2 * scores * Lanes)
		sumPhases2(min(perGroup, panels-p), scores, scale, &t[p*size], &a[p*2*scores*Panel], s.sines(), &f[0])
		flush2(scores*Lanes, &f[0], &dst[0])
	}
}

func gradientPhasesAVX2(acc []float32, scale float32, t, g []float32, scores int, s *Scratch) {
	f := s.features()
	for p := range len(t) / (Panel * Lanes) {
		featuresPhases2(1, scale, &t[p*Panel*Lanes], &f[0])
		spread2(1, scores, &f[0], &g[0], &acc[p*2*scores*Panel*width])
	}
}

func featuresPhasesAVX2(dst []float32, scale float32, t []float32, s *Scratch) {
	featuresPhases2(len(t)/(Panel*Lanes), scale, &t[0], &dst[0])
}

// hadamardAVX2 is hadamardAVX512 with vectors of half the length.
func hadamardAVX2(t []float32, signs []uint32) {
	n := len(signs)
	for h := 1; h < n || h == 1; {
		switch left := n / h; {
		case left == 1: // only if n is 1
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
