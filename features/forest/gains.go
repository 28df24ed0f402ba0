package forest

import (
	"math/bits"
	"slices"
)

// Gains returns how much each column matters for the targets of the rows of s from row from on. The
// gain of a split is how much it lowers the squared error, as its two children predict their means,
// beyond what a split by chance would. The gain of a column is the sum over its splits in all
// trees, or 0 if that is negative. The trees must not have grown from these rows, for which their
// splits would be too good.
//
// leaves returns the leaf of each row of s in a tree, counted from the first leaf of this tree.
func (f *Forest) Gains(s Sample, from int, leaves func(tree int) []uint16) []float64 {
	gains, g := make([]float64, s.Dim), newGainer(&s, from)
	for t, root := range f.roots {
		nodes := f.nodesOf(t)
		g.sum(nodes, root, f.first[t], leaves(t))
		for at, n := range nodes {
			if n.left-root == int32(at) {
				continue
			}
			all, left, right := g.sums[at], g.sums[n.left-root], g.sums[n.left-root+1]
			if left.weight > 0 && right.weight > 0 {
				chance := (all.squares - all.purity) / all.weight
				gains[n.column] += left.purity + right.purity - all.purity - chance
			}
		}
	}
	for j, v := range gains {
		gains[j] = max(0, v)
	}
	return gains
}

// gainer sums the targets of rows in the nodes of one tree after the other.
type gainer struct {
	from    int       // number of the first of the rows
	classes []int32   // of the rows, if they have any
	weights []float64 // of the rows
	squares []float64 // of their targets, weighted
	targets []float64 // weighted
	of      []float64 // sums of the targets of a node

	sums        []moments // of the nodes of a tree
	low         []int32   // first leaf of each node
	rows, moved []int32   // of the node's subtree, in place
	pending     []open
}

func newGainer(s *Sample, from int) *gainer {
	n, y := len(s.Weights)-from, make([]float64, s.kinds())
	g := &gainer{
		from: from, weights: s.Weights[from:], squares: make([]float64, n), of: make([]float64, len(y)),
		rows: make([]int32, n), moved: make([]int32, n),
	}
	for i, weight := range g.weights {
		if s.Classes > 0 {
			g.classes = append(g.classes, int32(s.Targets[from+i]))
			g.squares[i] = weight
			continue
		}
		squares := 0.0
		for _, v := range s.Targets[(from+i)*len(y) : (from+i+1)*len(y)] {
			squares += float64(v * v)
			g.targets = append(g.targets, float64(weight*v))
		}
		g.squares[i] = float64(weight * squares)
	}
	return g
}

// sum computes the sums of the nodes of a tree, given its root and its first leaf, each in the
// order of its rows. Leaves count from left to right, so that the number of its leaf determines the
// path of a row.
func (g *gainer) sum(nodes []node, root, first int32, leaves []uint16) {
	g.sums, g.low = slices.Grow(g.sums[:0], len(nodes))[:len(nodes)], slices.Grow(g.low[:0], len(nodes))[:len(nodes)]
	clear(g.sums)
	for at := len(nodes) - 1; at >= 0; at-- { // children come after their parent
		if left := nodes[at].left - root; left == int32(at) {
			g.low[at] = nodes[at].leaf - first
		} else {
			g.low[at] = g.low[left]
		}
	}
	for i := range g.rows {
		g.rows[i] = int32(i)
	}
	leaves = leaves[g.from:]
	g.pending = append(g.pending[:0], open{0, 0, int32(len(g.rows))})
	for len(g.pending) > 0 {
		last := len(g.pending) - 1
		o := g.pending[last]
		g.pending = g.pending[:last]
		rows := g.rows[o.from:o.to]
		g.sums[o.node] = g.moments(rows)
		left := nodes[o.node].left - root
		if left == o.node || len(rows) == 0 {
			continue
		}
		end, stay, away := g.low[left+1], 0, 0
		for _, r := range rows {
			rows[stay], g.moved[away] = r, r
			right := int(uint32(end-1-int32(leaves[r])) >> 31)
			stay += 1 - right
			away += right
		}
		copy(rows[stay:], g.moved[:away])
		g.pending = append(g.pending, open{left + 1, o.from + int32(stay), o.to}, open{left, o.from, o.from + int32(stay)})
	}
}

