package target

import (
	"math"
	"slices"
)

const (
	// mostSpreads is the distance from the median beyond which a number is an outlier, in root mean
	// squares of the distances of the others. Chosen by trial, see docs/constants.md.
	mostSpreads = 30

	// fewRows is the number of numbers with which the limit is twice as far away as with very many
	// numbers: with few numbers, a large distance is weaker evidence of an outlier. Chosen by
	// trial.
	fewRows = 32

	// leastInliers is the least number of numbers of which one can be an outlier.
	leastInliers = 3
)

// mostOutliers returns the largest number of outliers among n numbers. If more numbers than that
// are far away, none of them counts as an outlier.
func mostOutliers(n int) int { return max(1, min(n/16, max(4, 2+n/128))) }

// InlierRange returns the range outside of which a number in y is an outlier. The range extends
// from the median by mostSpreads times the root mean square of the distances from it, and further
// if there are few numbers. The mean leaves out the largest mostOutliers distances. If half of the
// numbers or more are the same, for example zeros, all others would be far away whatever they are,
// so that there are no outliers. The numbers must be Bounded.
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

// rootMeanSquare returns the root mean square of numbers that are not negative and in ascending
// order.
func rootMeanSquare(d []float64) float64 {
	unit, sum := d[len(d)-1], 0.0 // so that squares are neither zero nor infinite
	for _, v := range d {
		v /= unit
		sum += float64(v * v)
	}
	return unit * math.Sqrt(sum/float64(len(d)))
}

// Inliers returns the numbers in y that are not outliers, in the same order.
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
