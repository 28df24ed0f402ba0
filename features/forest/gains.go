package forest

import "slices"

// Gains returns how much each column matters for the targets of the rows of s from a row on, in
// the trees: how much the splits in the column lower the squared error of the sums in their two
// children, beyond what a split by chance would, or 0. The trees must not have grown from these
// rows, for which their splits would be too good.
func (f *Forest) Gains(s Sample, from int) []float64 {
	gains, y := make([]float64, s.Dim), make([]float64, s.kinds())
	var sums []moments // of the nodes of a tree, and of their targets
	var of []float64
	for t, root := range f.roots {
		nodes := f.nodesOf(t)
		sums, of = slices.Grow(sums[:0], len(nodes))[:len(nodes)], slices.Grow(of[:0], len(nodes)*len(y))[:len(nodes)*len(y)]
		clear(sums)
		clear(of)
		for i := from; i < len(s.Weights); i++ {
			s.target(y, i)
			x, weight, squares := s.X[i*s.Dim:(i+1)*s.Dim], s.Weights[i], 0.0
			for _, v := range y {
				squares += float64(v * v)
			}
			for at, next := int32(-1), int32(0); next != at; {
				at = next
				sums[at].weight += weight
				sums[at].squares += float64(weight * squares)
				for k, v := range y {
					of[int(at)*len(y)+k] += float64(weight * v)
				}
				next = nodes[at].next(x) - root
			}
		}
		for at := range sums {
			for _, v := range of[at*len(y) : (at+1)*len(y)] {
				sums[at].purity += float64(v * v)
			}
			if sums[at].weight > 0 {
				sums[at].purity /= sums[at].weight
			}
		}
		for at, n := range nodes {
			if n.left-root == int32(at) {
				continue
			}
			all, left, right := sums[at], sums[n.left-root], sums[n.left-root+1]
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

// moments are those of the rows of a node.
type moments struct{ weight, squares, purity float64 }

// kinds returns the number of targets of a row: of classes, one for each.
func (s *Sample) kinds() int {
	if s.Classes > 0 {
		return s.Classes
	}
	return len(s.Targets) / max(1, len(s.Weights))
}

// target sets y to the targets of a row.
func (s *Sample) target(y []float64, row int) {
	if s.Classes == 0 {
		copy(y, s.Targets[row*len(y):])
		return
	}
	clear(y)
	y[int(s.Targets[row])] = 1
}

const (
	// alikeShare is the share of the draws that ignores the preferences. Chosen by trial:
	// docs/forest.md.
	alikeShare = 0.1

	// preferredSplits are compared at a node if some columns are preferred: fewer than of columns
	// that are drawn alike. Chosen by trial: docs/forest.md.
	preferredSplits = 16

	// drawsPerSplit bounds the draws for each of them, of which some repeat others or have a column
	// that does not divide the rows.
	drawsPerSplit = 4
)

// preferences draw columns at random, some more often than others.
type preferences []float64 // cumulative probabilities

// newPreferences returns those in proportion to gains, but for alikeShare; nil without any gain.
func newPreferences(gains []float64) preferences {
	total := 0.0
	for _, g := range gains {
		total += g
	}
	if !(total > 0) {
		return nil
	}
	var p preferences
	sum, alike := 0.0, alikeShare/float64(len(gains))
	for _, g := range gains {
		sum += alike + float64((1-alikeShare)*(g/total))
		p = append(p, sum)
	}
	return p
}

// draw returns the column at u, uniform in [0, 1).
func (p preferences) draw(u float64) int32 {
	at, _ := slices.BinarySearch(p, u)
	return int32(min(at, len(p)-1))
}

// drawer draws the columns of one node after the other, each of them at most once.
type drawer struct {
	prefer preferences
	order  []int32 // columns, of which the first are those of the node
	drawn  set     // those of the node, with preferences
}

func newDrawer(columns int, prefer preferences) drawer {
	d := drawer{prefer: prefer, order: make([]int32, columns)}
	if prefer != nil {
		d.drawn = make(set, columns/64+1)
	}
	return d
}

// begin begins a tree.
func (d *drawer) begin() {
	for j := range d.order {
		d.order[j] = int32(j)
	}
}

// node begins a node. It returns how many columns with a valid split are wanted, and how many
// draws there are at most.
func (d *drawer) node() (wanted, draws int) {
	clear(d.drawn)
	wanted = (len(d.order) + 1) / 2
	if d.prefer != nil {
		wanted = min(wanted, preferredSplits)
		return wanted, drawsPerSplit * wanted
	}
	return min(wanted, maxSplits), min(len(d.order), maxColumns)
}

// alike returns the column of draw i for a number from i to len(order)-1.
func (d *drawer) alike(i, j int) int32 {
	d.order[i], d.order[j] = d.order[j], d.order[i]
	return d.order[i]
}

// preferred returns a column for u, and whether the node did not have it yet.
func (d *drawer) preferred(u float64) (column int32, first bool) {
	column = d.prefer.draw(u)
	first = !d.drawn.has(column)
	d.drawn.add(column)
	return column, first
}