// moments returns the moments of some rows.
func (g *gainer) moments(rows []int32) (m moments) {
	clear(g.of)
	for _, r := range rows {
		m.weight += g.weights[r]
		m.squares += g.squares[r]
	}
	if g.classes != nil {
		for _, r := range rows {
			g.of[g.classes[r]] += g.weights[r]
		}
	} else {
		k := len(g.of)
		for _, r := range rows {
			for j, v := range g.targets[int(r)*k:][:k] {
				g.of[j] += v
			}
		}
	}
	for _, v := range g.of {
		m.purity += float64(v * v)
	}
	if m.weight > 0 {
		m.purity /= m.weight
	}
	return m
}

// moments are the weight, the weighted sum of squares and the purity of the rows of a node.
type moments struct{ weight, squares, purity float64 }

// kinds returns the number of targets of a row. Each class counts as a target.
func (s *Sample) kinds() int {
	if s.Classes > 0 {
		return s.Classes
	}
	return len(s.Targets) / max(1, len(s.Weights))
}

const (
	// alikeShare is the share of the draws that ignores the preferences. Chosen by trial:
	// docs/forest.md.
	alikeShare = 0.1

	// preferredSplits is the number of splits that are compared at a node if some columns are
	// preferred. It is lower than for columns that are all drawn alike. Chosen by trial:
	// docs/forest.md.
	preferredSplits = 16

	// drawsPerSplit bounds the number of draws for each of these splits. Some draws repeat a
	// column, and some have a column that does not divide the rows.
	drawsPerSplit = 4
)

// preferences draw columns at random, some more often than others.
type preferences struct {
	cumulative []float64 // probabilities
	guide      []int32   // column at the beginning of each of equal parts of [0, 1)
	splits     int       // compared at a node
}

// newPreferences returns preferences in proportion to gains, except for alikeShare, or nil if there
// is no gain. splits is the number of splits to compare at a node; 0 stands for preferredSplits.
func newPreferences(gains []float64, splits int) *preferences {
	total := 0.0
	for _, g := range gains {
		total += g
	}
	if !(total > 0) {
		return nil
	}
	if splits == 0 {
		splits = preferredSplits
	}
	p := &preferences{splits: splits, guide: make([]int32, 1<<bits.Len(uint(guided*len(gains))))}
	sum, alike := 0.0, alikeShare/float64(len(gains))
	for _, g := range gains {
		sum += alike + float64((1-alikeShare)*(g/total))
		p.cumulative = append(p.cumulative, sum)
	}
	for i := range p.guide {
		at, _ := slices.BinarySearch(p.cumulative, float64(i)/float64(len(p.guide)))
		p.guide[i] = int32(at)
	}
	return p
}

// guided is the least number of parts of a guide for each column. With it, a search takes a step or
// two.
const guided = 2

// draw returns the first column with a cumulative probability of at least u, a uniform number in
// [0, 1).
func (p *preferences) draw(u float64) int32 {
	at := int(p.guide[int(u*float64(len(p.guide)))])
	for at < len(p.cumulative)-1 && p.cumulative[at] < u {
		at++
	}
	return int32(min(at, len(p.cumulative)-1))
}

// drawer draws the columns of one node after the other, each of them at most once.
type drawer struct {
	prefer *preferences
	wanted int     // columns that are compared at a node, unless some are preferred
	order  []int32 // columns, of which the first are those of the node
	drawn  set     // those of the node, with preferences
}

// newDrawer returns a drawer of columns, of which half of those that are counted are compared at a
// node.
func newDrawer(columns, counted int, prefer *preferences) drawer {
	d := drawer{prefer: prefer, wanted: (counted + 1) / 2, order: make([]int32, columns)}
	if prefer != nil {
		d.drawn = make(set, columns/64+1)
	}
	return d
}

// begin prepares d for a tree.
func (d *drawer) begin() {
	for j := range d.order {
		d.order[j] = int32(j)
	}
}

// node prepares d for a node. It returns how many columns with a valid split are wanted, and the
// largest number of draws.
func (d *drawer) node() (wanted, draws int) {
	clear(d.drawn)
	if d.prefer != nil {
		wanted = min(d.wanted, d.prefer.splits)
		return wanted, drawsPerSplit * wanted
	}
	return min(d.wanted, maxSplits), min(len(d.order), maxColumns)
}

// alike returns the column of draw i for a number from i to len(order)-1.
func (d *drawer) alike(i, j int) int32 {
	d.order[i], d.order[j] = d.order[j], d.order[i]
	return d.order[i]
}

// preferred returns a column for u, and whether the node has drawn it for the first time.
func (d *drawer) preferred(u float64) (column int32, first bool) {
	column = d.prefer.draw(u)
	first = !d.drawn.has(column)
	d.drawn.add(column)
	return column, first
}
