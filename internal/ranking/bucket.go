package ranking

import "math"

// A histogram of probabilities has buckets of equal width in an approximation of the logarithm of
// the odds: the exponent and the first six bits of the mantissa. Odds in the same bucket differ by
// at most 1/64. No logarithm is computed, so that the buckets are the same on every machine.
const (
	mantissaBits = 6
	octaves      = 64 // odds of 2⁻³² to 2³²: probabilities of 2.3e-10 to 1 - 2.3e-10
	Buckets      = octaves << mantissaBits

	shift  = 52 - mantissaBits
	lowest = (1023 - octaves/2) << mantissaBits
)

// Bucket returns the bucket of odds. Odds out of range are in the first or the last bucket. NaN
// counts as 0.
func Bucket(odds float64) int {
	if !(odds > 0) {
		return 0
	}
	return max(0, min(Buckets-1, int(math.Float64bits(odds)>>shift)-lowest))
}

// Edge returns the least odds in a bucket.
func Edge(bucket int) float64 {
	if bucket <= 0 {
		return 0
	}
	return math.Float64frombits(uint64(bucket+lowest) << shift)
}
