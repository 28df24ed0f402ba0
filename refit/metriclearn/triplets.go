package metriclearn

import (
	"cmp"
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// A triplet states that point should be nearer to friend, which has the same class, than to
// impostor. All three are indices of points of a task.
type triplet struct{ point, friend, impostor int }

// neighborhoods returns the pairs of every point with its nearest points of the same class, and a
// triplet for each such pair and each of the nearest points of other classes (Yu, Lin and Yang
// 2015, section 5.3: the sets N and S of a task). Points are nearest by Euclidean distance, and by
// index if distances are equal. A class of one point has no pairs, and a task of one class no
// triplets.
func neighborhoods(t Task, dim, neighbors, impostors int) (pairs [][2]int, triplets []triplet) {
	n := len(t.Classes)
	order, squares := make([]int, n), make([]float64, n)
	difference := make([]float64, dim)
	for u := range n {
		for v := range n {
			order[v] = v
			squares[v] = squaredDistance(difference, point(t, dim, u), point(t, dim, v))
		}
		slices.SortStableFunc(order, func(v, w int) int { return cmp.Compare(squares[v], squares[w]) })
		var friends, others []int
		for _, v := range order {
			switch {
			case v == u:
			case t.Classes[v] == t.Classes[u] && len(friends) < neighbors:
				friends = append(friends, v)
			case t.Classes[v] != t.Classes[u] && len(others) < impostors:
				others = append(others, v)
			}
		}
		for _, v := range friends {
			pairs = append(pairs, [2]int{u, v})
			for _, w := range others {
				triplets = append(triplets, triplet{u, v, w})
			}
		}
	}
	return pairs, triplets
}

// squaredDistance returns ‖x-y‖². It overwrites difference.
func squaredDistance(difference, x, y []float64) float64 {
	for k, v := range x {
		difference[k] = v - y[k]
	}
	return vec.Dot(difference, difference)
}
