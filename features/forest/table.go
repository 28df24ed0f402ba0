package forest

// Table is the nodes of all trees as columns, for programs that go through the trees in
// another way. A leaf is its own child.
type Table struct {
	Roots      []int64 // node of each tree
	Columns    []int64 // of the split of each node, 0 in a leaf
	Thresholds []float32
	Left       []int64 // child of each node; a row whose value is above the threshold goes to the next one
	Leaves     []int64 // number of the leaf, 0 in a split
	Depth      int     // most splits between a root and a leaf
}

// Table returns the nodes of f.
func (f *Forest) Table() Table {
	t := Table{}
	for _, n := range f.nodes {
		t.Columns, t.Thresholds = append(t.Columns, int64(n.column)), append(t.Thresholds, n.threshold)
		t.Left, t.Leaves = append(t.Left, int64(n.left)), append(t.Leaves, int64(n.leaf))
	}
	for _, root := range f.roots {
		t.Roots = append(t.Roots, int64(root))
		depth := -1 // of the nodes in at
		for at := []int32{root}; len(at) > 0; depth++ {
			var below []int32
			for _, n := range at {
				if left := f.nodes[n].left; left != n {
					below = append(below, left, left+1)
				}
			}
			at = below
		}
		t.Depth = max(t.Depth, depth)
	}
	return t
}
