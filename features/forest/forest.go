// Package forest has forests of extremely randomised trees (Geurts, Ernst and Wehenkel
// 2006), whose leaves are features of a row: in each tree, the indicator of the leaf
// that the row falls into. Their kernel is the share of the trees in which two rows
// share a leaf (Davies and Ghahramani 2014).
package forest

import "math"

// Forest is trees that do not change. Its leaves are numbered, those of each tree after
// those of the tree before it, and within a tree from left to right. Its methods may be
// called concurrently.
type Forest struct {
	dim   int
	nodes []node // of all trees; the children of a node are neighbours
	roots []int32
	first []int32 // number of the first leaf of each tree, and of all leaves
}

// node is a split or a leaf. A leaf is its own child, so that several rows can descend together
// until the last one has arrived.
type node struct {
	threshold float32 // a row goes right if it is above; +Inf in a leaf
	column    int32
	left      int32 // child; the right one follows
	leaf      int32 // number of the leaf
}

// Trees returns the number of trees. A nil Forest has none.
func (f *Forest) Trees() int {
	if f == nil {
		return 0
	}
	return len(f.roots)
}

// Leaves returns the number of leaves of all trees. A nil Forest has none.
func (f *Forest) Leaves() int {
	if f == nil {
		return 0
	}
	return int(f.first[len(f.roots)])
}

// Tree returns the numbers of the first leaf of a tree and of the leaf after its last.
func (f *Forest) Tree(tree int) (from, to int) { return int(f.first[tree]), int(f.first[tree+1]) }

// Dim returns the length of the rows.
func (f *Forest) Dim() int { return f.dim }

// Leaf sets dst, trees × rows, to the number of the leaf of each row of x in each tree.
func (f *Forest) Leaf(dst []int32, x []float32) { f.LeafOf(dst, x, 0, len(f.roots)) }

// LeafOf is Leaf for the trees [from, to) alone.
func (f *Forest) LeafOf(dst []int32, x []float32, from, to int) {
	n := len(x) / f.dim
	if len(x) != n*f.dim || len(dst) != n*(to-from) {
		panic("forest: Leaf: slice lengths do not match")
	}
	for t, root := range f.roots[from:to] {
		f.descend(dst[t*n:(t+1)*n], x, root)
	}
}

// descend sets dst to the leaf of each row of x below a node. Four rows descend together, so that
// they wait for memory at the same time, and there are no branches to predict.
func (f *Forest) descend(dst []int32, x []float32, root int32) {
	d, nodes := f.dim, f.nodes
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		r := x[i*d : (i+4)*d : (i+4)*d]
		r0, r1, r2, r3 := r[:d], r[d:2*d], r[2*d:3*d], r[3*d:]
		a, b, c, e := root, root, root, root
		for {
			p, q, s, t := &nodes[a], &nodes[b], &nodes[c], &nodes[e]
			na, nb, nc, ne := p.next(r0), q.next(r1), s.next(r2), t.next(r3)
			if (na^a)|(nb^b)|(nc^c)|(ne^e) == 0 {
				break
			}
			a, b, c, e = na, nb, nc, ne
		}
		dst[i], dst[i+1], dst[i+2], dst[i+3] = nodes[a].leaf, nodes[b].leaf, nodes[c].leaf, nodes[e].leaf
	}
	for ; i < len(dst); i++ {
		r, a := x[i*d:(i+1)*d], root
		for na := nodes[a].next(r); na != a; na = nodes[a].next(r) {
			a = na
		}
		dst[i] = nodes[a].leaf
	}
}

// next returns the child of n that the row goes to.
func (n *node) next(x []float32) int32 {
	right := int32(0)
	if x[n.column] > n.threshold {
		right = 1
	}
	return n.left + right
}

// Sum adds to dst, rows × scores, the coefficients of the leaves of each row of x: coef has a row
// of scores for each leaf. The coefficients of a score are summed in the order of the trees,
// whatever the other scores are.
func (f *Forest) Sum(dst []float64, x []float32, coef []float32, scores int) {
	n := len(x) / f.dim
	if len(x) != n*f.dim || len(dst) != n*scores || len(coef) != f.Leaves()*scores {
		panic("forest: Sum: slice lengths do not match")
	}
	var leaves [sumRows]int32
	var sums []float64
	for from := 0; from < n; from += sumRows {
		rows := min(sumRows, n-from)
		sums = append(sums[:0], make([]float64, rows*scores)...)
		at := leaves[:rows]
		for _, root := range f.roots {
			f.descend(at, x[from*f.dim:(from+rows)*f.dim], root)
			addLeaves(sums, at, coef, scores)
		}
		for i, v := range sums {
			dst[from*scores+i] += v
		}
	}
}

// Add adds to dst, rows × scores, the coefficients of the leaves that Leaf found. If dst is 0, the
// result has the bits of Sum.
func (f *Forest) Add(dst []float64, leaves []int32, coef []float32, scores int) {
	n := len(leaves) / max(1, len(f.roots))
	if len(leaves) != n*len(f.roots) || len(dst) != n*scores || len(coef) != f.Leaves()*scores {
		panic("forest: Add: slice lengths do not match")
	}
	for t := range f.roots {
		addLeaves(dst, leaves[t*n:(t+1)*n], coef, scores)
	}
}

// addLeaves adds the coefficients of a leaf for each row.
func addLeaves(sums []float64, leaves []int32, coef []float32, scores int) {
	for i, leaf := range leaves {
		c := coef[int(leaf)*scores : (int(leaf)+1)*scores]
		s := sums[i*scores : i*scores+len(c)]
		for j, v := range c {
			s[j] += float64(v)
		}
	}
}

// sumRows is the number of rows that go through a tree together, while its nodes are in
// the cache.
const sumRows = 64

// leafNode returns a leaf with a number, for the place at among the nodes.
func leafNode(at, number int32) node {
	return node{threshold: float32(math.Inf(1)), left: at, leaf: number}
}
