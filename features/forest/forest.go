// Package forest has forests of extremely randomised trees (Geurts, Ernst and Wehenkel
// 2006), whose leaves are features of a row: in each tree, the indicator of the leaf
// that the row falls into. Their kernel is the share of the trees in which two rows
// share a leaf (Davies and Ghahramani 2014).
package forest

import (
	"math"
	"slices"
)

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
	f.find(dst, x, n, f.roots[from:to])
}

// find sets dst, trees × rows, to the leaves of the n rows of x in the trees with these roots. Four
// rows descend together in a tree, and rows that are left over in four trees.
func (f *Forest) find(dst []int32, x []float32, n int, roots []int32) {
	row := func(i int) []float32 { return x[i*f.dim : (i+1)*f.dim : (i+1)*f.dim] }
	together := n &^ 3
	for t, root := range roots {
		for i := 0; i < together; i += 4 {
			at := dst[t*n+i:][:4]
			at[0], at[1], at[2], at[3] = f.descend(row(i), row(i+1), row(i+2), row(i+3), root, root, root, root)
		}
	}
	last := len(roots) - 1
	for i := together; i < n; i++ {
		r := row(i)
		for t := 0; t <= last; t += 4 {
			a, b, c, e := f.descend(r, r, r, r, roots[t], roots[min(t+1, last)], roots[min(t+2, last)], roots[min(t+3, last)])
			for k, leaf := range [4]int32{a, b, c, e} {
				if t+k <= last {
					dst[(t+k)*n+i] = leaf
				}
			}
		}
	}
}

// descend returns the leaf of each of four rows below one of four nodes. The rows wait for memory
// at the same time, and there are no branches to predict but the last.
func (f *Forest) descend(r0, r1, r2, r3 []float32, a, b, c, e int32) (leaf0, leaf1, leaf2, leaf3 int32) {
	nodes := f.nodes
	for {
		p, q, s, t := &nodes[a], &nodes[b], &nodes[c], &nodes[e]
		na, nb, nc, ne := p.next(r0), q.next(r1), s.next(r2), t.next(r3)
		if (na^a)|(nb^b)|(nc^c)|(ne^e) == 0 {
			return p.leaf, q.leaf, s.leaf, t.leaf
		}
		a, b, c, e = na, nb, nc, ne
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
	var leaves [sumTrees * sumRows]int32
	var sums []float64
	for from := 0; from < n; from += sumRows {
		rows := min(sumRows, n-from)
		sums = append(sums[:0], make([]float64, rows*scores)...)
		for roots := range slices.Chunk(f.roots, sumTrees) {
			f.find(leaves[:len(roots)*rows], x[from*f.dim:(from+rows)*f.dim], rows, roots)
			for t := range roots {
				addLeaves(sums, leaves[t*rows:(t+1)*rows], coef, scores)
			}
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

// sumRows rows go through a tree together, while its nodes are in the cache. The leaves of sumTrees
// trees are found before any of their coefficients is added.
const sumRows, sumTrees = 64, 4

// leafNode returns a leaf with a number, for the place at among the nodes.
func leafNode(at, number int32) node {
	return node{threshold: float32(math.Inf(1)), left: at, leaf: number}
}
