package metriclearn

import (
	"iter"
	"math"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// transform returns the linear map, dim x dim, that turns the metric into the
// Euclidean distance: row k is an eigenvector times the square root of its
// eigenvalue.
func transform(metric []float64, dim int) []float64 {
	values, f := make([]float64, dim), make([]float64, dim*dim)
	vec.Eigen(values, f, slices.Clone(metric), dim)
	for k, v := range values {
		root := math.Sqrt(max(0, v))
		for l := range dim {
			f[k*dim+l] *= root
		}
	}
	return f
}

// Classify returns the class of each query, row-major: the most frequent class among its k nearest
// points of a task under a metric. If several classes are equally frequent, it is the one with the
// nearest point. A nil metric is the Euclidean one.
func Classify(t Task, dim, k int, metric, queries []float64) []int {
	classes := make([]int, len(queries)/dim)
	for q, nearest := range nearestPoints(t, dim, k, metric, queries) {
		most := 0
		for _, i := range nearest {
			votes := 0
			for _, other := range nearest {
				if t.Classes[other] == t.Classes[i] {
					votes++
				}
			}
			if votes > most {
				most, classes[q] = votes, t.Classes[i]
			}
		}
	}
	return classes
}

// nearestPoints yields the index of each query and its k nearest points, the nearest first. The
// points are valid until the next query.
func nearestPoints(t Task, dim, k int, metric, queries []float64) iter.Seq2[int, []int] {
	points := t.Points
	if metric != nil {
		f := transform(metric, dim)
		points, queries = mapRows(f, points, dim), mapRows(f, queries, dim)
	}
	difference := make([]float64, dim)
	nearest, squares := make([]int, 0, k+1), make([]float64, len(t.Classes))
	return func(yield func(int, []int) bool) {
		for q := range len(queries) / dim {
			nearest = nearest[:0]
			for i := range t.Classes {
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

// mapRows returns the products of f with the rows of x.
func mapRows(f, x []float64, dim int) []float64 {
	out := make([]float64, len(x))
	for i := 0; i < len(x); i += dim {
		for k := range dim {
			out[i+k] = vec.Dot(f[k*dim:(k+1)*dim], x[i:i+dim])
		}
	}
	return out
}
