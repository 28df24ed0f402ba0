package vec

import (
	"math"
	"math/bits"
)

// pi/2 in three parts, the first two with 33 bits, and in two parts with 53 bits each.
const (
	halfPi1    = 0x1.921fb544p+0
	halfPi2    = 0x1.0b4611a6p-34
	halfPi3    = 0x1.3198a2e037073p-69
	halfPi     = 0x1.921fb54442d18p+0
	halfPiTail = 0x1.1a62633145c07p-54
)

// Sincos returns the sine and the cosine of x within an ulp, with the same bits
// on every machine.
func Sincos(x float64) (sin, cos float64) {
	if x-x != 0 {
		return math.NaN(), math.NaN()
	}
	q, r, t := quadrant(x)
	sin, cos = sincosReduced(r, t)
	switch q & 3 {
	case 1:
		return cos, -sin
	case 2:
		return -sin, -cos
	case 3:
		return -cos, sin
	}
	return sin, cos
}

// Sin returns the sine of x, as Sincos does.
func Sin(x float64) float64 {
	s, _ := Sincos(x)
	return s
}

// quadrant returns q, and x - q pi/2 as r + t, where |r| is at most slightly above pi/4.
func quadrant(x float64) (q int, r, t float64) {
	switch a := math.Abs(x); {
	case a <= math.Pi/4:
		return 0, x, 0
	case a >= 1<<20:
		return manyTurns(x)
	}
	n := math.RoundToEven(float64(x * (1 / halfPi)))
	// The first two products are exact (Cody and Waite 1980).
	a := x - float64(n*halfPi1)
	b := float64(n * halfPi2)
	r = a - b
	t = (a - r) - b
	c := float64(n * halfPi3)
	s := r - c
	t += (r - s) - c
	return int(n), s + t, (s - (s + t)) + t
}

// sincosReduced returns the sine and the cosine of x + t for a small t, by their
// series to x^17 and x^18.
func sincosReduced(x, t float64) (sin, cos float64) {
	z := float64(x * x)
	p := 1.0 / 355687428096000
	for _, a := range [...]float64{-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6} {
		p = float64(p*z) + a
	}
	sin = x + (float64(float64(z*x)*p) + (t - float64(float64(t*z)/2)))

	p = -1.0 / 6402373705728000
	for _, a := range [...]float64{1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24} {
		p = float64(p*z) + a
	}
	h := z / 2
	w := 1 - h
	cos = w + (((1 - w) - h) + (float64(float64(z*z)*p) - float64(x*t)))
	return sin, cos
}

// twoOverPi is 2/pi in binary, 64 digits per word.
var twoOverPi = [...]uint64{
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
}

// manyTurns is quadrant for a large x = m 2^e. In the product of m and 2/pi, the
// leading digits of 2/pi contribute multiples of four quadrants; 192 digits after
// them are enough (Payne and Hanek 1983).
func manyTurns(x float64) (q int, r, t float64) {
	b := math.Float64bits(x)
	e := int(b>>52&0x7ff) - 1075
	m := b&(1<<52-1) | 1<<52
	at := e - 2 // number of leading digits of 2/pi that are left out
	word := func(at int) uint64 {
		if at < 0 {
			if at <= -64 {
				return 0
			}
			return twoOverPi[0] >> -at
		}
		i, s := at/64, at%64
		return twoOverPi[i]<<s | twoOverPi[i+1]>>(64-s)
	}
	// The product modulo four quadrants, as a fixed-point number of 192 places
	// with two of them before the point.
	h2, p2 := bits.Mul64(m, word(at+128))
	h1, p1 := bits.Mul64(m, word(at+64))
	p0 := m * word(at)
	p1, carry := bits.Add64(p1, h2, 0)
	p0, _ = bits.Add64(p0, h1, carry)
	q = int(p0 >> 62)
	p0, p1, p2 = p0<<2|p1>>62, p1<<2|p2>>62, p2<<2
	negative := p0>>63 == 1 // in the second half of a quadrant: count from the next one
	if negative {
		q++
		p2, carry = bits.Sub64(0, p2, 0)
		p1, carry = bits.Sub64(0, p1, carry)
		p0, _ = bits.Sub64(0, p0, carry)
	}
	places := 0
	if p0 == 0 {
		p0, p1, p2, places = p1, p2, 0, 64
	}
	s := bits.LeadingZeros64(p0)
	p0, p1 = p0<<s|p1>>(64-s), p1<<s|p2>>(64-s)
	places += s
	high := math.Ldexp(float64(p0>>11), -53-places)
	low := math.Ldexp(float64(p0<<53>>11|p1>>22), -106-places)
	r = float64(high * halfPi)
	t = math.FMA(high, halfPi, -r) + (float64(high*halfPiTail) + float64(low*halfPi))
	r, t = r+t, (r-(r+t))+t
	if negative {
		r, t = -r, -t
	}
	if x < 0 {
		return -q, -r, -t
	}
	return q, r, t
}
