package vec

import "math"

// Log returns the natural logarithm within an ulp, with the same bits on every
// machine.
func Log(x float64) float64 {
	switch {
	case x != x || x > math.MaxFloat64:
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	m, k := split(x)
	return log(m-1, 0, k)
}

// Log1p returns the natural logarithm of 1+x within an ulp, with the same bits on
// every machine.
func Log1p(x float64) float64 {
	switch {
	case x != x || x > math.MaxFloat64:
		return x
	case x < -1:
		return math.NaN()
	case x == -1:
		return math.Inf(-1)
	case math.Abs(x) < 0x1p-54:
		return x
	case x > -.29 && x < .41:
		return log(x, 0, 0)
	}
	u := 1 + x
	c := x - (u - 1) // the rounding error of u
	if x > 1 {
		c = 1 - (u - x)
	}
	m, k := split(u)
	return log(m-1, c/u, k)
}

// split returns m and k for x = m 2^k with m between the roots of 1/2 and of 2.
func split(x float64) (m float64, k int) {
	if x < 0x1p-1022 {
		x, k = x*0x1p54, -54
	}
	b := math.Float64bits(x)
	k += int(b>>52) - 1023
	m = math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m, k = m/2, k+1
	}
	return m, k
}

// log returns ln((1+f) 2^k) + c for a small c, by the series of the inverse
// hyperbolic tangent: ln(1+f) = f - f²/2 + s (f²/2 + 2s²/3 + 2s⁴/5 + ...) with
// s = f/(2+f), as FreeBSD's msun does.
func log(f, c float64, k int) float64 {
	s := f / (2 + f)
	z := float64(s * s)
	r := 2.0 / 23
	for _, a := range [...]float64{2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3} {
		r = float64(r*z) + a
	}
	r = float64(r * z)
	h := float64(float64(f/2) * f)
	n := float64(k)
	return float64(n*ln2High) - ((h - (float64(s*(h+r)) + (float64(n*ln2Low) + c))) - f)
}
