package features

import (
	"slices"

	"github.com/accrete-ml/accrete/internal/vec"
)

// Bank is the frequencies of the first blocks of a Map, laid out for the
// machine's kernels.
//
// The features of frequency w at x are cos(w·x) and sin(w·x), of no particular
// norm: a model's coefficients absorb it. Feature 2j is the cosine and 2j+1 the
// sine of frequency j, counted over all blocks. Package internal/vec has their
// definition to the last bit; what is said there of x, that magnitudes above
// 2^50 are taken as 2^50 and below 2^-50 as 0, holds here.
//
// The methods may be called by many goroutines at once, except for Limit and
// Grow, which need the Bank to themselves. Large calls use several cores; the
// results do not depend on how many.
type Bank struct {
	m      Map
	blocks int
	limit  int       // bytes of w
	w      []float32 // packed; what fills the last panel up is zero
	signs  []uint32  // of SORF, instead of w: [transforms][3][transform]
	idle   chan *job // memory of calls that are over
}

// DefaultLimit is how many bytes of frequencies a Bank keeps.
const DefaultLimit = 1 << 30

// NewBank returns an empty Bank. It panics if m has no kernel or no dimension,
// or if its sampling is not for its kernel or kernels.
func NewBank(m Map) *Bank {
	m.check()
	m.Width = m.width()
	return &Bank{m: m, limit: DefaultLimit, idle: make(chan *job, 8)}
}

// Limit sets how many bytes of frequencies b keeps. Those beyond are made again
// in each call: the results are the same, and take longer, most of all for few
// rows. It panics if b has blocks already.
func (b *Bank) Limit(bytes int) {
	if b.blocks > 0 {
		panic("features: Limit after Grow")
	}
	b.limit = bytes
}

// Map is the Map whose blocks b has.
func (b *Bank) Map() Map { return b.m }

// Blocks is how many blocks b has.
func (b *Bank) Blocks() int { return b.blocks }

// Grow sees to it that b has at least this many blocks.
func (b *Bank) Grow(blocks int) {
	if blocks <= b.blocks {
		return
	}
	from := b.blocks
	b.blocks = blocks
	if b.structured() {
		n := b.m.transform()
		old, all := len(b.signs)/(3*n), vec.Panels(vec.Panels(blocks*b.m.Width, vec.Panel)*vec.Panel, n)
		b.signs = slices.Grow(b.signs, (all-old)*3*n)[:all*3*n]
		for i := old; i < all; i++ {
			b.m.signs(b.signs[3*n*i:3*n*(i+1)], i)
		}
		return
	}
	old, panel := len(b.w), vec.Panel*b.m.Dim
	kept := vec.Panels(blocks*b.m.Width, vec.Panel)
	if most := b.limit / (4 * panel); kept > most {
		kept = most / perGroup * perGroup
	}
	b.w = slices.Grow(b.w, max(0, kept*panel-old))[:kept*panel]
	clear(b.w[min(old, len(b.w)):])
	j := b.job()
	defer j.done()
	j.pack(b.w, 0, from)
}

// perGroup is how many panels a group has. Sum takes panels group by group.
const perGroup = vec.Group / vec.Panel

// pack packs the frequencies of the blocks from, from+1, ... into w, panels from
// panel p on, as many as have a place there.
func (j *job) pack(w []float32, p, from int) {
	b := j.bank
	j.packed, j.packedFrom, j.block = w, p*vec.Panel, from
	to := min(b.blocks, vec.Panels(j.packedFrom+len(w)/b.m.Dim, b.m.Width))
	const costOfNormal = 20
	j.run((*job).packBlock, max(0, to-from), max(0, to-from)*b.m.Width*b.m.Dim*costOfNormal)
}

func (j *job) packBlock(w *worker, i int) {
	m, block := j.bank.m, j.block+i
	all := sized(&w.w, m.Width*m.Dim)
	m.frequencies(all, block, &w.source)
	first := block * m.Width
	from, to := max(first, j.packedFrom), min(first+m.Width, j.packedFrom+len(j.packed)/m.Dim)
	vec.PackFrequencies(j.packed, all[(from-first)*m.Dim:(to-first)*m.Dim], from-j.packedFrom, m.Dim)
}

// ready puts panels from p on into j.w, and returns the panel after the last of
// them, at most to. All of those that the bank keeps come at once, and those
// that it does not keep in a few megabytes at a time.
func (j *job) ready(p, to int) int {
	b := j.bank
	size := vec.Panel * b.m.Dim
	j.first = p
	if b.structured() {
		return to
	}
	kept := len(b.w) / size
	if kept < to { // groups are counted from p
		kept = p + max(0, kept-p)/perGroup*perGroup
	}
	if p < kept {
		to = min(to, kept)
		j.w = b.w[p*size : to*size]
		return to
	}
	const most = 4 << 20 / 4
	to = min(to, p+max(1, most/(size*perGroup))*perGroup)
	j.w = sized(&j.pw, (to-p)*size)
	clear(j.w[max(0, len(j.w)-size):])
	j.pack(j.w, p, p*vec.Panel/b.m.Width)
	return to
}

// panels is the packed frequencies of panels p to q, which are ready.
func (j *job) panels(p, q int) []float32 {
	size := vec.Panel * j.bank.m.Dim
	return j.w[(p-j.first)*size : (q-j.first)*size]
}

// prepare returns a job on the rows of x.
func (b *Bank) prepare(x []float32, outputs int) *job {
	if outputs < 1 || len(x)%b.m.Dim != 0 {
		panic("features: rows that are not of the bank's dimension, or no outputs")
	}
	j := b.job()
	j.x, j.rows, j.outputs = x, len(x)/b.m.Dim, outputs
	return j
}

// chunk is how many panels are worked on together, whole groups: about as many
// as fit into a cache, and of SORF three transforms.
func (b *Bank) chunk() int {
	if b.structured() {
		return max(perGroup, 3*b.m.transform()/vec.Panel)
	}
	return max(1, cache/(vec.Group*b.m.Dim)) * perGroup
}

// phases is the products of SORF's matrices, of panels p to q, with a panel of
// rows.
func (w *worker) phases(b *Bank, x []float32, p, q int) []float32 {
	n := b.m.transform()
	from, to := p*vec.Panel/n, vec.Panels(q*vec.Panel, n)
	t := sized(&w.t, (to-from)*n*vec.Lanes)
	for i := from; i < to; i++ {
		vec.Orthogonal(t[(i-from)*n*vec.Lanes:(i-from+1)*n*vec.Lanes], x, b.signs[3*n*i:3*n*(i+1)], n, b.m.Dim)
	}
	return t[(p*vec.Panel-from*n)*vec.Lanes : (q*vec.Panel-from*n)*vec.Lanes]
}

// cache is how many float32 are sure to stay in a core's own cache.
const cache = 192 << 10 / 4

// structured reports whether phases come from transforms, and not from stored
// frequencies.
func (b *Bank) structured() bool { return samplings[b.m.Sampling].structured }
