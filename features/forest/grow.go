package forest

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Sample is the rows that trees grow from.
type Sample struct {
	X       []float32 // rows × Dim, finite
	Dim     int
	Targets []float64 // rows × targets: numbers; or the class of each row
	Classes int       // 0: targets are numbers
	Weights []float64 // of the rows, 0 or more

	// Thresholds is the number of thresholds that are drawn in a column at a node: 0 for one.
	// With more, fewer trees are needed where the labels jump. With 4, of rows of the weight 1,
	// they are uniform among the ranks of the values, and not among the values.
	Thresholds int

	// Gains is nil, or how much each column matters, see Forest.Gains: columns that matter more are
	// drawn more often, and fewer columns are compared at a node.
	Gains []float64

	// Splits is the number of columns that are compared at a node with Gains: 0 for
	// preferredSplits.
	Splits int

	// Varying means that only columns of which the rows have two values count for Dim/2, see Grow.
	Varying bool

	// Shared is nil, or what samples of the same rows and weights share.
	Shared *Shared
}

// minLeafRows is the least number of rows of the sample in a leaf. Chosen by trial,
// see docs/constants.md.
const minLeafRows = 3

// These bound the time that trees of many columns take to grow.
const (
	maxSplits  = 128 // compared at a node
	maxColumns = 512 // looked at
	maxRounds  = 4   // in which none of the thresholds leaves enough rows
)

// Grow returns a forest of that many trees, each of which grows from all rows of s. It is a pure
// function of the sample and the seed. Rows without weight do not count.
//
// At a node it draws columns without replacement, and uniform thresholds in each, until ⌈Dim/2⌉
// columns, but at most maxSplits, have a threshold that leaves minLeafRows on both sides. With
// Gains, Splits columns suffice; with Varying, half of the columns that vary. Of these splits it
// takes the one that lowers the variance of the targets, or the Gini impurity of classes, the most.
func Grow(s Sample, trees int, seed uint64) *Forest {
	g := newGrowth(s)
	grown := make([][]node, trees)
	var wait sync.WaitGroup
	for _, part := range halves(trees) {
		wait.Go(func() {
			w := g.treeGrower()
			for t := part[0]; t < part[1]; t++ {
				grown[t] = w.tree(vec.Key("forest", seed, uint64(t)))
			}
		})
	}
	wait.Wait()
	return empty(s.Dim).with(grown)
}

// treeGrower grows trees, one after the other.
type treeGrower interface{ tree(key [32]byte) []node }

// treeGrower returns one for the sample.
func (g *growth) treeGrower() treeGrower {
	if g.packed != nil {
		return g.packed.worker(g)
	}
	return g.worker()
}

// Join returns the trees of a, and after them those of b. Both are for rows of the same length.
func Join(a, b *Forest) *Forest {
	trees := make([][]node, len(b.roots))
	for t, root := range b.roots {
		trees[t] = slices.Clone(b.nodesOf(t))
		for i := range trees[t] {
			trees[t][i].left -= root
			trees[t][i].leaf -= b.first[t]
		}
	}
	return a.with(trees)
}

// nodesOf returns the nodes of a tree.
func (f *Forest) nodesOf(tree int) []node {
	to := len(f.nodes)
	if tree+1 < len(f.roots) {
		to = int(f.roots[tree+1])
	}
	return f.nodes[f.roots[tree]:to]
}

// halves divides n trees between two goroutines.
func halves(n int) [2][2]int { return [2][2]int{{0, n / 2}, {n / 2, n}} }

// empty returns a forest without trees, for rows of dim values.
func empty(dim int) *Forest { return &Forest{dim: dim, first: []int32{0}} }

// with returns the trees of f, and after them trees whose nodes count from 0 each.
func (f *Forest) with(trees [][]node) *Forest {
	nodes := len(f.nodes)
	for _, tree := range trees {
		nodes += len(tree)
	}
	joined := &Forest{dim: f.dim, nodes: append(make([]node, 0, nodes), f.nodes...), roots: slices.Clone(f.roots), first: slices.Clone(f.first)}
	for _, tree := range trees {
		at, first := int32(len(joined.nodes)), joined.first[len(joined.first)-1]
		leaves := first
		for _, n := range tree {
			n.left += at
			if n.left == int32(len(joined.nodes)) {
				leaves++
			}
			n.leaf += first
			joined.nodes = append(joined.nodes, n)
		}
		joined.roots, joined.first = append(joined.roots, at), append(joined.first, leaves)
	}
	return joined
}

// growth is a sample, column by column, and what its trees share.
type growth struct {
	columns [][]key
	x       []key // the same, row by row
	dim     int
	rows    []int32 // that have a weight
	weights []float64
	targets []float64 // weighted, of numbers: rows × kinds
	classes []int32
	kinds   int // classes, or targets
	draws   int // thresholds in a column at a node
	prefer  *preferences

	low, high []key   // smallest and largest value of the rows in each column
	among     int     // columns of which half are compared at a node
	twoValued []bool  // columns without another value
	alike     bool    // the weight of each of the rows is 1
	packed    *packed // nil if the rows are not packed
}

