package vec

import "math"

// tile holds the features of a panel of frequencies and a panel of rows.
type tile struct{ cos, sin [Panel][Lanes]float32 }

// features computes the features of the first rows of a panel of rows x for a panel of frequencies
// w. It does not touch other rows.
func (t *tile) features(x, w []float32, dim, rows int) {
	for j := 0; j < Panel; j += 2 {
		for i := 0; i < rows; i += 4 {
			var ph [2][4]float64
			phaseChains(&ph, x[i:], w[j:], dim)
			for h := range 2 {
				cosSin((*[4]float32)(t.cos[j+h][i:]), (*[4]float32)(t.sin[j+h][i:]), &ph[h])
			}
		}
	}
}

// fromPhases is features for a panel of phases in memory.
func (t *tile) fromPhases(scale float32, phases []float32, rows int) {
	for j := range Panel {
		for i := 0; i < rows; i += 4 {
			var ph [4]float64
			for l, v := range phases[j*Lanes+i:][:4] {
				ph[l] = float64(float32(scale * v))
			}
			cosSin((*[4]float32)(t.cos[j][i:]), (*[4]float32)(t.sin[j][i:]), &ph)
		}
	}
}

// store copies the features to dst, [2][Panel][Lanes].
func (t *tile) store(dst []float32) {
	for i := range Panel {
		copy(dst[i*Lanes:], t.cos[i][:])
		copy(dst[(Panel+i)*Lanes:], t.sin[i][:])
	}
}

// spread adds the features times the factors g to the chains of a panel.
func (t *tile) spread(acc, g []float32, scores int) {
	for c := range scores {
		spread(acc[c*width:], 2*scores*width, &t.cos, g[c*Lanes:])
		spread(acc[(scores+c)*width:], 2*scores*width, &t.sin, g[c*Lanes:])
	}
}

// phaseChains computes the chains
//
//	t[j][i] = FMA(w[k*Panel+j], x[k*Lanes+i], t[j][i])	for k = 0, 1, ..., dim-1
//
// for two frequencies and four rows.
func phaseChains(t *[2][4]float64, x, w []float32, dim int) {
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	for k := range dim {
		wk := (*[2]float32)(w[k*Panel:])
		xk := (*[4]float32)(x[k*Lanes:])
		u, v := float64(wk[0]), float64(wk[1])
		var y, p, s float64
		y = float64(xk[0])
		p = u * y
		s = p + a0
		if isTie(s) {
			s = roundToOdd(p, a0, s)
		}
		a0 = float64(float32(s))
		p = v * y
		s = p + b0
		if isTie(s) {
			s = roundToOdd(p, b0, s)
		}
		b0 = float64(float32(s))
		y = float64(xk[1])
		p = u * y
		s = p + a1
		if isTie(s) {
			s = roundToOdd(p, a1, s)
		}
		a1 = float64(float32(s))
		p = v * y
		s = p + b1
		if isTie(s) {
			s = roundToOdd(p, b1, s)
		}
		b1 = float64(float32(s))
		y = float64(xk[2])
		p = u * y
		s = p + a2
		if isTie(s) {
			s = roundToOdd(p, a2, s)
		}
		a2 = float64(float32(s))
		p = v * y
		s = p + b2
		if isTie(s) {
			s = roundToOdd(p, b2, s)
		}
		b2 = float64(float32(s))
		y = float64(xk[3])
		p = u * y
		s = p + a3
		if isTie(s) {
			s = roundToOdd(p, a3, s)
		}
		a3 = float64(float32(s))
		p = v * y
		s = p + b3
		if isTie(s) {
			s = roundToOdd(p, b3, s)
		}
		b3 = float64(float32(s))
	}
	t[0], t[1] = [4]float64{a0, a1, a2, a3}, [4]float64{b0, b1, b2, b3}
}

// reduce returns the difference between t half turns and the nearest whole number of half turns,
// and the parity of that number as a sign bit.
func reduce(t float64) (r float64, odd uint32) {
	const round = 3 << 51 // adding it and subtracting it again rounds to an integer
	if math.Abs(t) >= 1<<24 {
		return 0, 0
	}
	k := t + round
	return t - (k - round) + 0, uint32(math.Float64bits(k)) << 31 // + 0 turns -0 into +0
}

// flip returns v, or -v if odd is the sign bit.
func flip(v float32, odd uint32) float32 { return math.Float32frombits(math.Float32bits(v) ^ odd) }

// cosSin sets c and sn to the cosines and sines of four phases.
func cosSin(c, sn *[4]float32, t *[4]float64) {
	for i := 0; i < 4; i += 2 {
		r0, odd0 := reduce(t[i])
		r1, odd1 := reduce(t[i+1])
		q0, q1 := float64(float32(r0*r0)), float64(float32(r1*r1))
		a0, b0 := float64(cosine[4]), float64(sine[4])
		a1, b1 := a0, b0
		for k := 3; k >= 0; k-- {
			u, v := float64(cosine[k]), float64(sine[k])
			var p, s float64
			p = a0 * q0
			s = p + u
			if isTie(s) {
				s = roundToOdd(p, u, s)
			}
			a0 = float64(float32(s))
			p = b0 * q0
			s = p + v
			if isTie(s) {
				s = roundToOdd(p, v, s)
			}
			b0 = float64(float32(s))
			p = a1 * q1
			s = p + u
			if isTie(s) {
				s = roundToOdd(p, u, s)
			}
			a1 = float64(float32(s))
			p = b1 * q1
			s = p + v
			if isTie(s) {
				s = roundToOdd(p, v, s)
			}
			b1 = float64(float32(s))
		}
		c[i], c[i+1] = flip(float32(a0), odd0), flip(float32(a1), odd1)
		sn[i], sn[i+1] = flip(float32(b0*r0), odd0), flip(float32(b1*r1), odd1)
	}
}

// dot computes f[i] = FMA(a[j], features[j][i], f[i]) for j = 0, 1, ..., Panel-1 and
// the first rows i.
func dot(f []float32, features *[Panel][Lanes]float32, a []float32, rows int) {
	a = a[:Panel]
	for i, v := range f[:rows] {
		for j, u := range a {
			v = FMA(u, features[j][i], v)
		}
		f[i] = v
	}
}

// spread computes acc[j*step+i%16] = FMA(features[j][i], g[i], acc[j*step+i%16]) for
// i = 0, 1, ..., Lanes-1.
func spread(acc []float32, step int, features *[Panel][Lanes]float32, g []float32) {
	g = g[:Lanes]
	for j := range features {
		l := (*[width]float32)(acc[j*step:])
		for i, v := range l {
			l[i] = FMA(features[j][width+i], g[width+i], FMA(features[j][i], g[i], v))
		}
	}
}
