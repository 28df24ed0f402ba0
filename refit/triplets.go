package refit

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// A Triplet says that Point is to be nearer to Friend, of its own class, than to
// Impostor. They are indices of the points of a task.
type Triplet struct{ Point, Friend, Impostor int }

// Triplets returns, for every point, its nearest points of the same class, and
// for each of these pairs the nearest points to Point of other classes, all by
// Euclidean distance, and by index among equals (Yu, Lin and Yang 2015, section
// 5.3: the sets N and S of a task, with S of one impostor a pair). A class of one
// point has no pairs, and a task of one class no triplets.
func Triplets(l Labelled, dim, neighbors, impostors int) (pairs [][2]int, triplets []Triplet) {
	n := len(l.Classes)
	order, squares := make([]int, n), make([]float64, n)
	difference := make([]float64, dim)
	for u := range n {
		for v := range n {
			order[v] = v
			squares[v] = squaredDistance(difference, l.Points[u*dim:(u+1)*dim], l.Points[v*dim:(v+1)*dim])
		}
		slices.SortStableFunc(order, func(v, w int) int {
			switch {
			case squares[v] < squares[w]:
				return -1
			case squares[v] > squares[w]:
				return 1
			}
			return 0
		})
		var friends, others []int
		for _, v := range order {
			switch {
			case v == u:
			case l.Classes[v] == l.Classes[u] && len(friends) < neighbors:
				friends = append(friends, v)
			case l.Classes[v] != l.Classes[u] && len(others) < impostors:
				others = append(others, v)
			}
		}
		for _, v := range friends {
			pairs = append(pairs, [2]int{u, v})
			for _, w := range others {
				triplets = append(triplets, Triplet{u, v, w})
			}
		}
	}
	return pairs, triplets
}

func squaredDistance(difference, x, y []float64) float64 {
	for k, v := range x {
		difference[k] = v - y[k]
	}
	return vec.Dot(difference, difference)
}
