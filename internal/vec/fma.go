package vec

import "math"

// FMA is x*y + z with one rounding, as the hardware's fused multiply-add has
// it, subnormal results, signed zeros, infinities and NaNs included.
//
// The product of two float32 is exact in float64, so that only the sum rounds
// twice, to 53 bits and to 24. That differs from rounding once where the first
// rounding ends exactly half way between two float32.
func FMA(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	s := p + float64(z)
	if half(s) || s > -0x1p-126 && s < 0x1p-126 {
		s = sticky(p, float64(z), s)
	}
	return float32(s)
}

// half says whether s lies half way between two float32 that are normal. The
// loops on float64 that hold float32 values, in which no result is subnormal,
// are FMA written out: s = x*y + z, if half(s) then sticky, float64(float32(s)).
// (A function that is all three is beyond what the compiler inlines.)
func half(s float64) bool { return math.Float64bits(s)<<35 == 1<<63 }

// sticky moves s, the rounded sum of p and z, off a tie towards the exact sum:
// to the neighbour of odd significand if the sum was not exact ("rounding to
// odd", Boldo and Melquiond 2008), so that the next rounding sees which way it
// has to go.
func sticky(p, z, s float64) float64 {
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
