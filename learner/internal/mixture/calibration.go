package mixture

import "math"

const (
	// bins is the number of intervals of the logarithm of the odds, of the same length,
	// from -mostBinned to mostBinned.
	bins       = 24
	mostBinned = 6

	// binForget is the factor of the counts so far for each row, and binPrior the number
	// of rows that the uncalibrated probability counts for.
	binForget = 0.9995
	binPrior  = 8
)

// calibration corrects the probability of the second of two classes by how often it came
// true where the probability was similar: with n rows in the bin of p, s of them of the
// class, it is (s + 8p)/(n + 8).
type calibration struct{ rows, hits []float64 }

func newCalibration(of []float64) calibration {
	return calibration{of[:bins:bins], of[bins : 2*bins]}
}

// bin returns the bin of the logarithm of odds.
func bin(odds float64) int {
	return int(max(0, min(bins-1, math.Floor((odds+mostBinned)*(bins/(2.0*mostBinned))))))
}

// of returns the calibrated probability.
func (c *calibration) of(odds, p float64) float64 {
	b := bin(odds)
	return (c.hits[b] + float64(binPrior*p)) / (c.rows[b] + binPrior)
}

func (c *calibration) learn(odds, weight float64, hit bool) {
	scale(c.rows, binForget)
	scale(c.hits, binForget)
	b := bin(odds)
	c.rows[b] += weight
	if hit {
		c.hits[b] += weight
	}
}
