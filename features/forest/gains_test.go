package forest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Gains are the falls of the squared error in the children of each node, less the one by chance.
func TestGainsAreFallsOfTheSquaredError(t *testing.T) {
	for name, s := range packables() {
		s.Weights[7], s.Weights[290] = 0, 2.5
		f := Grow(s, 5, 3)
		const from = 40
		want, kinds := make([]float64, s.Dim), s.kinds()
		y := make([]float64, kinds)
		// deviations returns the weight and the squared deviations of the rows that come to a node.
		deviations := func(root, node int32) (weight, squares float64) {
			mean := make([]float64, kinds)
			for pass := range 2 {
				for i := from; i < len(s.Weights); i++ {
					at := root
					for next := at; at != node; at = next {
						if next = f.nodes[at].next(s.X[i*s.Dim : (i+1)*s.Dim]); next == at {
							break
						}
					}
					if at != node {
						continue
					}
					s.target(y, i)
					for k, v := range y {
						if pass == 0 {
							mean[k] += s.Weights[i] * v
						} else {
							squares += s.Weights[i] * (v - mean[k]) * (v - mean[k])
						}
					}
					if pass == 0 {
						weight += s.Weights[i]
					}
				}
				for k := range mean {
					mean[k] /= max(weight, 1e-300)
				}
			}
			return weight, squares
		}
		for tree, root := range f.roots {
			for i, n := range f.nodesOf(tree) {
				at := root + int32(i)
				if n.left == at {
					continue
				}
				weight, all := deviations(root, at)
				inLeft, left := deviations(root, n.left)
				inRight, right := deviations(root, n.left+1)
				if inLeft > 0 && inRight > 0 {
					want[n.column] += all - left - right - all/weight
				}
			}
		}
		for j, got := range f.Gains(s, from, leavesOf(f, s)) {
			if w := max(0, want[j]); !(math.Abs(got-w) <= 1e-8*(1+w)) {
				t.Errorf("%s: column %d gains %v, want %v", name, j, got, w)
			}
		}
	}
}

// target sets y to the targets of a row: of classes, one for each.
func (s *Sample) target(y []float64, row int) {
	if s.Classes == 0 {
		copy(y, s.Targets[row*len(y):])
		return
	}
	clear(y)
	y[int(s.Targets[row])] = 1
}

// leavesOf returns the leaf of each row of s in a tree, counted in it.
func leavesOf(f *Forest, s Sample) func(tree int) []uint16 {
	n := len(s.Weights)
	all := make([]int32, n*f.Trees())
	f.Leaf(all, s.X)
	return func(tree int) (leaves []uint16) {
		first, _ := f.Tree(tree)
		for _, leaf := range all[tree*n : (tree+1)*n] {
			leaves = append(leaves, uint16(int(leaf)-first))
		}
		return leaves
	}
}

// The columns that matter have the gains, on rows that the trees have not seen.
func TestColumnsOfNoiseGainNothing(t *testing.T) {
	const rows, dim = 2000, 20
	for _, classes := range []int{0, 2} {
		s := Sample{Dim: dim, Classes: classes, Thresholds: packedDraws}
		rng := rand.New(rand.NewPCG(5, uint64(classes)))
		for range rows {
			x := make([]float32, dim)
			for j := range x {
				x[j] = float32(rng.NormFloat64())
			}
			y := 1.0
			if (x[3] > 0.5) == (x[11] > 0) {
				y = 0
			}
			s.X, s.Targets, s.Weights = append(s.X, x...), append(s.Targets, y), append(s.Weights, 1)
		}
		first := s
		first.X, first.Targets, first.Weights = s.X[:rows/2*dim], s.Targets[:rows/2], s.Weights[:rows/2]
		grown := Grow(first, 50, 1)
		gains := grown.Gains(s, rows/2, leavesOf(grown, s))
		noise := 0.0
		for j, g := range gains {
			if j != 3 && j != 11 {
				noise += g
			}
		}
		if least := min(gains[3], gains[11]); noise > least/10 {
			t.Errorf("%d classes: the columns that matter gain %v or more, all others %v", classes, least, noise)
		}

		// Trees that know it split in these columns first.
		s.Gains = gains
		count := 0
		f := Grow(s, 50, 2)
		for _, root := range f.roots {
			if c := f.nodes[root].column; c == 3 || c == 11 {
				count++
			}
		}
		if count < 45 {
			t.Errorf("%d classes: %d of 50 roots split in a column that matters", classes, count)
		}
	}
}

// Columns are drawn in proportion to their gains, but for a share that is the same for all, and
// each once in a node.
func TestPreferredColumnsAreDrawnMoreOften(t *testing.T) {
	gains := []float64{0, 3, 0, 1, 0, 0, 0, 0, 0, 4}
	p := newPreferences(gains, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	const draws = 100_000
	count := make([]float64, len(gains))
	for range draws {
		u := rng.Float64()
		column := p.draw(u)
		if first, _ := slices.BinarySearch(p.cumulative, u); int(column) != min(first, len(gains)-1) {
			t.Fatalf("%v draws column %d, want %d", u, column, first)
		}
		count[column]++
	}
	for j, g := range gains {
		want := draws * (alikeShare/10 + (1-alikeShare)*g/8)
		if math.Abs(count[j]-want) > 5*math.Sqrt(want) {
			t.Errorf("column %d is drawn %v times, want about %.0f", j, count[j], want)
		}
	}
	if p.draw(math.Nextafter(1, 0)) != 9 || p.draw(0) != 0 {
		t.Error("the ends of the range are not those of the columns")
	}
	if newPreferences(nil, 0) != nil || newPreferences(make([]float64, 3), 0) != nil {
		t.Error("there are preferences without gains")
	}
	for splits, want := range map[int]int{0: preferredSplits, 3: 3, 100: 50} {
		d := newDrawer(100, 100, newPreferences(gains, splits))
		if wanted, most := d.node(); wanted != want || most != drawsPerSplit*want {
			t.Errorf("%d splits: %d columns in %d draws, want %d", splits, wanted, most, want)
		}
	}
	d := newDrawer(len(gains), len(gains), p)
	for range 50 {
		wanted, most := d.node()
		if wanted != 5 || most != 20 {
			t.Fatalf("%d columns in %d draws, want 5 in 20", wanted, most)
		}
		seen := map[int32]bool{}
		for range most {
			column, first := d.preferred(rng.Float64())
			if first == seen[column] {
				t.Fatalf("column %d was drawn before: %v, and it says %v", column, seen[column], !first)
			}
			seen[column] = true
		}
	}
}

// Rows with weights grow from values instead of ranks, and prefer columns as well.
func TestWeightedRowsPreferColumns(t *testing.T) {
	s := packable(300, 3, 0)
	s.Weights[0] = 2
	if newGrowth(s).packed != nil {
		t.Fatal("rows with weights are packed")
	}
	s.Gains = []float64{0, 1, 0, 0, 0, 0}
	f := Grow(s, 50, 1)
	count := 0
	for _, root := range f.roots {
		if f.nodes[root].column == 1 {
			count++
		}
	}
	if alike := 50 / 2; count <= alike {
		t.Errorf("%d of 50 roots split in the preferred column", count)
	}
}
