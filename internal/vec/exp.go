package vec

import "math"

// ln 2 in two pieces. The high one ends in zeros, so that its product with an
// exponent is exact.
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

// Exps sets dst[i] to Exp(x[i]). They may be the same slice.
func Exps(dst, x []float64) {
	dst = dst[:len(x)]
	for len(x) > 0 {
		n := expVectors(dst, x)
		// The vectors leave out numbers beyond their range, and the last ones.
		rest := min(8, len(x)-n)
		for i := n; i < n+rest; i++ {
			dst[i] = Exp(x[i])
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
	c := (high - r) - low // what r lacks
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
