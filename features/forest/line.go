package forest

// Line follows the straight line from 0 to the row x through all trees. For each tree it first
// calls visit with column -1, from -1, and the leaf of 0 as to. Then it calls visit in order for
// each change of the leaf along the line: column is that of the split which the line crosses, and
// from and to are the leaves on either side. If the line crosses several splits at the same place,
// the one nearest to the root counts.
func (f *Forest) Line(x []float32, visit func(column, from, to int)) {
	if len(x) != f.dim {
		panic("forest: Line: the row has another length")
	}
	for _, root := range f.roots {
		at := -1.0 // share of the line that has been followed
		leaf := -1
		for column := -1; ; {
			n, next, by := root, 2.0, -1
			for node := &f.nodes[n]; node.left != n; node = &f.nodes[n] {
				n = node.left
				right, crossed := node.threshold < 0, node.crossing(x)
				if crossed > at && crossed < next {
					next, by = crossed, int(node.column)
				}
				if crossed <= at {
					right = !right
				}
				if right {
					n++
				}
			}
			if now := int(f.nodes[n].leaf); now != leaf {
				visit(column, leaf, now)
				leaf = now
			}
			if by < 0 {
				break
			}
			at, column = next, by
		}
	}
}

// crossing returns the share of the line from 0 to x at which it crosses the split, and 2
// if it does not.
func (n *node) crossing(x []float32) float64 {
	v := x[n.column]
	if (v > n.threshold) == (0 > n.threshold) {
		return 2
	}
	return float64(n.threshold) / float64(v)
}