func newGrowth(s Sample) *growth {
	g := &growth{weights: s.Weights, kinds: s.kinds(), draws: max(1, s.Thresholds), prefer: newPreferences(s.Gains, s.Splits), alike: true}
	for i, w := range s.Weights {
		if w > 0 {
			g.rows = append(g.rows, int32(i))
			g.alike = g.alike && w == 1
		}
	}
	if s.Classes > 0 {
		for _, y := range s.Targets {
			g.classes = append(g.classes, int32(y))
		}
	} else {
		g.targets = make([]float64, len(s.Weights)*g.kinds)
		for i, w := range s.Weights {
			for k := range g.kinds {
				g.targets[i*g.kinds+k] = w * s.Targets[i*g.kinds+k]
			}
		}
	}
	if g.packed = g.pack(&s); g.packed == nil {
		g.divide(&s)
	}
	g.among = s.Dim
	if s.Varying {
		g.among = g.varying()
	}
	return g
}

// varying returns the number of columns of which the rows have two values.
func (g *growth) varying() int {
	n := 0
	if g.packed != nil {
		for _, values := range g.packed.values {
			if len(values) > 1 {
				n++
			}
		}
		return n
	}
	for j, low := range g.low {
		if low < g.high[j] {
			n++
		}
	}
	return n
}

// divide divides the rows of s into columns, for trees that grow from values.
func (g *growth) divide(s *Sample) {
	g.x, g.dim = make([]key, len(s.X)), s.Dim
	for i, v := range s.X {
		g.x[i] = keyOf(v)
	}
	g.columns = make([][]key, s.Dim)
	g.low, g.high = make([]key, s.Dim), make([]key, s.Dim)
	values := make([]int32, len(g.rows))
	for j := range g.columns {
		column := make([]key, len(s.Weights))
		for i := range column {
			column[i] = g.x[i*s.Dim+j]
		}
		g.columns[j] = column
		if len(g.rows) > 0 {
			g.low[j], g.high[j] = gather(values, column, 1, g.rows)
		}
		g.twoValued = append(g.twoValued, !slices.ContainsFunc(g.rows, func(r int32) bool {
			return column[r] != g.low[j] && column[r] != g.high[j]
		}))
	}
}

// worker grows trees, one after the other.
type worker struct {
	*growth
	rng     rand.ChaCha8
	rows    []int32 // of the node's subtree, in place
	moved   []int32
	column  []int32 // values of the node's rows in a column, as keys; see read
	tally   tally
	drawer  drawer
	all     []float64
	left    []float64
	nodes   []node
	leaves  int32
	pending []open

	constant set   // columns of which the node's rows are known to have one value
	inherit  []set // of each pending node: those of its parent
}

// open is a node that is not decided yet, with its rows.
type open struct{ node, from, to int32 }

func (g *growth) worker() *worker {
	return &worker{
		growth: g, drawer: newDrawer(len(g.columns), g.among, g.prefer), all: make([]float64, g.kinds), left: make([]float64, g.kinds),
		moved: make([]int32, len(g.rows)), column: make([]int32, vec.Panels(len(g.rows), wordRows)*wordRows), tally: g.tally(), constant: make(set, len(g.columns)/64+1),
	}
}

// tree returns the nodes of one tree. It draws its random numbers node by node, in preorder.
func (w *worker) tree(key [32]byte) []node {
	w.rng.Seed(key)
	w.rows = append(w.rows[:0], w.growth.rows...)
	w.drawer.begin()
	w.nodes, w.leaves = make([]node, 1, len(w.rows)/2+1), 0
	clear(w.constant)
	w.pending = w.pending[:0]
	w.push(open{0, 0, int32(len(w.rows))})
	for len(w.pending) > 0 {
		at := len(w.pending) - 1
		o := w.pending[at]
		w.pending = w.pending[:at]
		copy(w.constant, w.inherit[at])
		c, ok := w.split(o)
		if !ok {
			w.nodes[o.node] = leafNode(o.node, w.leaves)
			w.leaves++
			continue
		}
		child := int32(len(w.nodes))
		w.nodes[o.node] = node{threshold: c.threshold, column: c.column, left: child}
		w.nodes = append(w.nodes, node{}, node{})
		middle := w.partition(o, c)
		w.push(open{child + 1, middle, o.to})
		w.push(open{child, o.from, middle})
	}
	return w.nodes
}

// push adds a pending node, whose parent is the one that was decided last.
func (w *worker) push(o open) {
	at := len(w.pending)
	w.pending = append(w.pending, o)
	if at == len(w.inherit) {
		w.inherit = append(w.inherit, make(set, len(w.constant)))
	}
	copy(w.inherit[at], w.constant)
}

// below returns a number from 0 to n-1. The numbers are not quite equally likely: the counts of
// 64-bit words that lead to two of them may differ by one.
func (w *worker) below(n int) int { return int(w.rng.Uint64() % uint64(n)) }

// uniform returns a number of [0, 1).
func (w *worker) uniform() float64 { return float64(w.rng.Uint64()>>11) * 0x1p-53 }
