package forest

import "testing"

// A row that goes through the Table, as often as its Depth says, arrives where the trees take it.
func TestTableIsTheTrees(t *testing.T) {
	for name, s := range samples() {
		f := Grow(s, 7, 1)
		table, deepest := f.Table(), 0
		for i := range 100 {
			x := s.X[i*s.Dim : (i+1)*s.Dim]
			for tree, at := range table.Roots {
				splits := 0
				for range table.Depth {
					next := table.Left[at]
					if x[table.Columns[at]] > table.Thresholds[at] {
						next++
					}
					if next != at {
						splits++
					}
					at = next
				}
				if got, want := table.Leaves[at], int64(f.leafOf(tree, x)); got != want {
					t.Fatalf("%s: row %d arrives at leaf %d of tree %d, want %d", name, i, got, tree, want)
				}
				deepest = max(deepest, splits)
			}
		}
		if table.Depth < deepest || table.Depth > 300 {
			t.Errorf("%s: the depth is %d, a row meets %d splits", name, table.Depth, deepest)
		}
	}
}
