package target

import (
	"math"
	"slices"
)

const (
	// mostSpreads is the distance of an outlier from the median, in root mean squares of the
	// distances of the others. Chosen by trial, see docs/constants.md.
	mostSpreads = 30

	// fewRows numbers say as much against a distance as one says for it: outliers among fewer
	// are further away. Chosen by trial.
	fewRows = 32

	// leastInliers is the number of numbers from which on one can be an outlier.
	leastInliers = 3
)

// mostOutliers returns the largest number of outliers among n numbers: if there are more of
// their kind, none of them is one.
func mostOutliers(n int) int { return max(1, min(n/16, max(4, 2+n/128))) }

// InlierRange returns a range of numbers outside of which those in y are outliers: up to
// mostSpreads times the root mean square of the distances from the median, without the largest
// mostOutliers of these. Where half of the numbers or more are the same, as zeros, the others are
// far from them whatever they are, and there are no outliers. The numbers must be Bounded.
func InlierRange(y []float64) (lo, hi float64) {
	n := len(y)
	if n < leastInliers {
		return math.Inf(-1), math.Inf(1)
	}
	d := slices.Clone(y)
	slices.Sort(d)
	median := d[n/2]
	for i, v := range d {
		d[i] = math.Abs(v - median)
	}
	slices.Sort(d)
	if d[n/2] == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	most := float64(mostSpreads * float64(1+fewRows/float64(n)) * rootMeanSquare(d[:n-mostOutliers(n)]))
	return median - most, median + most
}

// rootMeanSquare is that of numbers that are not negative and in ascending order.
func rootMeanSquare(d []float64) float64 {
	unit, sum := d[len(d)-1], 0.0 // so that squares are neither zero nor infinite
	for _, v := range d {
		v /= unit
		sum += float64(v * v)
	}
	return unit * math.Sqrt(sum/float64(len(d)))
}

// Inliers returns the numbers in y that are no outliers, in their order.
func Inliers(y []float64) []float64 {
	lo, hi := InlierRange(y)
	rest := make([]float64, 0, len(y))
	for _, v := range y {
		if v >= lo && v <= hi {
			rest = append(rest, v)
		}
	}
	return rest
}
