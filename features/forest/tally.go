package forest

import (
	"math/bits"

	"github.com/accrete-ml/accrete/internal/vec"
)

// tally counts the rows of a node by class, if all of them have the weight 1. The rows on the left
// of a split are a set, with a bit for each row, and so are the rows of a class. A count is the size
// of their intersection.
type tally struct {
	kinds  int      // classes; 0 if rows are not counted
	of     []uint64 // the rows of each class: [node's rows/64][kinds]
	left   []uint64 // those on the left
	counts []int    // of each class
}

// wordRows is the number of rows in a word of a set.
const wordRows = 64

// mostCounted is the number of classes up to which rows are counted. With more, most of the
// intersections would be empty.
const mostCounted = 64

// tally returns one for nodes of the rows of g.
func (g *growth) tally() (t tally) {
	if g.alike && g.classes != nil && g.kinds <= mostCounted {
		t.kinds, t.counts = g.kinds, make([]int, g.kinds)
		t.left = make([]uint64, vec.Panels(len(g.rows), wordRows))
		t.of = make([]uint64, len(t.left)*g.kinds)
	}
	return t
}

// begin prepares t for a node with these rows of g.
func (t *tally) begin(g *growth, rows []int32) {
	if t.kinds == 0 {
		return
	}
	t.left = t.left[:vec.Panels(len(rows), wordRows)]
	t.of = t.of[:len(t.left)*t.kinds]
	clear(t.of)
	for i, r := range rows {
		t.of[i/wordRows*t.kinds+int(g.classes[r])] |= 1 << (i % wordRows)
	}
}

// below returns the number of rows that are not above the threshold in a column. It sets dst to
// their numbers by class. What follows the last row in column does not count: it is in no class.
func (t *tally) below(column []int32, threshold key, dst []float64) (n int) {
	vec.NotAbove(t.left, column[:len(t.left)*wordRows], int32(threshold))
	counts := t.counts
	clear(counts)
	for i, left := range t.left {
		for k, of := range t.of[i*t.kinds:][:len(counts)] {
			counts[k] += bits.OnesCount64(of & left)
		}
	}
	for k, count := range counts {
		n += count
		dst[k] = float64(count)
	}
	return n
}
