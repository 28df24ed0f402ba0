package refit

import (
	"iter"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Transform returns the linear map, dim x dim, in whose image the metric is the
// Euclidean distance: row k is an eigenvector times the square root of its
// eigenvalue.
func Transform(metric []float64, dim int) []float64 {
	values, f, _ := eigen(metric, dim)
	for k, v := range values {
		root := math.Sqrt(max(0, v))
		for l := range dim {
			f[k*dim+l] *= root
		}
	}
	return f
}

// NearestNeighbors returns the class of each query, row-major: that of most of
// its k nearest points under a metric, and of those equally many, the one with
// the nearest point. A nil metric is the Euclidean one.
func NearestNeighbors(l Labelled, dim, k int, metric, queries []float64) []int {
	classes := make([]int, len(queries)/dim)
	for q, nearest := range nearestPoints(l, dim, k, metric, queries) {
		most := 0
		for _, i := range nearest {
			votes := 0
			for _, other := range nearest {
				if l.Classes[other] == l.Classes[i] {
					votes++
				}
			}
			if votes > most {
				most, classes[q] = votes, l.Classes[i]
			}
		}
	}
	return classes
}

// nearestPoints yields each query's number and its k nearest points, the nearest
// first, which are valid until the next.
func nearestPoints(l Labelled, dim, k int, metric, queries []float64) iter.Seq2[int, []int] {
	points := l.Points
	if metric != nil {
		f := Transform(metric, dim)
		points, queries = through(f, points, dim), through(f, queries, dim)
	}
	difference := make([]float64, dim)
	nearest, squares := make([]int, 0, k+1), make([]float64, len(l.Classes))
	return func(yield func(int, []int) bool) {
		for q := range len(queries) / dim {
			nearest = nearest[:0]
			for i := range l.Classes {
				squares[i] = squaredDistance(difference, queries[q*dim:(q+1)*dim], points[i*dim:(i+1)*dim])
				at := len(nearest)
				for at > 0 && squares[nearest[at-1]] > squares[i] {
					at--
				}
				if at < k {
					nearest = slices.Insert(nearest, at, i)
					nearest = nearest[:min(len(nearest), k)]
				}
			}
			if !yield(q, nearest) {
				return
			}
		}
	}
}

// through is the rows of x, each through the map f.
func through(f, x []float64, dim int) []float64 {
	out := make([]float64, len(x))
	for i := 0; i < len(x); i += dim {
		for k := range dim {
			out[i+k] = vec.Dot(f[k*dim:(k+1)*dim], x[i:i+dim])
		}
	}
	return out
}
