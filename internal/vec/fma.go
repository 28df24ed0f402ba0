package vec

import "math"

// FMA returns x*y + z with one rounding, as hardware does, for subnormal results,
// signed zeros, infinities and NaNs as well.
//
// The product of two float32 is exact in float64, and only the sum is rounded
// twice, to 53 bits and to 24. That differs from rounding once if the first
// rounding ends exactly half way between two float32.
func FMA(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	s := p + float64(z)
	if isTie(s) || s > -0x1p-126 && s < 0x1p-126 {
		s = roundToOdd(p, float64(z), s)
	}
	return float32(s)
}

// isTie reports whether s lies half way between two float32 that are normal. The
// loops on float64 that hold float32 values, in which no result is subnormal,
// are FMA written out: s = x*y + z, if isTie(s) then sticky, float64(float32(s)).
// (A function that is all three is beyond what the compiler inlines.)
func isTie(s float64) bool { return math.Float64bits(s)<<35 == 1<<63 }

// roundToOdd moves s, the rounded sum of p and z, off a tie towards the exact sum:
// to the neighbour of odd significand if the sum was not exact ("rounding to
// odd", Boldo and Melquiond 2008), so that the next rounding sees which way it
// has to go.
func roundToOdd(p, z, s float64) float64 {
	v := s - p
	e := (p - (s - v)) + (z - v) // what s lacks, exactly (Knuth)
	b := math.Float64bits(s)
	if e == 0 || b&1 == 1 || e != e {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}
