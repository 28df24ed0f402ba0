package dsg

import (
	"math"
	"math/rand/v2"
	"slices"
)

// wave is the function of section 7.1 at the point (x, y).
func wave(x, y float64) float64 {
	r := math.Hypot(x, y)
	return math.Cos(0.5*math.Pi*r) * math.Exp(-0.1*math.Pi*r)
}

// noise is the standard deviation of the labels around wave.
const noise = 0.1

// sample appends n points in [-5, 5]² to x, two numbers each, and their labels to y.
func sample(r *rand.Rand, n int, x []float32, y []float64) ([]float32, []float64) {
	for range n {
		a, b := float32(10*r.Float64()-5), float32(10*r.Float64()-5)
		x = append(x, a, b)
		y = append(y, wave(float64(a), float64(b))+noise*r.NormFloat64())
	}
	return x, y
}

// squaredDistance returns the squared distance between row i of a and row j of b, which have dim
// columns.
func squaredDistance(a, b []float32, i, j, dim int) float64 {
	sum := 0.0
	for k := range dim {
		d := float64(a[i*dim+k]) - float64(b[j*dim+k])
		sum += d * d
	}
	return sum
}

// medianDistance returns the median distance between the first rows of x, at most 1,000.
func medianDistance(x []float32, dim int) float64 {
	n := min(1000, len(x)/dim)
	all := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		for j := range i {
			all = append(all, squaredDistance(x, x, i, j, dim))
		}
	}
	slices.Sort(all)
	return math.Sqrt(all[len(all)/2])
}

// gaussian returns the Gaussian kernel with scale s at a squared distance.
func gaussian(squared, s float64) float64 { return math.Exp(-squared / (2 * s * s)) }
