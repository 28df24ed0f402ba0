package vec

import "math"

// ln 2 in two parts. The high part ends in zeros, so that its product with an exponent is exact.
const (
	ln2High = 0x1.62e42feep-1
	ln2Low  = 0x1.a39ef35793c76p-33
)

// Exp returns e^x within an ulp, with the same bits on every machine.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709.782712893384:
		return math.Inf(1)
	case x < -745.1332191019412:
		return 0
	}
	k, e := expReduced(x)
	return scale(1+e, k)
}

// Expm1 returns e^x - 1 within two ulps, with the same bits on every machine.
func Expm1(x float64) float64 {
	switch {
	case x != x || x == 0:
		return x
	case x > 709.782712893384:
		return math.Inf(1)
	case x < -50:
		return -1
	}
	k, e := expReduced(x)
	switch {
	case k == 0:
		return e
	case k < 64:
		return scale((1-scale(1, -k))+e, k)
	}
	return scale(1+e, k)
}

// Exps sets dst[i] to Exp(x[i]). dst and x may be the same slice.
func Exps(dst, x []float64) { each(dst, x, expVectors, Exp) }

// each sets dst[i] to one(x[i]). vectors does so for some of the first numbers and returns how
// many: it stops before numbers beyond its range, and may leave out the last ones.
func each(dst, x []float64, vectors func(dst, x []float64) int, one func(float64) float64) {
	dst = dst[:len(x)]
	for len(x) > 0 {
		n := vectors(dst, x)
		rest := min(8, len(x)-n)
		for i := n; i < n+rest; i++ {
			dst[i] = one(x[i])
		}
		dst, x = dst[n+rest:], x[n+rest:]
	}
}

// expSeries has the coefficients of r^13, r^12, ... of e^r.
var expSeries = [...]float64{1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2}

// expReduced returns k and e^r - 1 for x = k ln 2 + r, |r| <= ln 2 / 2, by the
// series to r^13.
func expReduced(x float64) (k int, e float64) {
	n := math.RoundToEven(float64(x * (1 / math.Ln2)))
	high, low := x-float64(n*ln2High), float64(n*ln2Low)
	r := high - low
	c := (high - r) - low // the rounding error of r
	p := expSeries[0]
	for _, a := range expSeries[1:] {
		p = float64(p*r) + a
	}
	return int(n), r + (float64(float64(r*r)*p) + (c + float64(c*r)))
}

// scale returns x * 2^k, rounded once, for |k| <= 1100 and x near 1.
func scale(x float64, k int) float64 {
	power := func(k int) float64 { return math.Float64frombits(uint64(1023+k) << 52) }
	switch {
	case k > 1023:
		return x * power(1023) * power(k-1023)
	case k < -1022:
		return x * power(k+1000) * power(-1000)
	}
	return x * power(k)
}

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

// Logs sets dst[i] to Log(x[i]). dst and x may be the same slice.
func Logs(dst, x []float64) { each(dst, x, logVectors, Log) }

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

// logSeries has the coefficients of s²², s²⁰, ... of the series of log.
var logSeries = [...]float64{2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3}

// log returns ln((1+f) 2^k) + c for a small c, by the series of the inverse
// hyperbolic tangent: ln(1+f) = f - f²/2 + s (f²/2 + 2s²/3 + 2s⁴/5 + ...) with
// s = f/(2+f), as FreeBSD's msun does.
func log(f, c float64, k int) float64 {
	s := f / (2 + f)
	z := float64(s * s)
	r := logSeries[0]
	for _, a := range logSeries[1:] {
		r = float64(r*z) + a
	}
	r = float64(r * z)
	h := float64(float64(f/2) * f)
	n := float64(k)
	return float64(n*ln2High) - ((h - (float64(s*(h+r)) + (float64(n*ln2Low) + c))) - f)
}
