package forest

import (
	"math/bits"
	"math/rand/v2"
)

// packedWorker grows trees from a packed sample, one after the other.
type packedWorker struct {
	*packed
	kinds   int
	rng     rand.ChaCha8
	numbers []uint16 // of the rows, partitioned in place: each open node has a range of them
	own     []uint64 // words of these rows, in the same order
	moved   []uint16
	away    []uint64
	at      []uint16 // ranks of the node's rows in a column
	drawer  drawer
	nodes   []node
	leaves  int32
	pending []openSums
	all     sums              // of the node
	classes [4 * maxWords]int // its rows by class, if it has classes
	squares int               // of these numbers
	left    sums
	bins    bins
	rare    []words // of each column of two values: see rarer.sum
	rareOf  []int32
	summed  bool // whether rare and rareOf are those of the node

	constant set // columns of which the node's rows are known to have one value
	inherit  []set
}

// openSums is a node that is not decided yet, with its rows and their sum.
type openSums struct {
	open
	sum words
}

func (p *packed) worker(g *growth) *packedWorker {
	n, d := p.rows, len(p.ranks)
	return &packedWorker{
		packed: p, kinds: g.kinds, numbers: make([]uint16, n), own: make([]uint64, n*p.used), moved: make([]uint16, n),
		away: make([]uint64, n*p.used), at: make([]uint16, n), drawer: newDrawer(d, g.among, g.prefer), constant: make(set, d/64+1),
		rare: make([]words, d), rareOf: make([]int32, d),
	}
}

// tree returns the nodes of one tree.
func (w *packedWorker) tree(key [32]byte) []node {
	w.rng.Seed(key)
	for i := range w.numbers {
		w.numbers[i] = uint16(i)
	}
	copy(w.own, w.words)
	w.drawer.begin()
	w.nodes, w.leaves = make([]node, 1, w.rows/2+1), 0
	clear(w.constant)
	w.pending = w.pending[:0]
	root := openSums{open: open{0, 0, int32(w.rows)}}
	for i := range w.rows {
		root.sum.add(w.row(i))
	}
	w.push(root)
	for len(w.pending) > 0 {
		last := len(w.pending) - 1
		o := w.pending[last]
		w.pending = w.pending[:last]
		copy(w.constant, w.inherit[last])
		best := w.split(&o)
		if best.rows == 0 {
			w.nodes[o.node] = leafNode(o.node, w.leaves)
			w.leaves++
			continue
		}
		child := int32(len(w.nodes))
		w.nodes[o.node] = node{threshold: w.threshold(best.column, best.at), column: best.column, left: child}
		w.nodes = append(w.nodes, node{}, node{})
		middle := o.from + int32(best.rows)
		w.partition(o.open, &best)
		o.sum.sub(&best.left)
		w.push(openSums{open{child + 1, middle, o.to}, o.sum})
		w.push(openSums{open{child, o.from, middle}, best.left})
	}
	return w.nodes
}

// row returns the words of a row of the sample.
func (p *packed) row(i int) *words {
	var w words
	copy(w[:], p.words[i*p.used:(i+1)*p.used])
	return &w
}

// push adds a pending node: a child of the node that was split last.
func (w *packedWorker) push(o openSums) {
	at := len(w.pending)
	w.pending = append(w.pending, o)
	if at == len(w.inherit) {
		w.inherit = append(w.inherit, make(set, len(w.constant)))
	}
	copy(w.inherit[at], w.constant)
}

// partition reorders the rows of a node, so that those that go right follow the others.
func (w *packedWorker) partition(o open, c *division) {
	ranks, numbers, own := w.ranks[c.column], w.numbers[o.from:o.to], w.own[int(o.from)*w.used:int(o.to)*w.used]
	left, right := 0, 0
	for i, r := range numbers {
		goes := int((uint32(c.at) - uint32(ranks[r])) >> 31) // 1 to the right
		numbers[left], w.moved[right] = r, r
		from, to, away := own[i*w.used:(i+1)*w.used], own[left*w.used:(left+1)*w.used], w.away[right*w.used:(right+1)*w.used]
		for k, v := range from {
			to[k], away[k] = v, v
		}
		left += 1 - goes
		right += goes
	}
	copy(numbers[left:], w.moved[:right])
	copy(own[left*w.used:], w.away[:right*w.used])
}

// draw returns the column of draw i, and whether the node has drawn it for the first time.
func (w *packedWorker) draw(i int) (column int32, first bool) {
	if w.drawer.prefer != nil {
		return w.drawer.preferred(float64(w.rng.Uint64()>>11) * 0x1p-53)
	}
	return w.drawer.alike(i, i+w.below(len(w.ranks)-i)), true
}

// below returns a number from 0 to n-1.
func (w *packedWorker) below(n int) int {
	high, _ := bits.Mul64(w.rng.Uint64(), uint64(n))
	return int(high)
}
